/* cache.h - the files that were asked for lately. */
#ifndef HTTPD_CACHE_H
#define HTTPD_CACHE_H

#include "file.h"

/* Gives the file at a path that path_clean made, to be dropped by file_drop; as file_open.
 * Waits, but not if it is there. */
int cache_get(const char *path, struct file **file);

/* Forgets all. */
void cache_clear(void);

#endif
