/* sanitizer.h - whether this library and the program around it have the same sanitizer. */
#ifndef WF_SANITIZER_H
#define WF_SANITIZER_H

/* The short name of a sanitizer that the program has and this library was not compiled with,
 * "asan" or "tsan"; NULL if there is none. */
const char *wf_sanitizer_missing(void);

#endif
