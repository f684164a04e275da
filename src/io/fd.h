/* fd.h - what Weft knows about each descriptor.
 *
 * Terms. A direction is reading or writing. Operations of one direction wait in
 * a queue, first started first; the head may be busy: with the kernel, on the
 * offload pool, or being tried by some thread. Loose operations stand in no
 * direction: they name an offset, or no order is promised for them. Records are
 * made at first use and kept until the runtime stops, so a pointer to one stays
 * good however often the descriptor is closed and its number comes back.
 */
#ifndef WF_FD_H
#define WF_FD_H

#include <weft/io.h>

#include "base/capacity.h"
#include "base/lock.h"

struct wf_watch;
struct wf_job;

enum { WF_IN, WF_OUT, WF_DIRS };

/* Tries in a row that found nothing to read are counted as one less than a power of 2. */
enum { WF_FD_MISSES_MAX = 31 };

enum wf_kind {
	WF_KIND_UNKNOWN, /* ask the kernel at the next use */
	WF_KIND_TCP,     /* a short read means that nothing is left */
	WF_KIND_SOCKET,  /* any other socket */
	WF_KIND_FILE,    /* always ready, and may block: files, directories, disks */
	WF_KIND_OTHER,   /* pipes, terminals, eventfds ... */
};

enum wf_pipe {
	WF_PIPE_NOT,
	WF_PIPE,      /* a short read leaves nothing, as of TCP */
	WF_PIPE_PAIR, /* and its other end is the descriptor beside it */
};

/* Whether a cache of the kernel may answer reads. */
enum wf_cached { WF_CACHED_UNKNOWN, WF_CACHED, WF_CACHED_NOT };

/* The word `use` of a record. A *try* is a system call that names the number while no busy
 * operation covers it: made by a thread that has not started an operation (now.c). Tries are
 * counted in the low bits, so that close(2) waits for them; WF_FD_CLOSING is set while a close
 * waits, and until close(2) has returned; the high bits count how often Weft has closed the number. One atomic addition thus
 * begins a try, and tells whether the number still means what the caller knew. */
#define WF_FD_TRIES 0x7fffu
#define WF_FD_CLOSING 0x8000u
#define WF_FD_CLOSE_ONE 0x20000u

/* `head` is also read without the lock: wf_dir_head. */
struct wf_dir {
	weft_op *head, *tail;
};

/* The first line of the cache has all that usual reads and writes look at: where there are
 * many descriptors, each line of each record is a miss. */
struct __attribute__((aligned(64))) wf_fd {
	struct wf_lock lock;
	int fd;
	struct wf_dir dir[WF_DIRS];
	uint32_t life; /* changes when the number means another descriptor */
	uint32_t busy; /* busy operations of this life */
	uint16_t home; /* the worker that this descriptor belongs to */
	/* Worth a try. Without it the head waits for the kernel to say so. Also read
	 * without the lock: wf_fd_ready. */
	uint8_t ready[WF_DIRS];
	uint8_t kind; /* enum wf_kind; also read without the lock */
	/* epoll. registered: in the instance of worker `home`; level: level-triggered; doubtful: a
	 * short read does not prove that nothing is left (end of stream, urgent data). */
	bool registered : 1, level : 1, doubtful : 1;
	bool sure : 1;  /* only Weft closes this descriptor: it was made by Weft, or adopted */
	uint8_t nowait; /* has O_NONBLOCK for good, as the user promised; read without the lock */
	uint8_t pipe;   /* enum wf_pipe; also read without the lock */
	uint32_t use;   /* tries, closing, closes: see WF_FD_CLOSING; changed without the lock */
	uint8_t misses; /* useless tries to read; also how many hints to leave out */
	uint8_t away;   /* epoll: starts in a row from workers that are not home */
	bool others;    /* there are, or were, watches or loose operations */
	uint8_t hints;  /* now.c: how many hints were left out */
	uint8_t fickle; /* epoll: how often level triggering was given up */
	uint8_t direct; /* a file that no cache answers for: every read takes its time; as `kind` */
	uint8_t cached; /* enum wf_cached; also read without the lock */
	struct wf_dir loose;
	/* uring: the first of the loose that is not to begin yet, nor are those behind it; how many
	 * of a file's reads and writes have begun. */
	weft_op *waiting;
	uint32_t paced;
	struct wf_watch *watch[WF_DIRS]; /* in force */
	struct wf_watch *watches;        /* all that are not freed yet */
	weft_op *closer;                 /* the close operation that waits */
	weft_op *giver;                  /* accepted or opened by it, and not yet given */
	uint64_t identity;               /* of the file, or 0: not known */
	struct wf_job *jobs;             /* all that are not freed yet */
	/* sendfile.c, without the lock: which chunks of a file were all in memory, one bit
	 * each, and since when that is known. */
	uint64_t warm, warm_since;
};

/* Whoever reads without the lock sees what was, a moment ago: what happened before is
 * seen, and what happens meanwhile has no order with it. */
static inline weft_op *wf_dir_head(const struct wf_dir *dir)
{
	return __atomic_load_n(&dir->head, __ATOMIC_RELAXED);
}

static inline bool wf_fd_ready(const struct wf_fd *f, int d)
{
	return __atomic_load_n(&f->ready[d], __ATOMIC_RELAXED);
}

static inline void wf_fd_set_ready(struct wf_fd *f, int d, bool ready)
{
	__atomic_store_n(&f->ready[d], ready, __ATOMIC_RELAXED);
}

static inline enum wf_kind wf_fd_kind(const struct wf_fd *f)
{
	return (enum wf_kind)__atomic_load_n(&f->kind, __ATOMIC_RELAXED);
}

static inline bool wf_fd_nowait(const struct wf_fd *f)
{
	return __atomic_load_n(&f->nowait, __ATOMIC_RELAXED);
}

static inline enum wf_pipe wf_fd_pipe(const struct wf_fd *f)
{
	return (enum wf_pipe)__atomic_load_n(&f->pipe, __ATOMIC_RELAXED);
}

static inline void wf_fd_set_pipe(struct wf_fd *f, enum wf_pipe pipe)
{
	__atomic_store_n(&f->pipe, (uint8_t)pipe, __ATOMIC_RELAXED);
}

/* Whether a close waits until no operation is busy and no try is under way. */
static inline bool wf_fd_closing(const struct wf_fd *f)
{
	return __atomic_load_n(&f->use, __ATOMIC_RELAXED) & WF_FD_CLOSING;
}

/* The mark of a descriptor: tells it from others that had the same number, by how often Weft had
 * closed the number. Never 0, which stands for any descriptor. */
static inline uint16_t wf_fd_mark_of(uint32_t use)
{
	return (uint16_t)(use >> 16 | 1);
}

static inline uint16_t wf_fd_mark(const struct wf_fd *f)
{
	return wf_fd_mark_of(__atomic_load_n(&f->use, __ATOMIC_ACQUIRE));
}

/* The same for a caller without the lock. If close(2) is under way, waits for it: the number may
 * be a new descriptor's already. */
WF_COLD uint16_t wf_fd_mark_settled(struct wf_fd *f);
static inline uint16_t wf_fd_mark_now(struct wf_fd *f)
{
	uint32_t use = __atomic_load_n(&f->use, __ATOMIC_ACQUIRE);

	return WF_LIKELY(!(use & WF_FD_CLOSING)) ? wf_fd_mark_of(use) : wf_fd_mark_settled(f);
}

/* Called when the last try has ended and a close waits: closes the descriptor. */
void wf_fd_last_out(struct wf_fd *f);

/* Ends a try. Without the lock. */
static inline void wf_fd_drop(struct wf_fd *f)
{
	uint32_t was = __atomic_fetch_sub(&f->use, 1, __ATOMIC_ACQ_REL);

	if (WF_UNLIKELY(was & WF_FD_CLOSING))
		wf_fd_last_out(f);
}

/* Ends a try that must not be: the mark is another, or the descriptor is being closed. Returns 0;
 * or, if close(2) was under way and `mark` is 0, what a new try returns after it. */
WF_COLD uint16_t wf_fd_hold_again(struct wf_fd *f, uint16_t mark);

/* Begins a try of the descriptor that has this mark (0: any). Returns its mark; 0 if that
 * descriptor is closed or being closed. Without the lock. */
static inline uint16_t wf_fd_hold(struct wf_fd *f, uint16_t mark)
{
	uint32_t was = __atomic_fetch_add(&f->use, 1, __ATOMIC_ACQUIRE);

	if (WF_LIKELY(!(was & WF_FD_CLOSING) && (mark == 0 || mark == wf_fd_mark_of(was))))
		return wf_fd_mark_of(was);
	return wf_fd_hold_again(f, mark);
}

/* Whether a try is under way. If a close waits, none begins after this has returned false. */
static inline bool wf_fd_tried(const struct wf_fd *f)
{
	return __atomic_load_n(&f->use, __ATOMIC_ACQUIRE) & WF_FD_TRIES;
}

/* Lets no try begin any more, if none is under way and no close waits. */
static inline bool wf_fd_shut(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	uint32_t was = __atomic_load_n(&f->use, __ATOMIC_RELAXED);

	return !(was & (WF_FD_TRIES | WF_FD_CLOSING)) &&
	       __atomic_compare_exchange_n(&f->use, &was, was | WF_FD_CLOSING, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Closes a descriptor of which WF_FD_CLOSING is set and no try is under way: 0 or -Exxx. Whoever
 * uses the number meanwhile waits for the lock: it may be a new descriptor's already. */
int wf_fd_close(struct wf_fd *f) WF_REQUIRES(f->lock);

int wf_fds_start(void);
void wf_fds_stop(void);

/* The table of records: chunks, indexed by the number. */
enum { WF_FD_CHUNKS = 1 << 16 };
extern struct wf_fd *_Atomic wf_fd_table[WF_FD_CHUNKS];

/* The record of a descriptor number if it was made before, else NULL. */
static inline struct wf_fd *wf_fd_peek(int fd)
{
	struct wf_fd *chunk;

	if ((unsigned)fd >= WF_FD_CHUNK * WF_FD_CHUNKS)
		return NULL;
	chunk = atomic_load_explicit(&wf_fd_table[fd / WF_FD_CHUNK], memory_order_acquire);
	return chunk != NULL ? &chunk[fd % WF_FD_CHUNK] : NULL;
}

/* The same, made if need be; NULL and -EBADF or -ENOMEM in *err. */
struct wf_fd *wf_fd_get(int fd, int *err);
/* The record for operations that have no descriptor yet. */
struct wf_fd *wf_fd_none(void);

/* Calls fn for every record. */
void wf_fd_each(void (*fn)(struct wf_fd *f, void *arg), void *arg);

/* Finds out what the descriptor is: 0 or -EBADF. */
int wf_fd_learn(struct wf_fd *f) WF_REQUIRES(f->lock);

/* Whether the number means another file than at the last wf_fd_learn. */
bool wf_fd_changed(const struct wf_fd *f) WF_REQUIRES(f->lock);

/* Counts a try that found nothing to read, or is not yet known to find something. */
static inline void wf_fd_missed(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	f->misses = f->misses < WF_FD_MISSES_MAX ? (uint8_t)(2 * f->misses + 1) : WF_FD_MISSES_MAX;
}

/* Begins a new life: the number means nothing known. A close that waits is over. */
void wf_fd_forget(struct wf_fd *f) WF_REQUIRES(f->lock);

/* Notes what it is, if that is known without asking. */
void wf_fd_set_kind(struct wf_fd *f, enum wf_kind kind) WF_REQUIRES(f->lock);

#endif
