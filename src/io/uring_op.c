/* uring_op.c - what an operation goes through on io_uring: list, ring, outcome.
 *
 * Of each direction of a descriptor at most one operation is in the kernel, which
 * keeps them in order. It is there from its start on: there is no try on the side. Reads and
 * writes of a file at offsets are there together, up to a number; others wait in the list.
 * A cancel entry, on the list or in the ring, holds its operation back until the
 * kernel has answered it, even if the operation completes first: so the answer can
 * be acted upon, and memory that was given back is never touched.
 */
#ifdef WEFT_HAVE_URING
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/report.h"
#include "io/uring.h"
#include "scheduler/scheduler.h"

/* Nobody stands in for who has a ring alone: what the owner starts needs no list. */
static inline bool put_at_once(struct wf_poller *p, weft_op *op)
{
	struct wf_uring *u = WF_CONTAINER(p, struct wf_uring, base);

	if (!u->alone || op->kind_ == WF_OP_SENDFILE || io_uring_sq_space_left(&u->ring) == 0)
		return false;
	wf_uring_put(u, op);
	return true;
}

static inline void hand(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	struct wf_worker *self = wf_worker_self();
	struct wf_poller *p = wf_poller_here(self, f->home);

	op->worker_ = (uint16_t)p->id;
	if (self == NULL || !put_at_once(p, op))
		wf_hand(p, op, WF_HANDED_START);
}

static inline uint8_t how(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	bool socket = f->kind == WF_KIND_TCP || f->kind == WF_KIND_SOCKET;

	if (op->flags_ & WF_OP_LOOSE ||
	    !(op->kind_ == WF_OP_RECV || op->kind_ == WF_OP_SEND ||
	      (socket && (op->kind_ == WF_OP_READ || op->kind_ == WF_OP_WRITE))))
		return WF_HOW_PLAIN;
	/* Of one that does not wait the kernel would make -EAGAIN, without a look. */
	if (!wf_uring_kernel.since_5_19 || wf_op_impatient(op))
		return WF_HOW_SOCKET;
	return wf_op_dir(op) == WF_IN && !f->ready[WF_IN] ? WF_HOW_SOCKET_POLL : WF_HOW_SOCKET;
}

static void begin(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	wf_op_busy(f, op);
	op->how_ = how(f, op);
	hand(f, op);
}

/* Reads and writes of a file have a pace: more than a disk takes at a time would wait in the
 * kernel, where each costs the others more than it does here, and is not as soon cancelled. Not
 * where one worker would wait for another that may be stuck, and that nobody stands in for. */
static bool has_pace(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	return (op->flags_ & (WF_OP_LOOSE | WF_OP_STALE)) == WF_OP_LOOSE &&
	       op->kind_ <= WF_OP_WRITEV && f->kind == WF_KIND_FILE;
}

static void pace(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	op->flags_ |= WF_OP_PACED;
	f->paced++;
}

static WF_NOINLINE void wait_for_others(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	wf_op_unlist(f, op);
	wf_op_list_behind(&f->loose, op);
	if (f->waiting == NULL)
		f->waiting = op;
}

static void begin_waiting(struct wf_fd *f) WF_REQUIRES(f->lock)
{
	weft_op *op = f->waiting;

	if (f->paced >= WF_FILE_PACE || wf_stopping())
		return;
	f->waiting = op->next_;
	if (f->waiting != NULL)
		wf_op_warm(f->waiting);
	pace(f, op);
	begin(f, op);
}

static bool must_wait(const struct wf_fd *f) WF_REQUIRES(f->lock)
{
	return WF_UNLIKELY(f->waiting != NULL || f->paced >= WF_FILE_PACE) &&
	       (wf_worker_count() == 1 || wf_stuck_are_covered());
}

WF_HOT void wf_uring_begin(struct wf_fd *f, weft_op *op, struct wf_after *after)
{
	(void)after;
	wf_op_live(op);
	if (has_pace(f, op)) {
		if (must_wait(f)) {
			wait_for_others(f, op);
			return;
		}
		pace(f, op);
	}
	begin(f, op);
}

/* What has not begun when the runtime stops never does. */
static void begin_next(struct wf_fd *f, int d, struct wf_after *after) WF_REQUIRES(f->lock)
{
	weft_op *next = f->dir[d].head;

	if (next != NULL && !(next->flags_ & WF_OP_BUSY) && !wf_stopping())
		wf_uring_begin(f, next, after);
}

/* Whether an outcome is none yet, and the operation goes to the kernel again. */
static bool again(struct wf_fd *f, weft_op *op, int64_t n) WF_REQUIRES(f->lock)
{
	if (op->flags_ & (WF_OP_CANCEL | WF_OP_STALE) || wf_stopping())
		return false;
	if (op->how_ == WF_HOW_POLL && n >= 0) {
		op->how_ = how(f, op);
		return true;
	}
	if (n == -EAGAIN && !wf_op_impatient(op)) {
		op->how_ = WF_HOW_POLL;
		return true;
	}
	if (n == -ENOTSOCK && wf_op_misjudged(f, op, n)) {
		op->how_ = how(f, op);
		return true;
	}
	return n == -EINTR || n == WF_TRY_PAUSE;
}

static WF_HOT inline void end(struct wf_fd *f, weft_op *op, int64_t n, unsigned flags,
			      struct wf_after *after) WF_REQUIRES(f->lock)
{
	bool in_line = !(op->flags_ & WF_OP_LOOSE);
	int d = wf_op_dir(op);

	if (n == -EBADF)
		(void)wf_op_misjudged(f, op, n);
	if (op->how_ == WF_HOW_POLL && n >= 0)
		n = -ECANCELED; /* it was only waited for */
	if (n == WF_TRY_PAUSE || (n == -EAGAIN && op->flags_ & WF_OP_CANCEL))
		n = -ECANCELED;
	if (n == -ECANCELED && op->kind_ == WF_OP_CLOSE)
		n = wf_result(close(op->fd)); /* the runtime stops, and nobody else will */
	if (in_line && op->how_ != WF_HOW_PLAIN)
		wf_fd_set_ready(f, d, flags & IORING_CQE_F_SOCK_NONEMPTY);
	wf_op_finish(f, op, n, after);
	if (in_line)
		begin_next(f, d, after);
	else if (WF_UNLIKELY(f->waiting != NULL))
		begin_waiting(f);
}

static void settle_watch(struct wf_fd *f, weft_op *op, int64_t n, struct wf_after *after,
			 const char **lost) WF_REQUIRES(f->lock)
{
	struct wf_watch *w = WF_CONTAINER(op, struct wf_watch, op);

	w->checking = false;
	wf_op_not_busy(f, op);
	wf_op_close_if_quiet(f, after);
	if (w->off)
		wf_watch_disarmed(f, w);
	else if (n >= 0)
		wf_watch_fired(f, w);
	else if (n == -EBADF && !wf_stopping())
		*lost = wf_watch_lost(f, w);
	else if (!wf_stopping())
		wf_uring_arm(f, w); /* the kernel was short of something */
}

static inline void settle(struct wf_fd *f, weft_op *op, int64_t n, unsigned flags,
			  struct wf_after *after, const char **lost) WF_REQUIRES(f->lock)
{
	if (WF_UNLIKELY(op->flags_ & WF_OP_CANCEL_HANDED)) {
		op->flags_ |= WF_OP_HELD;
		op->result = n;
	} else if (op->kind_ == WF_OP_POLL) {
		settle_watch(f, op, n, after, lost);
	} else if (WF_UNLIKELY(n < 0 || op->how_ == WF_HOW_POLL) && again(f, op, n)) {
		hand(f, op);
	} else {
		end(f, op, n, flags, after);
	}
}

static void received(struct wf_fd *f, weft_op *op, int fd)
{
	enum wf_kind kind = WF_KIND_UNKNOWN;

	if (op->kind_ == WF_OP_ACCEPT) {
		wf_lock_take(&f->lock);
		kind = f->kind;
		wf_lock_give(&f->lock);
	}
	wf_give_received(op, fd, kind);
}

WF_HOT void wf_uring_complete(weft_op *op, int64_t n, unsigned flags, struct wf_after *after)
{
	struct wf_fd *f = op->record_;
	const char *lost = NULL;

	if (WF_UNLIKELY(wf_op_gives(op)) && n >= 0 && op->how_ == WF_HOW_PLAIN)
		received(f, op, (int)n);
	wf_lock_take(&f->lock);
	settle(f, op, n, flags, after, &lost);
	wf_lock_give(&f->lock);
	if (WF_UNLIKELY(after->closer != NULL || after->close))
		wf_after(after);
	if (WF_UNLIKELY(lost != NULL))
		wf_watch_report(f, lost);
}

void wf_uring_offloaded(struct wf_fd *f, weft_op *op, int64_t n, struct wf_after *after)
{
	if (n >= 0 && !(op->flags_ & (WF_OP_CANCEL | WF_OP_STALE)) && !wf_stopping()) {
		hand(f, op); /* its pages are there now */
		return;
	}
	if (n >= 0)
		n = -ECANCELED;
	if (op->flags_ & WF_OP_CANCEL_HANDED) {
		op->flags_ |= WF_OP_HELD;
		op->result = n;
	} else {
		end(f, op, n, 0, after);
	}
}

/* Asks whoever has the operation: the pool, or the owner of the ring. */
void wf_uring_cancel(struct wf_fd *f, weft_op *op, struct wf_after *after)
{
	if (op->extra_ != NULL) {
		if (wf_job_cancel(f, op))
			end(f, op, -ECANCELED, 0, after);
		return;
	}
	op->flags_ |= WF_OP_CANCEL_HANDED;
	wf_hand(wf_poller_of(op->worker_), op, WF_HANDED_CANCEL);
}

/* No cancel entry is anywhere any more: what it held back may go. */
static void let_go(struct wf_fd *f, weft_op *op, struct wf_after *after, const char **lost)
	WF_REQUIRES(f->lock)
{
	bool held = op->flags_ & WF_OP_HELD;

	op->flags_ &= (uint16_t) ~(WF_OP_CANCEL_HANDED | WF_OP_HELD);
	if (held)
		settle(f, op, op->result, 0, after, lost);
	else if (op->extra_ != NULL && wf_job_cancel(f, op))
		end(f, op, -ECANCELED, 0, after);
}

static bool in_kernel(const weft_op *op)
{
	return !(op->flags_ & WF_OP_HELD) && op->extra_ == NULL;
}

/* Decides about an op whose cancel entry is ours; true if it shall be cancelled in
 * the kernel (again), which keeps it held back. */
static bool decide(weft_op *op, bool found)
{
	struct wf_fd *f = op->record_;
	struct wf_after after = { 0 };
	const char *lost = NULL;
	bool ask;

	wf_lock_take(&f->lock);
	ask = !found && in_kernel(op);
	if (!ask)
		let_go(f, op, &after, &lost);
	wf_lock_give(&f->lock);
	wf_after(&after);
	if (WF_UNLIKELY(lost != NULL))
		wf_watch_report(f, lost);
	return ask;
}

bool wf_uring_must_cancel(weft_op *op)
{
	return decide(op, false);
}

/* Whose ring it is in, or on its way to. */
static int ring_of(const weft_op *op)
{
	struct wf_fd *f = op->record_;
	int at;

	wf_lock_take(&f->lock);
	at = op->worker_;
	wf_lock_give(&f->lock);
	return at;
}

/* The kernel does not find an operation that is between being ready and being
 * tried: then it must be asked again, for it may have to wait once more. */
void wf_uring_cancelled(weft_op *op, int result)
{
	if (decide(op, result != -ENOENT))
		wf_hand(wf_poller_of(ring_of(op)), op, WF_HANDED_CANCEL);
}

bool wf_uring_forward(struct wf_poller *p, weft_op *op)
{
	int at = ring_of(op);

	if (at == p->id)
		return false;
	wf_hand(wf_poller_of(at), op, WF_HANDED_CANCEL);
	return true;
}

/* Watches: a poll each, started again after each call. */

void wf_uring_forget(struct wf_fd *f)
{
	(void)f;
}

void wf_uring_used_from(struct wf_fd *f, int id)
{
	f->home = (uint16_t)id;
}

/* The kernel would call anything ready that cannot be waited for. epoll knows. */
int wf_uring_watchable(struct wf_fd *f, struct wf_after *after)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd, err = 0;

	(void)after;
	if (f->kind == WF_KIND_FILE)
		return -EPERM;
	if (f->kind != WF_KIND_OTHER || f->registered)
		return 0;
	if (WF_FAULT(EMFILE) < 0)
		return -EMFILE;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0)
		return wf_denied("epoll_create1", -errno);
	if (epoll_ctl(fd, EPOLL_CTL_ADD, f->fd, &ev) < 0)
		err = -errno;
	/* An eventfd can be waited for: what it says of that is not the file's fault. */
	if (err < 0 && epoll_ctl(fd, EPOLL_CTL_ADD, wf_poller_of(f->home)->wake_fd, &ev) < 0)
		err = wf_denied("epoll_ctl", -errno);
	close(fd);
	f->registered = err == 0;
	return err;
}

void wf_uring_arm(struct wf_fd *f, struct wf_watch *w)
{
	w->checking = true;
	w->op.flags_ = 0;
	w->op.how_ = WF_HOW_PLAIN;
	wf_op_busy(f, &w->op);
	hand(f, &w->op);
}

bool wf_uring_disarm(struct wf_fd *f, struct wf_watch *w)
{
	if (!w->checking)
		return true;
	w->op.flags_ |= WF_OP_CANCEL | WF_OP_CANCEL_HANDED;
	wf_hand(wf_poller_of(w->op.worker_), &w->op, WF_HANDED_CANCEL);
	(void)f;
	return false;
}
#else
typedef int wf_no_uring_op_in_this_build;
#endif
