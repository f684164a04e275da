/* file.c - opens, reads and compares files below the root. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/weft.h>

#include "common/beneath.h"
#include "date.h"
#include "settings.h"
#include "types.h"

static int root = -1;

int root_open(const char *directory)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (root < 0) {
		root = fd;
		return 0;
	}
	/* Others may be opening files by it: the number stays, what it means changes. */
	if (dup3(fd, root, O_CLOEXEC) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* Opening */

struct opening {
	const char *path;
	int flags;
};

static int open_blocking(void *arg)
{
	const struct opening *o = arg;

	return beneath_open(root, o->path, o->flags, false);
}

/* Mostly the names are in the kernel's cache, and there is nothing to wait for. */
static int open_below_root(const char *path, int flags)
{
	struct opening o = { path, flags };
	int fd = beneath_open(root, path, flags, true);

	return fd == -EAGAIN ? weft_offload(open_blocking, &o) : fd;
}

static int read_body(struct file *f, int fd)
{
	size_t have = 0;

	f->body = malloc(f->size > 0 ? f->size : 1);
	if (f->body == NULL)
		return -ENOMEM;
	while (have < f->size) {
		ssize_t n = weft_pread(fd, f->body + have, f->size - have, (int64_t)have);

		if (n < 0)
			return (int)n;
		if (n == 0)
			return -ESTALE; /* somebody is just making it shorter */
		have += (size_t)n;
	}
	return 0;
}

static void describe(struct file *f)
{
	char date[DATE_SIZE];
	int n;

	f->size = (uint64_t)f->stat.st_size;
	f->modified = f->stat.st_mtim.tv_sec;
	f->type = type_of(f->path);
	n = snprintf(f->etag_text, sizeof f->etag_text, "\"%" PRIx64 "-%" PRIx64 "\"",
		     (uint64_t)f->stat.st_mtim.tv_sec * WEFT_SEC +
			     (uint64_t)f->stat.st_mtim.tv_nsec,
		     f->size);
	f->etag = (struct text){ f->etag_text, (size_t)n };
	date_write(f->modified, date);
	n = snprintf(f->head_text, sizeof f->head_text,
		     "ETag: %s\r\nLast-Modified: %s\r\nAccept-Ranges: bytes\r\n", f->etag_text,
		     date);
	f->head = (struct text){ f->head_text, (size_t)n };
}

static struct file *file_new(const char *path)
{
	size_t size = strlen(path);
	struct file *f = calloc(1, sizeof *f + size + 1);

	if (f == NULL)
		return NULL;
	atomic_init(&f->holders, 1);
	f->fd = -1;
	f->path_size = size;
	memcpy(f->path, path, size + 1);
	return f;
}

static int look_at(int fd, struct stat *st)
{
	if (fstat(fd, st) < 0)
		return -errno;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -EACCES;
}

int file_open(const char *path, struct file **file)
{
	int rc, fd = open_below_root(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct file *f;

	if (fd < 0)
		return fd;
	f = file_new(path);
	rc = f != NULL ? look_at(fd, &f->stat) : -ENOMEM;
	if (rc == 0) {
		describe(f);
		atomic_init(&f->checked, weft_now());
		if (f->size > settings.cache_file) {
			f->fd = fd;
			*file = f;
			return 0;
		}
		rc = read_body(f, fd);
	}
	weft_fd_close(fd);
	if (rc == 0)
		*file = f;
	else if (f != NULL)
		file_drop(f);
	return rc;
}

bool file_is_fresh(const struct file *f)
{
	int fd = open_below_root(f->path, O_PATH);
	struct stat now;
	bool same;

	if (fd < 0)
		return false;
	same = fstat(fd, &now) == 0 && now.st_ino == f->stat.st_ino &&
	       now.st_dev == f->stat.st_dev && now.st_size == f->stat.st_size &&
	       now.st_mtim.tv_sec == f->stat.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == f->stat.st_mtim.tv_nsec &&
	       now.st_ctim.tv_sec == f->stat.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == f->stat.st_ctim.tv_nsec;
	close(fd);
	return same;
}

void file_drop(struct file *f)
{
	if (atomic_fetch_sub_explicit(&f->holders, 1, memory_order_acq_rel) != 1)
		return;
	if (f->fd >= 0)
		weft_fd_close(f->fd);
	free(f->body);
	free(f);
}
