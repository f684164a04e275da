/* op.h - the inside of operations: kinds, states, and how they end. */
#ifndef WF_OP_H
#define WF_OP_H

#include <errno.h>

#include "io/fd.h"
#include "scheduler/scheduler.h"

enum wf_op_kind {
	WF_OP_NONE,
	WF_OP_READ,  /* also pread; offset -1: the descriptor's position */
	WF_OP_WRITE, /* also pwrite */
	WF_OP_READV,
	WF_OP_WRITEV,
	WF_OP_RECV,
	WF_OP_SEND,
	WF_OP_RECVMSG,
	WF_OP_SENDMSG,
	WF_OP_ACCEPT,
	WF_OP_CONNECT,
	WF_OP_OPEN,
	WF_OP_FSYNC,
	WF_OP_CLOSE,
	WF_OP_SENDFILE,
	WF_OP_POLL,  /* a watch's, see watch.h */
	WF_OP_AWAIT, /* weft_op_poll */
};

/* What one system call transfers at most. */
#define WF_LEN_MAX ((size_t)0x7ffff000)

/* In weft_op.state_. Changed under the lock of the record, read without. */
enum wf_op_state {
	WF_OP_IDLE,
	WF_OP_GOING, /* in its record's lists */
	WF_OP_DONE,  /* delivered, or about to be */
};

/* In weft_op.flags_. */
enum {
	WF_OP_LIVE = 1,           /* counted by wf_live_op_add */
	WF_OP_LOOSE = 2,          /* to be in the record's `loose` list, not in a direction */
	WF_OP_BUSY = 4,           /* out of our hands: nobody else may end it */
	WF_OP_STALE = 8,          /* of an earlier life; not counted in `busy` */
	WF_OP_CANCEL = 16,        /* somebody wants its end */
	WF_OP_CANCEL_HANDED = 32, /* uring: its cancel entry is on some poller's list */
	WF_OP_HELD = 64,          /* uring: complete, but for the cancel entry */
	WF_OP_CONNECTING = 128,   /* epoll: the connection attempt is under way */
	WF_OP_LINGERS = 256,      /* a close that may wait, as for what was sent */
	WF_OP_PACED = 512,        /* busy, and counted in `paced` */
};

/* What is to be done once the record's lock is given back. All zeros: nothing. */
struct wf_after {
	weft_op *first, *last; /* to be delivered */
	weft_op *closer;       /* a close operation; its descriptor is out of use */
	bool closer_blocks;    /* it has not closed it yet, and may block doing so */
	int close_fd;          /* to be closed, if `close` */
	bool close;
	int close_rc; /* what close(2) said of a descriptor that was closed under the lock */
	/* If not NULL: it is the doing of a thread, and another of its color that runs this
	 * stands by until that waits. */
	weft_fn *resume;
};

static inline enum wf_op_state wf_op_state(const weft_op *op)
{
	return (enum wf_op_state)__atomic_load_n(&op->state_, __ATOMIC_ACQUIRE);
}

static inline void wf_op_set_state(weft_op *op, enum wf_op_state state)
{
	__atomic_store_n(&op->state_, (uint8_t)state, __ATOMIC_RELEASE);
}

static inline int wf_op_dir(const weft_op *op)
{
	const unsigned in = 1u << WF_OP_READ | 1u << WF_OP_READV | 1u << WF_OP_RECV |
			    1u << WF_OP_RECVMSG | 1u << WF_OP_ACCEPT;

	return in >> op->kind_ & 1 ? WF_IN : WF_OUT;
}

/* Whether it wants -EAGAIN rather than to wait. */
bool wf_op_impatient_kind(const weft_op *op);
static inline bool wf_op_impatient(const weft_op *op)
{
	return op->kind_ > WF_OP_WRITEV && wf_op_impatient_kind(op);
}

/* Puts an operation behind the others of its direction, or of the loose. */
static inline void wf_op_list_behind(struct wf_dir *dir, weft_op *op)
{
	op->next_ = NULL;
	op->prev_ = dir->tail;
	if (WF_UNLIKELY(dir->tail != NULL))
		dir->tail->next_ = op;
	else
		__atomic_store_n(&dir->head, op, __ATOMIC_RELAXED);
	dir->tail = op;
}

/* Puts an operation among the loose. */
void wf_op_list_loose(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock);
/* Takes one from there, or out of its direction. */
void wf_op_unlist(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock);

static inline void wf_op_busy(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	op->flags_ |= WF_OP_BUSY;
	if (!(op->flags_ & WF_OP_STALE))
		f->busy++;
}

static inline void wf_op_not_busy(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	if ((op->flags_ & (WF_OP_BUSY | WF_OP_STALE)) == WF_OP_BUSY)
		f->busy--;
	if (op->flags_ & WF_OP_PACED)
		f->paced--;
	op->flags_ &= (uint16_t) ~(WF_OP_BUSY | WF_OP_PACED);
}

/* Counts it as something that keeps the runtime going. */
static inline void wf_op_live(weft_op *op)
{
	if (op->flags_ & WF_OP_LIVE)
		return;
	op->flags_ |= WF_OP_LIVE;
	wf_live_op_add(1);
}

/* Ends an operation. The next of its direction is now the head, and not begun. */
void wf_op_finish(struct wf_fd *f, weft_op *op, int64_t result, struct wf_after *after)
	WF_REQUIRES(f->lock);

/* Whether close(2) takes a few microseconds only: it may be made under the lock, which others wait
 * for. So it is of pipes, and of sockets that do not linger; a terminal, or an inotify instance, may
 * take milliseconds or seconds. */
bool wf_op_closes_quickly(const struct wf_fd *f) WF_REQUIRES(f->lock);

/* Closes a descriptor on which no operation is busy and no try is under way. */
void wf_op_close_quiet(struct wf_fd *f, struct wf_after *after) WF_REQUIRES(f->lock);
/* Finishes a close that waits, if no operation is busy any more and no try is under way. */
static inline void wf_op_close_if_quiet(struct wf_fd *f, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	if (WF_UNLIKELY(wf_fd_closing(f) && f->busy == 0 && !wf_fd_tried(f)))
		wf_op_close_quiet(f, after);
}

/* It is about to be tried or ended: fetches it, if there is one. This and the next are forced to be
 * inline: gcc takes them for functions that do nothing. */
static WF_INLINE void wf_op_warm(const weft_op *op)
{
	uintptr_t at = (uintptr_t)op;

	WF_FETCH(at, 1);
	WF_FETCH(at + 64, 1);
	WF_FETCH(at + 128, 1);
}

/* Its event runs soon: fetches what it is about, and, if it is a thread, the end of its stack,
 * which is just below what it waits for. What the switch left there is behind a gap. */
static WF_INLINE void wf_op_fetch(const weft_op *op)
{
	uintptr_t arg = (uintptr_t)op->event.arg, stack = (uintptr_t)op;

	WF_FETCH(arg, 1);
	WF_FETCH(arg + 64, 1);
	WF_FETCH(arg + 128, 1);
	WF_FETCH(arg + 192, 1);
	WF_FETCH(stack - 64, 1);
	WF_FETCH(stack - 128, 1);
	WF_FETCH(stack - 192, 1);
	WF_FETCH(stack - 264, 1);
	WF_FETCH(stack + 192, 1);
	WF_FETCH(stack + 256, 1);
	WF_FETCH(stack + 320, 1);
}

/* Ends one that is in no list, or never will be, and delivers it. */
void wf_op_tell(weft_op *op, int64_t result);

/* Delivers and closes. */
void wf_after_do(struct wf_after *after);
static inline void wf_after(struct wf_after *after)
{
	if (WF_UNLIKELY(after->first != NULL || after->closer != NULL || after->close))
		wf_after_do(after);
}

/* Closes the descriptor of a close operation on the ring or the pool, as close(2) may block.
 * Nothing uses the descriptor any more. */
void wf_op_close_slowly(weft_op *op);

/* Whether its result is a new descriptor. */
static inline bool wf_op_gives(const weft_op *op)
{
	return op->kind_ == WF_OP_ACCEPT || op->kind_ == WF_OP_OPEN;
}

/* The following are for operations that do. It has one: begins its record, and
 * remembers that nobody has it yet. No lock may be held. */
void wf_give_received(weft_op *op, int fd, enum wf_kind kind);
/* The same for one that its caller has at once. */
void wf_give_at_once(weft_op *op, int fd, enum wf_kind kind);
/* The descriptor, if any, is given when the event runs. */
void wf_give_prepare(weft_op *op);
/* The event will not run: closes the descriptor. */
void wf_give_discard(weft_op *op);
/* The runtime stopped: closes f if it was not given. */
void wf_give_abandon(struct wf_fd *f);

/* The number may mean another descriptor than the one we knew, if somebody closed
 * that behind our back. True if the operation is worth another try. */
bool wf_op_misjudged(struct wf_fd *f, const weft_op *op, int64_t error) WF_REQUIRES(f->lock);

/* Ends everything on f; what is busy ends later. */
void wf_op_end_all(struct wf_fd *f, int error, struct wf_after *after) WF_REQUIRES(f->lock);
/* The same, and f is closed when nothing is busy. */
void wf_op_close_all(struct wf_fd *f, struct wf_after *after) WF_REQUIRES(f->lock);

/* Forgets everything on f when the runtime has stopped and no thread is left. */
void wf_op_abandon_all(struct wf_fd *f);

/* Fills in what all have. */
static inline void wf_op_fill(weft_op *op, int fd, enum wf_op_kind kind, bool loose)
{
	op->fd = fd;
	op->kind_ = (uint8_t)kind;
	op->flags_ = loose ? WF_OP_LOOSE : 0;
	op->done_ = 0;
	op->extra_ = NULL;
}

static inline void wf_op_fill_rw(weft_op *op, void *buf, size_t len, int64_t offset, int flags)
{
	op->u_.rw_.buf = buf;
	op->u_.rw_.len = len < WF_LEN_MAX ? len : WF_LEN_MAX;
	op->u_.rw_.offset = offset;
	op->u_.rw_.flags = flags;
}

/* Puts an operation that is filled in on its way. */
void wf_op_submit(weft_op *op);

/* A non-blocking try, without the lock, of a busy operation. */
#define WF_TRY_OFFLOAD INT64_MIN     /* it would block on a disk */
#define WF_TRY_PAUSE (INT64_MIN + 1) /* enough for now: others wait too */
struct wf_tried {
	int64_t n;
	bool more; /* the direction is still worth a try after it */
};
struct wf_tried wf_try(weft_op *op, enum wf_kind kind); /* see try.h */
int64_t wf_try_sendfile(weft_op *op);

/* Whether calls on fd do not wait. */
bool wf_nonblocking(int fd);

/* What a system call returned, as an outcome. */
static inline int64_t wf_result(int64_t r)
{
	return r < 0 ? -errno : r;
}

/* The same on a thread that may block: the rest of it. Of sending a file only the
 * reading, into memory. */
int64_t wf_do_blocking(weft_op *op);
int64_t wf_warm_file(weft_op *op);

/* Hands a busy operation to the offload pool; the backend's `offloaded` gets the
 * outcome. Without the lock. Returns 0 or -ENOMEM, -EAGAIN ... */
int wf_job_start(struct wf_fd *f, weft_op *op);
/* Takes it back if it has not begun. */
bool wf_job_cancel(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock);
/* Frees the memory of all jobs of f, when no thread is left. */
void wf_jobs_free(struct wf_fd *f);

int wf_jobs_start(void);

#endif
