/* path.h - makes the name of a file of the path of a request. */
#ifndef HTTPD_PATH_H
#define HTTPD_PATH_H

#include "text.h"

/* PATH_ROOM: with the name of an index behind it. */
enum { PATH_SIZE = 1024, PATH_ROOM = PATH_SIZE + 16 };

/* Takes the %xx out, and then what means nothing: "//", "/./" and "/x/..". The result is
 * relative to the root, has none of these, and ends with '/' if the path did; the root
 * is "". Files that begin with a dot are not to be seen, but for .well-known.
 *
 * Gives 0, or the status of the error reply: 400 (no path, or one that leaves the root),
 * 404 (a hidden file) or 414. */
int path_clean(struct text path, char out[PATH_SIZE]);

#endif
