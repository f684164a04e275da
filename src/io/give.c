/* give.c - how a descriptor that an operation made gets into the user's hands.
 *
 * An accepted or opened descriptor is in nobody's hands until the handler has
 * begun. If the runtime stops before, it must be closed. So the event goes through
 * here, and the record of the new descriptor remembers the operation.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/op.h"

static void unwrap(weft_op *op)
{
	op->event.run = (weft_fn *)op->extra_;
	op->event.drop = (weft_fn *)(void *)op->next_;
	op->event.arg = op->prev_;
}

static void given(weft_op *op)
{
	struct wf_fd *f = wf_fd_peek((int)op->result);

	unwrap(op);
	wf_lock_take(&f->lock);
	f->giver = NULL;
	wf_lock_give(&f->lock);
}

static void give_run(void *arg)
{
	weft_op *op = arg;

	given(op);
	op->event.run(op->event.arg);
}

static void give_drop(void *arg)
{
	weft_op *op = arg;

	given(op);
	op->event.drop(op->event.arg);
}

static void wrap(weft_op *op)
{
	op->extra_ = (void *)op->event.run;
	op->next_ = (weft_op *)(void *)op->event.drop;
	op->prev_ = op->event.arg;
	op->event.run = give_run;
	if (op->event.drop != NULL)
		op->event.drop = give_drop;
	op->event.arg = op;
}

/* Files are opened with O_NONBLOCK, so that a FIFO without a peer holds up nobody;
 * it goes if it was not asked for. The other flags are those that it has. */
static void set_blocking(const weft_op *op, int fd)
{
	int flags = op->u_.open_.flags;

	if (op->kind_ == WF_OP_OPEN && !(flags & O_NONBLOCK))
		(void)fcntl(fd, F_SETFL, flags & ~O_ASYNC);
}

void wf_give_received(weft_op *op, int fd, enum wf_kind kind)
{
	struct wf_after after = { 0 };
	struct wf_fd *f;
	int err;

	set_blocking(op, fd);
	f = wf_fd_get(fd, &err);
	if (f == NULL)
		return;
	wf_lock_take(&f->lock);
	/* The number came back, so whatever had it before is closed. */
	wf_op_end_all(f, -EBADF, &after);
	wf_fd_forget(f);
	if (kind != WF_KIND_UNKNOWN)
		wf_fd_set_kind(f, kind);
	f->sure = true;
	f->giver = op;
	wf_lock_give(&f->lock);
	wf_after(&after);
}

void wf_give_at_once(weft_op *op, int fd, enum wf_kind kind)
{
	struct wf_fd *f;

	wf_give_received(op, fd, kind);
	f = wf_fd_peek(fd);
	if (f == NULL)
		return;
	wf_lock_take(&f->lock);
	f->giver = NULL;
	wf_lock_give(&f->lock);
}

void wf_give_prepare(weft_op *op)
{
	if (wf_fd_peek((int)op->result) != NULL)
		wrap(op);
}

void wf_give_discard(weft_op *op)
{
	struct wf_fd *f = wf_fd_peek((int)op->result);

	if (f != NULL) {
		wf_lock_take(&f->lock);
		f->giver = NULL;
		wf_lock_give(&f->lock);
	}
	close((int)op->result);
	op->result = -ECANCELED;
}

void wf_give_abandon(struct wf_fd *f)
{
	if (f->giver == NULL)
		return;
	close(f->fd);
	if (f->giver->event.run == give_run)
		unwrap(f->giver);
	f->giver->result = -ECANCELED;
}
