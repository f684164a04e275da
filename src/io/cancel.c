/* cancel.c - ending operations before their time, and closing descriptors. */
#include <errno.h>
#include <unistd.h>

#include "io/backend.h"
#include "scheduler/scheduler.h"

static void cancel(struct wf_fd *f, weft_op *op, int error, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	if (!(op->flags_ & WF_OP_BUSY)) {
		wf_op_finish(f, op, error, after);
	} else if (!(op->flags_ & WF_OP_CANCEL) && op->kind_ != WF_OP_CLOSE) {
		op->flags_ |= WF_OP_CANCEL;
		wf_io->cancel(f, op, after);
	}
}

/* A busy operation whose number means another descriptor now: it no longer
 * stands in anyone's way. */
static void make_stale(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	if (op->flags_ & WF_OP_STALE)
		return;
	f->busy--;
	op->flags_ |= WF_OP_STALE;
	if (!(op->flags_ & WF_OP_LOOSE)) {
		wf_op_unlist(f, op);
		wf_op_list_loose(f, op);
	}
}

/* What waits goes first: nothing shall begin when the busy one ends. */
static void end_list(struct wf_fd *f, weft_op *list, int error, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	weft_op *op, *next;

	for (op = list, list = NULL; op != NULL; op = next) {
		next = op->next_;
		if (!(op->flags_ & WF_OP_BUSY)) {
			wf_op_finish(f, op, error, after);
			continue;
		}
		if (list == NULL)
			list = op;
	}
	for (op = list; op != NULL; op = next) {
		next = op->next_;
		if (error == -EBADF)
			make_stale(f, op);
		cancel(f, op, error, after);
	}
}

void wf_op_end_all(struct wf_fd *f, int error, struct wf_after *after)
{
	if (f->watches != NULL)
		wf_watch_end_all(f);
	end_list(f, f->loose.head, error, after);
	end_list(f, f->dir[WF_IN].head, error, after);
	end_list(f, f->dir[WF_OUT].head, error, after);
}

void wf_op_close_all(struct wf_fd *f, struct wf_after *after)
{
	wf_op_end_all(f, -ECANCELED, after);
	__atomic_fetch_or(&f->use, WF_FD_CLOSING, __ATOMIC_ACQ_REL);
	wf_op_close_if_quiet(f, after);
}

/* It may end meanwhile, and even be started again by its owner, elsewhere. */
static int cancel_going(weft_op *op)
{
	struct wf_fd *f = __atomic_load_n(&op->record_, __ATOMIC_RELAXED);
	struct wf_after after = { 0 };
	int rc = 0;

	wf_lock_take(&f->lock);
	if (wf_op_state(op) != WF_OP_GOING || __atomic_load_n(&op->record_, __ATOMIC_RELAXED) != f)
		rc = -EALREADY;
	else if (op->kind_ != WF_OP_CLOSE)
		cancel(f, op, -ECANCELED, &after);
	wf_lock_give(&f->lock);
	wf_after(&after);
	return rc;
}

int weft_op_cancel(weft_op *op)
{
	int rc = op != NULL ? wf_enter() : -EINVAL;

	if (rc < 0)
		return rc;
	switch (wf_op_state(op)) {
	case WF_OP_IDLE:
		rc = -ENOENT;
		break;
	case WF_OP_DONE:
		rc = -EALREADY;
		break;
	case WF_OP_GOING:
		rc = cancel_going(op);
		break;
	}
	wf_leave();
	return rc;
}

/* Makes a close(2) that may block, on the ring or the pool. The number is out of use already. */
void wf_op_close_slowly(weft_op *op)
{
	struct wf_fd *f = op->record_;
	struct wf_after after = { 0 };

	/* Of the life that is over: the number may come back before we hear. */
	op->flags_ |= WF_OP_STALE;
	wf_lock_take(&f->lock);
	wf_op_list_loose(f, op);
	wf_io->begin(f, op, &after);
	wf_lock_give(&f->lock);
	wf_after(&after);
}

static int close_now(struct wf_fd *f)
{
	struct wf_after after = { 0 };
	int rc;

	wf_lock_take(&f->lock);
	if (wf_fd_closing(f)) {
		wf_lock_give(&f->lock);
		return -EBADF;
	}
	wf_op_close_all(f, &after);
	wf_lock_give(&f->lock);
	rc = after.close_rc;
	if (after.close) {
		after.close = false;
		rc = close(after.close_fd) < 0 ? -errno : 0;
	}
	wf_after(&after);
	return rc;
}

int weft_fd_close(int fd)
{
	struct wf_fd *f;
	int rc;

	if (wf_enter() < 0)
		return close(fd) < 0 ? -errno : 0;
	f = wf_fd_peek(fd);
	if (f != NULL)
		rc = close_now(f);
	else
		rc = close(fd) < 0 ? -errno : 0;
	wf_leave();
	return rc;
}
