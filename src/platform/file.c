/* file.c - reads small files whole. */
#include "platform/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"

static ssize_t read_all(int fd, char *buf)
{
	size_t used = 0;

	while (used < WF_FILE_SIZE) {
		ssize_t n;

		if (WF_FAULT(EIO))
			return -EIO;
		n = read(fd, buf + used, WF_FILE_SIZE - used);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0) {
			buf[used] = '\0';
			return (ssize_t)used;
		}
		if (n > 0)
			used += (size_t)n;
	}
	return -EFBIG;
}

static ssize_t read_path(char *buf, const char *format, va_list args)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	n = vsnprintf(path, sizeof path, format, args);
	if (n < 0 || (size_t)n >= sizeof path)
		return -ENAMETOOLONG;
	if (WF_FAULT(EMFILE))
		return -EMFILE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read_all(fd, buf);
	close(fd);
	return n;
}

ssize_t wf_file_read(char buf[WF_FILE_SIZE], const char *path, ...)
{
	va_list args;
	ssize_t n;

	va_start(args, path);
	n = read_path(buf, path, args);
	va_end(args);
	return n;
}

int wf_file_number(long long *value, const char *path, ...)
{
	char buf[WF_FILE_SIZE], *end;
	va_list args;
	ssize_t n;

	va_start(args, path);
	n = read_path(buf, path, args);
	va_end(args);
	if (n < 0)
		return (int)n;
	errno = 0;
	*value = strtoll(buf, &end, 10);
	if (end == buf || errno != 0 || !(*end == '\0' || (end[0] == '\n' && end[1] == '\0')))
		return -EINVAL;
	return 0;
}
