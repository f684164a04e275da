/* submit.c - an operation that is filled in gets its place and begins. */
#include <errno.h>
#include <unistd.h>

#include "io/backend.h"

/* io_uring ignores the offset on what has no position; pread(2) does not. */
static int check_offset(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	if (op->kind_ > WF_OP_WRITEV || f->kind == WF_KIND_FILE)
		return 0;
	if (f->kind == WF_KIND_OTHER && lseek(f->fd, 0, SEEK_CUR) >= 0)
		return 0;
	return -ESPIPE;
}

/* Where its event shall run: with its caller, whose caches are warm. */
static void choose_worker(struct wf_fd *f, weft_op *op) WF_REQUIRES(f->lock)
{
	struct wf_worker *w = wf_worker_self();
	int self = w != NULL ? wf_worker_id(w) : -1;

	if (WF_LIKELY(self == f->home))
		f->away = 0;
	else if (self >= 0 && self < wf_worker_count())
		wf_io->used_from(f, self);
	else
		self = f->home;
	op->hint_ = (uint16_t)self;
}

static int close_begin(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock)
{
	wf_op_live(op);
	f->closer = op;
	wf_op_close_all(f, after);
	return 0;
}

/* Whether nothing stands against op but others of its direction, which we know. */
static inline bool usual(const struct wf_fd *f, const weft_op *op, const struct wf_dir *dir)
	WF_REQUIRES(f->lock)
{
	const unsigned special = 1u << WF_OP_CONNECT | 1u << WF_OP_CLOSE;

	return !wf_fd_closing(f) && f->kind != WF_KIND_UNKNOWN &&
	       (f->kind == WF_KIND_FILE || !(op->flags_ & WF_OP_LOOSE)) &&
	       !(special >> op->kind_ & 1) && (f->sure || dir->head == NULL);
}

/* Whether op would have to wait for something that may be of another life. A new
 * connection is a good time to look, too. */
static bool suspicious(const struct wf_fd *f, const weft_op *op) WF_REQUIRES(f->lock)
{
	return f->kind != WF_KIND_UNKNOWN && !f->sure &&
	       (f->dir[wf_op_dir(op)].head != NULL || op->kind_ == WF_OP_CONNECT);
}

/* What stands against an operation, if anything. */
static WF_NOINLINE int look_closer(struct wf_fd *f, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	int err = 0;

	if (wf_fd_closing(f))
		return -EBADF;
	if (suspicious(f, op) && wf_fd_changed(f)) {
		wf_op_end_all(f, -EBADF, after);
		wf_fd_forget(f);
	}
	if (f->kind == WF_KIND_UNKNOWN && f->fd >= 0)
		err = wf_fd_learn(f);
	if (op->flags_ & WF_OP_LOOSE && err == 0)
		err = check_offset(f, op);
	f->sure |= err == 0 && op->kind_ == WF_OP_CONNECT;
	return err;
}

static inline int list_and_begin(struct wf_fd *f, weft_op *op, struct wf_after *after)
	WF_REQUIRES(f->lock)
{
	struct wf_dir *dir = &f->dir[wf_op_dir(op)];
	uint16_t mark = op->same_;

	op->same_ = 0;
	if (WF_UNLIKELY(mark != 0 && mark != wf_fd_mark(f)))
		return -EBADF;
	if (WF_UNLIKELY(!usual(f, op, dir))) {
		int err = look_closer(f, op, after);

		if (err < 0)
			return err;
	}
	choose_worker(f, op);
	wf_op_set_state(op, WF_OP_GOING);
	if (WF_UNLIKELY(op->kind_ == WF_OP_CLOSE))
		return close_begin(f, op, after);
	if (op->flags_ & WF_OP_LOOSE)
		wf_op_list_loose(f, op);
	else
		wf_op_list_behind(dir, op);
	if (op->flags_ & WF_OP_LOOSE || WF_LIKELY(dir->head == op))
		wf_io->begin(f, op, after);
	else
		wf_op_live(op);
	return 0;
}

static WF_COLD void refuse(weft_op *op, int err)
{
	struct wf_worker *w = wf_worker_self();

	op->hint_ = (uint16_t)(w != NULL ? wf_worker_id(w) : wf_next_home());
	wf_op_tell(op, err);
}

WF_HOT void wf_op_submit(weft_op *op)
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
	if (WF_UNLIKELY(err < 0))
		refuse(op, err);
	wf_after(&after);
}
