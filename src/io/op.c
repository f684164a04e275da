/* op.c - operations: their lists, their ends, their delivery. */
#include "io/op.h"

#include <errno.h>
#include <unistd.h>

#include "base/capacity.h"
#include "base/probe.h"
#include "io/backend.h"

enum { MANY = WF_POLL_PART };

bool wf_op_impatient_kind(const weft_op *op)
{
	switch ((enum wf_op_kind)op->kind_) {
	case WF_OP_RECV:
	case WF_OP_SEND:
		return op->u_.rw_.flags & MSG_DONTWAIT;
	case WF_OP_RECVMSG:
	case WF_OP_SENDMSG:
		return op->u_.msg_.flags & MSG_DONTWAIT;
	case WF_OP_CONNECT:
		/* -EAGAIN of AF_UNIX: the listen queue is full, and nothing would tell
		 * when there is room. */
		return !(op->flags_ & WF_OP_CONNECTING);
	case WF_OP_OPEN:
	case WF_OP_FSYNC:
	case WF_OP_AWAIT:
		return true; /* nothing would tell when it is worth another try */
	default:
		return false;
	}
}

/* Lists */

static inline void detach(struct wf_dir *from, weft_op *op)
{
	if (op->prev_ != NULL)
		op->prev_->next_ = op->next_;
	else
		__atomic_store_n(&from->head, op->next_, __ATOMIC_RELAXED);
	if (op->next_ != NULL)
		op->next_->prev_ = op->prev_;
	else
		from->tail = op->prev_;
}

WF_HOT void wf_op_list_loose(struct wf_fd *f, weft_op *op)
{
	op->flags_ |= WF_OP_LOOSE; /* it may have been in a direction */
	op->prev_ = NULL;
	op->next_ = f->loose.head;
	if (f->loose.head != NULL)
		f->loose.head->prev_ = op;
	else
		f->loose.tail = op;
	f->loose.head = op;
	f->others = true;
}

static inline void unlist(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	if (!(op->flags_ & WF_OP_LOOSE)) {
		detach(&f->dir[wf_op_dir(op)], op);
		return;
	}
	if (WF_UNLIKELY(op == f->waiting))
		f->waiting = op->next_;
	detach(&f->loose, op);
}

void wf_op_unlist(struct wf_fd *f, weft_op *op)
{
	unlist(f, op);
}

/* Endings */

static void to_deliver(struct wf_after *after, weft_op *op)
{
	op->next_ = NULL;
	if (after->last != NULL)
		after->last->next_ = op;
	else
		after->first = op;
	after->last = op;
	wf_op_fetch(op);
}

/* Whether closing the socket waits until what was sent has arrived. */
static bool lingers(const struct wf_fd *f)
{
	struct linger how = { 0, 0 };
	socklen_t len = sizeof how;

	return getsockopt(f->fd, SOL_SOCKET, SO_LINGER, &how, &len) == 0 && how.l_onoff &&
	       how.l_linger > 0;
}

bool wf_op_closes_quickly(const struct wf_fd *f)
{
	switch (wf_fd_kind(f)) {
	case WF_KIND_TCP:
	case WF_KIND_SOCKET:
		return !lingers(f);
	case WF_KIND_OTHER:
		return wf_fd_pipe(f);
	default:
		return false;
	}
}

/* If close(2) is made without the lock, the number counts as another descriptor's before it: a call
 * that begins in between finds the old one, or an error. */
void wf_op_close_quiet(struct wf_fd *f, struct wf_after *after)
{
	bool quickly = wf_op_closes_quickly(f);

	after->closer = f->closer;
	after->closer_blocks = !quickly;
	f->closer = NULL;
	if (quickly) {
		after->close_rc = wf_fd_close(f);
		return;
	}
	if (after->closer != NULL && f->kind != WF_KIND_FILE)
		after->closer->flags_ |= WF_OP_LINGERS;
	after->close_fd = f->fd;
	after->close = after->closer == NULL;
	wf_fd_forget(f);
}

static inline int64_t outcome(const weft_op *op, int64_t result)
{
	if (result < 0 && op->done_ > 0)
		return (int64_t)op->done_;
	if (result == -EINTR && op->flags_ & WF_OP_CANCEL)
		result = -ECANCELED;
	if (result == -ECANCELED && op->flags_ & WF_OP_STALE)
		result = -EBADF;
	return result;
}

WF_HOT void wf_op_finish(struct wf_fd *f, weft_op *op, int64_t result, struct wf_after *after)
{
	unlist(f, op);
	wf_op_not_busy(f, op);
	op->result = outcome(op, result);
	wf_op_set_state(op, WF_OP_DONE);
	to_deliver(after, op);
	wf_op_close_if_quiet(f, after);
}

/* A descriptor that it gives is given when its event runs, or closed if that never will. */
static WF_NOINLINE void see_to_given(weft_op *op)
{
	if (op->result < 0)
		return;
	if (wf_stopping())
		wf_give_discard(op);
	else
		wf_give_prepare(op);
}

/* Delivers up to MANY of the list that are of one color and home. `resume`: wf_after's. */
static WF_HOT weft_op *deliver(weft_op *op, weft_fn *resume)
{
	weft_event *evs[MANY];
	weft_color color = op->event.color;
	uint16_t hint = op->hint_;
	int n = 0, live = 0;

	do {
		weft_op *next = op->next_; /* give.c uses it for something else */

		WF_PROBE2(op_done, op, op->result);
		if (WF_UNLIKELY(wf_op_gives(op)))
			see_to_given(op);
		live += (op->flags_ & WF_OP_LIVE) != 0;
		evs[n++] = &op->event;
		op = next;
	} while (op != NULL && n < MANY && op->event.color == color && op->hint_ == hint);
	if (WF_LIKELY(!wf_stopping()) &&
	    !(resume != NULL && n == 1 && wf_event_stand_by(evs[0], resume)))
		wf_event_deliver_some(wf_worker_by_id(hint), evs, n);
	if (WF_LIKELY(live > 0))
		wf_live_op_add(-live);
	return op;
}

void wf_op_tell(weft_op *op, int64_t result)
{
	op->result = result;
	wf_op_set_state(op, WF_OP_DONE);
	op->next_ = NULL;
	(void)deliver(op, NULL);
}

WF_HOT void wf_after_do(struct wf_after *after)
{
	weft_op *op = after->first;

	while (op != NULL)
		op = deliver(op, after->resume);
	after->first = after->last = NULL;
	if (WF_UNLIKELY(after->closer != NULL)) {
		if (after->closer_blocks)
			wf_op_close_slowly(after->closer);
		else
			wf_op_tell(after->closer, after->close_rc);
	}
	if (WF_UNLIKELY(after->close))
		close(after->close_fd);
	after->closer = NULL;
	after->close = false;
}

bool wf_op_misjudged(struct wf_fd *f, const weft_op *op, int64_t error)
{
	enum wf_kind was = f->kind;

	if (error == -EBADF && op->kind_ != WF_OP_SENDFILE && op->kind_ != WF_OP_OPEN)
		__atomic_store_n(&f->kind, WF_KIND_UNKNOWN, __ATOMIC_RELAXED);
	if (error != -ENOTSOCK || op->kind_ < WF_OP_READ || op->kind_ > WF_OP_WRITEV)
		return false;
	f->registered = f->level = false;
	f->life++;
	return wf_fd_learn(f) == 0 && f->kind != was;
}

/* The end of the runtime */

static void abandon(weft_op *op)
{
	/* Its record has forgotten the descriptor: it was as good as closed. */
	if (op->kind_ == WF_OP_CLOSE && op->flags_ & WF_OP_STALE)
		close(op->fd);
	op->result = -ECANCELED;
	wf_op_set_state(op, WF_OP_IDLE);
}

static void abandon_list(weft_op *op)
{
	while (op != NULL) {
		weft_op *next = op->next_;

		abandon(op);
		op = next;
	}
}

void wf_op_abandon_all(struct wf_fd *f)
{
	wf_give_abandon(f);
	abandon_list(f->loose.head);
	abandon_list(f->dir[WF_IN].head);
	abandon_list(f->dir[WF_OUT].head);
	if (f->closer != NULL)
		abandon(f->closer); /* in no list */
	if (wf_fd_closing(f))
		close(f->fd);
}
