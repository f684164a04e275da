/* file.h - small files in which the kernel tells about the machine. */
#ifndef WF_FILE_H
#define WF_FILE_H

#include <sys/types.h>

#include "base/compiler.h"

/* A page: no file of sysfs is longer. */
#define WF_FILE_SIZE 4096

/* Reads all of the file whose path the format gives, and puts a NUL behind it.
 *
 * Returns:  its length
 *           -EFBIG      it does not fit
 *           -ENAMETOOLONG, and what open and read say
 */
ssize_t wf_file_read(char buf[WF_FILE_SIZE], const char *path, ...) WF_PRINTF(2, 3);

/* The decimal number that a file holds, followed by nothing but a newline: 0
 * and *value, or -EINVAL, or what wf_file_read says. */
int wf_file_number(long long *value, const char *path, ...) WF_PRINTF(2, 3);

#endif
