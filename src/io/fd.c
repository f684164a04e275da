/* fd.c - the table of descriptor records.
 *
 * Two levels, both lock-free to read: an array of chunks indexed by the number.
 * Rejected: a hash table, which would need a lock or reclamation; descriptor
 * numbers are small and dense, the kernel gives the lowest free one.
 */
#include "io/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/backend.h"
#include "scheduler/scheduler.h"

enum { CHUNK = WF_FD_CHUNK, CHUNKS = WF_FD_CHUNKS, NONES = 16 };

struct wf_fd *_Atomic wf_fd_table[WF_FD_CHUNKS];
static _Atomic int chunks_used; /* wf_fd_table[chunks_used ..] is empty */
static struct wf_fd *nones;

static struct wf_fd *new_records(int first, int count, int step)
{
	struct wf_fd *chunk = wf_new_aligned((size_t)count * sizeof *chunk);

	for (int i = 0; chunk != NULL && i < count; i++) {
		wf_lock_init(&chunk[i].lock, WF_RANK_FD);
		chunk[i].fd = first + i * step;
	}
	return chunk;
}

int wf_fds_start(void)
{
	nones = new_records(-1, NONES, 0);
	return nones != NULL ? 0 : -ENOMEM;
}

void wf_fds_stop(void)
{
	int n = atomic_exchange(&chunks_used, 0);

	for (int i = 0; i < n; i++)
		free(atomic_exchange(&wf_fd_table[i], NULL));
	free(nones);
	nones = NULL;
}

static void raise_used(int to)
{
	int was = atomic_load(&chunks_used);

	while (was < to && !atomic_compare_exchange_weak(&chunks_used, &was, to))
		;
}

static WF_COLD struct wf_fd *add_chunk(int at)
{
	struct wf_fd *chunk = new_records(at * CHUNK, CHUNK, 1);
	struct wf_fd *there = NULL;

	if (chunk == NULL)
		return NULL;
	if (!atomic_compare_exchange_strong(&wf_fd_table[at], &there, chunk)) {
		free(chunk);
		return there;
	}
	raise_used(at + 1);
	return chunk;
}

struct wf_fd *wf_fd_get(int fd, int *err)
{
	struct wf_fd *f = wf_fd_peek(fd);
	struct wf_fd *chunk;

	if (WF_LIKELY(f != NULL))
		return f;
	if ((unsigned)fd >= CHUNK * CHUNKS) {
		*err = -EBADF;
		return NULL;
	}
	chunk = add_chunk(fd / CHUNK);
	*err = -ENOMEM;
	return chunk != NULL ? &chunk[fd % CHUNK] : NULL;
}

struct wf_fd *wf_fd_none(void)
{
	struct wf_worker *w = wf_worker_self();

	return &nones[w != NULL ? wf_worker_id(w) % NONES : 0];
}

void wf_fd_each(void (*fn)(struct wf_fd *f, void *arg), void *arg)
{
	int n = atomic_load(&chunks_used);

	for (int i = 0; nones != NULL && i < NONES; i++)
		fn(&nones[i], arg);
	for (int i = 0; i < n; i++) {
		struct wf_fd *chunk = atomic_load(&wf_fd_table[i]);

		for (int j = 0; chunk != NULL && j < CHUNK; j++)
			fn(&chunk[j], arg);
	}
}

/* AF_UNIX is not TCP: it ends a read where somebody sent descriptors. */
static enum wf_kind socket_kind(int fd)
{
	int protocol = 0;
	socklen_t len = sizeof protocol;

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
	    protocol == IPPROTO_TCP)
		return WF_KIND_TCP;
	return WF_KIND_SOCKET;
}

/* Not for anonymous inodes, which all have one number. */
static uint64_t identity(const struct stat *st)
{
	return (st->st_mode & S_IFMT) == 0 ? 0 : st->st_ino ^ st->st_dev << 40;
}

bool wf_fd_changed(const struct wf_fd *f)
{
	struct stat st;

	return f->identity != 0 && (fstat(f->fd, &st) < 0 || identity(&st) != f->identity);
}

/* O_DIRECT: of a file, past the page cache; of a pipe, in packets. It is looked at
 * when the descriptor is first used, and believed to stay. */
static bool has_direct(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_DIRECT;
}

static void learn_file(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	wf_fd_set_kind(f, WF_KIND_FILE);
	__atomic_store_n(&f->direct, has_direct(f->fd), __ATOMIC_RELAXED);
	__atomic_store_n(&f->cached, f->direct ? WF_CACHED_NOT : WF_CACHED, __ATOMIC_RELAXED);
}

/* pipe(2) mostly gives two numbers in a row, first the one to read from. That they are
 * a pair is only a hint, so the other's lock is not needed. */
static void pair(struct wf_fd *f, int with) WF_REQUIRES(f->lock)
{
	struct wf_fd *other = wf_fd_peek(with);

	if (other == NULL || f->identity == 0 ||
	    __atomic_load_n(&other->identity, __ATOMIC_RELAXED) != f->identity)
		return;
	wf_fd_set_pipe(f, WF_PIPE_PAIR);
	wf_fd_set_pipe(other, WF_PIPE_PAIR);
}

int wf_fd_learn(struct wf_fd *f)
{
	struct stat st;
	int err = WF_FAULT(EBADF);

	if (err == 0 && fstat(f->fd, &st) < 0)
		err = -errno;
	if (err < 0)
		return err;
	if (S_ISSOCK(st.st_mode))
		wf_fd_set_kind(f, socket_kind(f->fd));
	else if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
		learn_file(f);
	else
		wf_fd_set_kind(f, WF_KIND_OTHER);
	wf_fd_set_pipe(f, S_ISFIFO(st.st_mode) && !has_direct(f->fd) ? WF_PIPE : WF_PIPE_NOT);
	__atomic_store_n(&f->identity, identity(&st), __ATOMIC_RELAXED);
	if (wf_fd_pipe(f) != WF_PIPE_NOT) {
		pair(f, f->fd - 1);
		pair(f, f->fd + 1);
	}
	return 0;
}

void wf_fd_set_kind(struct wf_fd *f, enum wf_kind kind)
{
	__atomic_store_n(&f->kind, (uint8_t)kind, __ATOMIC_RELAXED);
	f->home = (uint16_t)wf_next_home();
	wf_fd_set_ready(f, WF_IN, true);
	wf_fd_set_ready(f, WF_OUT, true);
	f->others = f->loose.head != NULL || f->watches != NULL;
}

void wf_fd_last_out(struct wf_fd *f)
{
	struct wf_after after = { 0 };

	wf_lock_take(&f->lock);
	wf_op_close_if_quiet(f, &after);
	wf_lock_give(&f->lock);
	wf_after(&after);
}

uint16_t wf_fd_hold_again(struct wf_fd *f, uint16_t mark)
{
	wf_fd_drop(f); /* takes the lock if the descriptor is being closed */
	return mark != 0 || wf_fd_closing(f) ? 0 : wf_fd_hold(f, 0);
}

uint16_t wf_fd_mark_settled(struct wf_fd *f)
{
	uint16_t mark;

	wf_lock_take(&f->lock);
	mark = wf_fd_mark(f);
	wf_lock_give(&f->lock);
	return mark;
}

int wf_fd_close(struct wf_fd *f)
{
	int rc;

	wf_io->forget(f); /* while the number is still ours */
	rc = close(f->fd) < 0 ? -errno : 0;
	wf_fd_forget(f);
	return rc;
}

void wf_fd_forget(struct wf_fd *f)
{
	wf_io->forget(f);
	f->life++;
	__atomic_store_n(&f->kind, WF_KIND_UNKNOWN, __ATOMIC_RELAXED);
	f->registered = f->sure = f->doubtful = f->level = false;
	__atomic_store_n(&f->direct, 0, __ATOMIC_RELAXED);
	wf_fd_set_pipe(f, WF_PIPE_NOT);
	__atomic_store_n(&f->nowait, 0, __ATOMIC_RELAXED);
	f->fickle = f->misses = 0;
	__atomic_store_n(&f->cached, WF_CACHED_UNKNOWN, __ATOMIC_RELAXED);
	f->away = 0;
	__atomic_store_n(&f->identity, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&f->warm, 0, __ATOMIC_RELAXED);
	if (WF_UNLIKELY(wf_fd_closing(f)))
		__atomic_fetch_add(&f->use, WF_FD_CLOSE_ONE - WF_FD_CLOSING, __ATOMIC_ACQ_REL);
}
