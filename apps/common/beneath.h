/* beneath.h - opens files below a directory, and never one outside of it. */
#ifndef COMMON_BENEATH_H
#define COMMON_BENEATH_H

#include <stdbool.h>

/* As openat(2) for reading, with `flags` besides; -Exxx if it fails. No "..", symbolic link
 * or magic link leads out of the directory: links that would give -EXDEV or -ELOOP.
 * With `cached` it gives -EAGAIN rather than wait for a disk; else it may block. */
int beneath_open(int directory, const char *path, int flags, bool cached);

#endif
