/* file.h - a file below the root, as replies need it: small ones with their bytes, large
 * ones with a descriptor. */
#ifndef HTTPD_FILE_H
#define HTTPD_FILE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "text.h"

enum { FILE_HEAD_SIZE = 256, FILE_ETAG_SIZE = 48 };

/* All but the first and last few fields never change, so any number may read it. */
struct file {
	_Atomic unsigned holders;
	_Atomic uint64_t checked; /* when it was last compared with the disk, weft_now's time */
	_Atomic bool used;        /* since the cache last looked for what to forget */
	char *body;               /* all of it, or NULL: */
	int fd;                   /* then this is where it is */
	uint64_t size;
	time_t modified;
	struct stat stat;
	struct text etag, type;
	struct text head; /* headers that every reply with it has */
	char etag_text[FILE_ETAG_SIZE], head_text[FILE_HEAD_SIZE];

	/* The cache's own, under its lock. */
	uint64_t hash;
	struct file *next;          /* of its bucket */
	struct file *older, *newer; /* of its shard */
	bool cached;
	size_t path_size;
	char path[];
};

/* Opens the directory that no path leaves; again: the one that has its name now. 0 or
 * -Exxx. */
int root_open(const char *directory);

/* Opens `path`, which path_clean made. Gives a file with one holder.
 * 0, or -ENOENT, -EISDIR, -EACCES, or another error. Waits. */
int file_open(const char *path, struct file **file);

/* Is the file on disk still this one? Waits. */
bool file_is_fresh(const struct file *file);

void file_drop(struct file *file);

#endif
