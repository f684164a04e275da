/* beneath.c - openat2(2), where there is one; else one step at a time, and no links. */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

enum { TRIES = 4 }; /* if others rename directories meanwhile */

static _Atomic bool no_openat2;

static int open_at(int directory, const char *path, int flags)
{
	int fd = openat(directory, path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Opens the directory that a path begins with, without following a link. */
static int step(int at, const char *path, size_t size)
{
	char name[256];

	if (size >= sizeof name)
		return -ENAMETOOLONG;
	memcpy(name, path, size);
	name[size] = '\0';
	return strcmp(name, "..") == 0 ? -EXDEV
				       : open_at(at, name, O_PATH | O_NOFOLLOW | O_DIRECTORY);
}

/* The old way: one directory after the other. A slash at the end is none of the kernel's
 * business, which would follow a link there. */
static int walk(int directory, const char *path, int flags)
{
	int at = directory, next;
	const char *slash;

	while ((slash = strchr(path, '/')) != NULL) {
		next = step(at, path, (size_t)(slash - path));
		if (at != directory)
			close(at);
		if (next < 0)
			return next;
		at = next;
		path = slash + 1;
	}
	if (path[0] == '\0')
		path = ".";
	next = strcmp(path, "..") == 0 ? -EXDEV : open_at(at, path, flags | O_NOFOLLOW);
	if (at != directory)
		close(at);
	return next;
}

static int open_beneath(int directory, const char *path, int flags, bool cached)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (cached)
		how.resolve |= RESOLVE_CACHED;
	fd = syscall(SYS_openat2, directory, path, &how, sizeof how);
	return fd < 0 ? -errno : (int)fd;
}

int beneath_open(int directory, const char *path, int flags, bool cached)
{
	int rc = -EAGAIN;

	if (path[0] == '/')
		return -EXDEV;
	if (path[0] == '\0')
		path = ".";
	for (int i = 0; i < TRIES && rc == -EAGAIN && !atomic_load(&no_openat2); i++) {
		rc = open_beneath(directory, path, flags, cached);
		if (cached)
			return rc == -EINVAL || rc == -ENOSYS || rc == -EPERM ? -EAGAIN : rc;
		if (rc == -ENOSYS || rc == -EPERM)
			atomic_store(&no_openat2, true);
	}
	if (atomic_load(&no_openat2))
		return cached ? -EAGAIN : walk(directory, path, flags);
	return rc;
}
