/* submit.c - an operation that is filled in gets its place and begins. */
#include <errno.h>
#include <unistd.h>

#include "io/backend.h"

static bool is_loose(const weft_op *op)
{
	switch ((enum wf_op_kind)op->kind_) {
	case WF_OP_READ:
	case WF_OP_WRITE:
		return op->u_.rw_.offset >= 0;
	case WF_OP_READV:
	case WF_OP_WRITEV:
		return op->u_.iov_.offset >= 0;
	case WF_OP_OPEN:
	case WF_OP_FSYNC:
	case WF_OP_AWAIT:
		return true;
	default:
		return false;
	}
}

/* io_uring ignores the offset on what has no position; pread(2) does not. */
static int check_offset(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	if (op->kind_ > WF_OP_WRITEV || f->kind == WF_KIND_FILE)
		return 0;
	if (f->kind == WF_KIND_OTHER && lseek(f->fd, 0, SEEK_CUR) >= 0)
		return 0;
	return -ESPIPE;
}

/* Where its event shall run: with its caller, whose caches are warm; but the
 * first operation of a new descriptor spreads them over the workers. */
static void choose_worker(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	struct wf_worker *w = wf_worker_self();
	int self = w != NULL ? wf_worker_id(w) : -1;

	if (WF_LIKELY(self == f->home))
		f->away = 0;
	else if (self >= 0 && self < wf_worker_count() && (!f->fresh || f->kind == WF_KIND_FILE))
		wf_io->used_from(f, self);
	else
		self = f->home;
	f->fresh = false;
	op->hint_ = (uint16_t)self;
}

/* Behind the others of its direction. */
static void list(struct wf_dir *dir, weft_op *op)
{
	op->next_ = NULL;
	op->prev_ = dir->tail;
	if (WF_UNLIKELY(dir->tail != NULL))
		dir->tail->next_ = op;
	else
		dir->head = op;
	dir->tail = op;
}

static int close_begin(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	wf_op_live(op);
	wf_op_end_all(f, -ECANCELED, after);
	f->closing = true;
	f->closer = op;
	wf_op_close_if_quiet(f, after);
	return 0;
}

/* Whether op would have to wait for something that may be of another life. A new
 * connection is a good time to look, too. */
static bool suspicious(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	return f->kind != WF_KIND_UNKNOWN && !f->sure &&
	       (f->dir[wf_op_dir(op)].head != NULL || op->kind_ == WF_OP_CONNECT);
}

static int list_and_begin(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	struct wf_dir *dir = &f->dir[wf_op_dir(op)];
	bool loose;
	int err = 0;

	if (WF_UNLIKELY(f->closing))
		return -EBADF;
	if (WF_UNLIKELY(suspicious(f, op)) && wf_fd_changed(f)) {
		wf_op_end_all(f, -EBADF, after);
		wf_fd_forget(f);
	}
	if (WF_UNLIKELY(f->kind == WF_KIND_UNKNOWN) && f->fd >= 0)
		err = wf_fd_learn(f);
	loose = is_loose(op);
	if (WF_UNLIKELY(loose) && err == 0)
		err = check_offset(f, op);
	if (WF_UNLIKELY(err < 0))
		return err;
	f->sure |= op->kind_ == WF_OP_CONNECT;
	choose_worker(f, op);
	wf_op_set_state(op, WF_OP_GOING);
	if (WF_UNLIKELY(op->kind_ == WF_OP_CLOSE))
		return close_begin(f, op, after);
	if (WF_UNLIKELY(loose)) {
		wf_op_list_loose(f, op);
		wf_io->begin(f, op, after);
		return 0;
	}
	list(dir, op);
	if (WF_LIKELY(dir->head == op))
		wf_io->begin(f, op, after);
	else
		wf_op_live(op);
	return 0;
}

void wf_op_submit(weft_op *op)
{
	struct wf_after after = { 0 };
	struct wf_fd *f;
	int err = 0;

	f = wf_fd_peek(op->fd);
	if (WF_UNLIKELY(f == NULL))
		f = op->kind_ == WF_OP_OPEN ? wf_fd_none() : wf_fd_get(op->fd, &err);
	if (WF_LIKELY(f != NULL)) {
		__atomic_store_n(&op->record_, f, __ATOMIC_RELAXED);
		wf_lock_take(&f->lock);
		err = list_and_begin(f, op, &after);
		wf_lock_give(&f->lock);
	}
	if (WF_UNLIKELY(err < 0)) {
		struct wf_worker *w = wf_worker_self();

		op->hint_ = (uint16_t)(w != NULL ? wf_worker_id(w) : wf_next_home());
		wf_op_refuse(op, err);
	}
	wf_after(&after);
}
