/* tree.c - opens, replaces, removes and lists files below the root, on kernel threads that
 * may block. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "common/beneath.h"

/* While the tree is looked through, at the start. */
enum { DIRECTORIES_OPEN = 16 };

static int root = -1;

static bool is_draft(const char *name)
{
	const char *number = name + strlen(MESSAGE_HIDDEN);

	return strncmp(name, MESSAGE_HIDDEN, strlen(MESSAGE_HIDDEN)) == 0 && number[0] != '\0' &&
	       number[strspn(number, "0123456789abcdef")] == '\0';
}

/* Removes a draft whose server was killed: a server that lives has it locked. */
static int remove_left(const char *path, const struct stat *st, int type, struct FTW *at)
{
	int fd;

	if (type != FTW_F || !S_ISREG(st->st_mode) || !is_draft(path + at->base))
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlink(path);
	close(fd);
	return 0;
}

int tree_open_root(const char *path)
{
	char inside[PATH_MAX]; /* it may be a link itself */

	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	if (snprintf(inside, sizeof inside, "%s/.", path) < (int)sizeof inside)
		nftw(inside, remove_left, DIRECTORIES_OPEN, FTW_PHYS | FTW_MOUNT);
	return 0;
}

void tree_close_root(void)
{
	if (root >= 0)
		close(root);
}

/* One call, on its way to a thread that may block. */
struct job {
	const char *path;
	struct facts *facts;
	struct draft *draft;
	uint64_t from, *next;
	uint8_t *out;
	size_t size;
};

static void tell(const struct stat *st, struct facts *facts)
{
	facts->size = (uint64_t)st->st_size;
	facts->time = (uint64_t)st->st_mtim.tv_sec * WEFT_SEC + (uint64_t)st->st_mtim.tv_nsec;
}

static int look_at(int fd, struct facts *facts)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	tell(&st, facts);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/* Reading */

static int open_file(void *arg)
{
	struct job *job = arg;
	int fd =
		beneath_open(root, job->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, false);
	int rc = fd < 0 ? fd : look_at(fd, job->facts);

	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

int tree_open(const char *path, struct facts *facts)
{
	return weft_offload(open_file, &(struct job){ .path = path, .facts = facts });
}

static int stat_file(void *arg)
{
	struct job *job = arg;
	int fd = beneath_open(root, job->path, O_PATH | O_NOFOLLOW, false);
	int rc = fd < 0 ? fd : look_at(fd, job->facts);

	if (fd >= 0)
		close(fd);
	return rc;
}

int tree_stat(const char *path, struct facts *facts)
{
	return weft_offload(stat_file, &(struct job){ .path = path, .facts = facts });
}

/* Writing */

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Opens the directory that a name is in. */
static int open_parent(const char *path)
{
	char parent[MESSAGE_PATH];

	snprintf(parent, sizeof parent, "%.*s", (int)(last_name(path) - path), path);
	return beneath_open(root, parent, O_RDONLY | O_DIRECTORY, false);
}

/* A draft is locked as long as its server lives. -EEXIST: another took it for left behind, or
 * there is such a name, of another server. */
static int open_draft(struct draft *d)
{
	static _Atomic uint64_t number;
	struct stat st;

	snprintf(d->temporary, sizeof d->temporary, MESSAGE_HIDDEN "%" PRIx64,
		 atomic_fetch_add(&number, 1));
	d->fd = openat(d->directory, d->temporary,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (d->fd < 0)
		return -errno;
	if (flock(d->fd, LOCK_EX | LOCK_NB) == 0 && fstat(d->fd, &st) == 0 && st.st_nlink > 0)
		return 0;
	close(d->fd);
	return -EEXIST;
}

static int make_draft(void *arg)
{
	const struct job *job = arg;
	struct draft *d = job->draft;
	int rc;

	d->directory = open_parent(job->path);
	if (d->directory < 0)
		return d->directory;
	do
		rc = open_draft(d);
	while (rc == -EEXIST);
	if (rc < 0)
		close(d->directory);
	return rc;
}

int tree_draft(const char *path, struct draft *draft)
{
	return weft_offload(make_draft, &(struct job){ .path = path, .draft = draft });
}

static void close_draft(const struct draft *d)
{
	weft_fd_close(d->fd);
	close(d->directory);
}

/* The kernel's own times are too coarse to tell two versions apart. */
static int set_time(int fd)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };

	clock_gettime(CLOCK_REALTIME, &times[1]);
	return futimens(fd, times);
}

static int publish(void *arg)
{
	const struct job *job = arg;
	const struct draft *d = job->draft;
	int rc;

	if (set_time(d->fd) < 0 || fsync(d->fd) < 0)
		return -errno;
	rc = look_at(d->fd, job->facts);
	if (rc < 0)
		return rc;
	if (renameat(d->directory, d->temporary, d->directory, last_name(job->path)) < 0)
		return -errno;
	return fsync(d->directory) < 0 ? -errno : 0;
}

static int unlink_draft(void *arg)
{
	const struct draft *d = ((struct job *)arg)->draft;

	return unlinkat(d->directory, d->temporary, 0);
}

void tree_abandon(struct draft *draft)
{
	weft_offload(unlink_draft, &(struct job){ .draft = draft });
	close_draft(draft);
}

int tree_publish(struct draft *draft, const char *path, struct facts *facts)
{
	int rc = weft_offload(publish,
			      &(struct job){ .path = path, .facts = facts, .draft = draft });

	if (rc < 0)
		tree_abandon(draft);
	else
		close_draft(draft);
	return rc;
}

static int remove_file(void *arg)
{
	const struct job *job = arg;
	int parent = open_parent(job->path), rc = 0;

	if (parent < 0)
		return parent;
	if (unlinkat(parent, last_name(job->path), 0) < 0 || fsync(parent) < 0)
		rc = -errno;
	close(parent);
	return rc;
}

int tree_remove(const char *path)
{
	return weft_offload(remove_file, &(struct job){ .path = path });
}

/* Listing */

static bool is_shown(const struct dirent *entry)
{
	return message_path_is_good(entry->d_name, strlen(entry->d_name));
}

/* Adds a name; false: it does not fit. */
static bool add_name(struct job *job, size_t *used, const struct dirent *entry)
{
	bool directory = entry->d_type == DT_DIR;
	size_t size = strlen(entry->d_name);

	if (*used + size + 2 > job->size)
		return false;
	memcpy(job->out + *used, entry->d_name, size);
	*used += size;
	if (directory)
		job->out[(*used)++] = '/';
	job->out[(*used)++] = '\n';
	return true;
}

static int list_names(struct job *job, DIR *dir)
{
	const struct dirent *entry;
	uint64_t number = 0;
	size_t used = 0;

	*job->next = 0;
	while ((entry = readdir(dir)) != NULL) {
		if (!is_shown(entry) || number++ < job->from)
			continue;
		if (!add_name(job, &used, entry)) {
			*job->next = number - 1;
			break;
		}
	}
	return (int)used;
}

static int list(void *arg)
{
	struct job *job = arg;
	int fd = beneath_open(root, job->path, O_RDONLY | O_DIRECTORY, false), rc;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (dir == NULL) {
		close(fd);
		return -ENOMEM;
	}
	rc = list_names(job, dir);
	closedir(dir);
	return rc;
}

ssize_t tree_list(const char *path, uint64_t from, uint8_t *out, size_t size, uint64_t *next)
{
	return weft_offload(
		list, &(struct job){
			      .path = path, .from = from, .next = next, .out = out, .size = size });
}
