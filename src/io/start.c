/* start.c - the public calls that start operations: they check and fill in. */
#include <errno.h>
#include <limits.h>

#include "base/report.h"
#include "io/backend.h"
#include "io/io.h"
#include "scheduler/scheduler.h"

static bool under_way(const weft_op *op)
{
	enum wf_op_state state = wf_op_state(op);

	return state == WF_OP_GOING ||
	       (state == WF_OP_DONE && __atomic_load_n(&op->event.state_, __ATOMIC_ACQUIRE) != 0);
}

static int check(const weft_op *op, const char *where)
{
	if (wf_event_check(&op->event) < 0)
		return -EINVAL;
	if (WF_UNLIKELY(under_way(op)))
		return wf_misuse(where, -EALREADY, "operation is under way already, since %s",
				 op->event.where_ ? op->event.where_ : "an unknown place");
	return wf_stopping() ? -ESHUTDOWN : 0;
}

/* Opens the gate and begins to fill in; go() must follow if it returns 0. */
static int prepare(weft_op *op, int fd, enum wf_op_kind kind, bool loose, const char *where)
{
	int rc = op != NULL ? wf_enter() : -EINVAL;

	if (WF_UNLIKELY(rc < 0))
		return rc;
	rc = check(op, where);
	if (WF_UNLIKELY(rc < 0)) {
		wf_leave();
		return rc;
	}
	wf_op_fill(op, fd, kind, loose);
	op->event.where_ = where;
	return 0;
}

static int go(weft_op *op)
{
	wf_op_submit(op);
	wf_leave();
	return 0;
}

static int start_rw(weft_op *op, int fd, enum wf_op_kind kind, void *buf, size_t len,
		    int64_t offset, int flags, const char *where)
{
	int rc = prepare(op, fd, kind, offset >= 0, where);

	if (rc < 0)
		return rc;
	wf_op_fill_rw(op, buf, len, offset, flags);
	return go(op);
}

/* Writing that nothing waits before, and that there is room for, needs no place in a
 * list: it is done, if it can be, and its event posted. io_uring is given all at once
 * later instead. */
static inline struct wf_now write_at_once(int fd, enum wf_op_kind kind, const void *buf, size_t len,
					  int flags)
{
	uintptr_t held = WF_NOW_ASK;

	if (wf_io == &wf_epoll && !(flags & (MSG_WAITALL | MSG_DONTWAIT)))
		held = wf_now_how(wf_number(fd), false);
	if (held > WF_NOW_HOW && (kind == WF_OP_WRITE || (held & WF_NOW_HOW) == WF_NOW_SEND))
		return wf_now_do(held, fd, buf, len, flags);
	wf_now_not(held);
	return (struct wf_now){ .n = WF_NOW_WAIT };
}

static inline int start_write(weft_op *op, int fd, enum wf_op_kind kind, const void *buf,
			      size_t len, int flags, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	int rc = prepare(op, fd, kind, false, where);
	struct wf_now now;

	if (rc < 0)
		return rc;
	if (WF_LIKELY(self != NULL && wf_worker_id(self) < wf_worker_count())) {
		now = write_at_once(fd, kind, buf, len, flags);
		if (WF_LIKELY(now.n != WF_NOW_WAIT)) {
			op->hint_ = (uint16_t)wf_worker_id(self);
			wf_op_tell(op, now.n);
			return 0;
		}
		op->same_ = now.mark;
	}
	wf_op_fill_rw(op, (void *)(uintptr_t)buf, len, -1, flags);
	return go(op);
}

int weft_op_read_at(weft_op *op, int fd, void *buf, size_t len, const char *where)
{
	return start_rw(op, fd, WF_OP_READ, buf, len, -1, 0, where);
}

int weft_op_write_at(weft_op *op, int fd, const void *buf, size_t len, const char *where)
{
	return start_write(op, fd, WF_OP_WRITE, buf, len, 0, where);
}

int weft_op_pread_at(weft_op *op, int fd, void *buf, size_t len, int64_t offset, const char *where)
{
	return offset < 0 ? -EINVAL : start_rw(op, fd, WF_OP_READ, buf, len, offset, 0, where);
}

int weft_op_pwrite_at(weft_op *op, int fd, const void *buf, size_t len, int64_t offset,
		      const char *where)
{
	if (offset < 0)
		return -EINVAL;
	return start_rw(op, fd, WF_OP_WRITE, (void *)(uintptr_t)buf, len, offset, 0, where);
}

static int start_vector(weft_op *op, int fd, enum wf_op_kind kind, const struct iovec *iov,
			size_t count, int64_t offset, const char *where)
{
	int rc;

	if (offset < -1 || count > IOV_MAX || (iov == NULL && count > 0))
		return -EINVAL;
	rc = prepare(op, fd, kind, offset >= 0, where);
	if (rc < 0)
		return rc;
	op->u_.iov_.iov = iov;
	op->u_.iov_.count = count;
	op->u_.iov_.offset = offset;
	return go(op);
}

int weft_op_readv_at(weft_op *op, int fd, const struct iovec *iov, size_t count, int64_t offset,
		     const char *where)
{
	return start_vector(op, fd, WF_OP_READV, iov, count, offset, where);
}

int weft_op_writev_at(weft_op *op, int fd, const struct iovec *iov, size_t count, int64_t offset,
		      const char *where)
{
	return start_vector(op, fd, WF_OP_WRITEV, iov, count, offset, where);
}

int weft_op_recv_at(weft_op *op, int fd, void *buf, size_t len, int flags, const char *where)
{
	return start_rw(op, fd, WF_OP_RECV, buf, len, -1, flags, where);
}

int weft_op_send_at(weft_op *op, int fd, const void *buf, size_t len, int flags, const char *where)
{
	return start_write(op, fd, WF_OP_SEND, buf, len, flags, where);
}

static int start_message(weft_op *op, int fd, enum wf_op_kind kind, struct msghdr *msg, int flags,
			 const char *where)
{
	int rc = msg != NULL ? prepare(op, fd, kind, false, where) : -EINVAL;

	if (rc < 0)
		return rc;
	op->u_.msg_.msg = msg;
	op->u_.msg_.flags = flags & ~MSG_WAITALL;
	return go(op);
}

int weft_op_recvmsg_at(weft_op *op, int fd, struct msghdr *msg, int flags, const char *where)
{
	return start_message(op, fd, WF_OP_RECVMSG, msg, flags, where);
}

int weft_op_sendmsg_at(weft_op *op, int fd, struct msghdr *msg, int flags, const char *where)
{
	return start_message(op, fd, WF_OP_SENDMSG, msg, flags, where);
}

int weft_op_accept_at(weft_op *op, int fd, struct sockaddr *addr, socklen_t *len, const char *where)
{
	int rc = (addr == NULL) == (len == NULL) ? prepare(op, fd, WF_OP_ACCEPT, false, where)
						 : -EINVAL;

	if (rc < 0)
		return rc;
	op->u_.addr_.addr = addr;
	op->u_.addr_.len = len;
	return go(op);
}

int weft_op_connect_at(weft_op *op, int fd, const struct sockaddr *addr, socklen_t len,
		       const char *where)
{
	int rc = addr != NULL ? prepare(op, fd, WF_OP_CONNECT, false, where) : -EINVAL;

	if (rc < 0)
		return rc;
	op->u_.addr_.addr = (struct sockaddr *)(uintptr_t)addr;
	op->u_.addr_.size = len;
	return go(op);
}

int weft_op_open_at(weft_op *op, int dir, const char *path, int flags, unsigned mode,
		    const char *where)
{
	int rc = path != NULL ? prepare(op, -1, WF_OP_OPEN, true, where) : -EINVAL;

	if (rc < 0)
		return rc;
	op->u_.open_.dir = dir;
	op->u_.open_.path = path;
	op->u_.open_.flags = flags;
	op->u_.open_.mode = mode;
	return go(op);
}

int weft_op_fsync_at(weft_op *op, int fd, bool data_only, const char *where)
{
	int rc = prepare(op, fd, WF_OP_FSYNC, true, where);

	if (rc < 0)
		return rc;
	op->u_.data_only_ = data_only;
	return go(op);
}

int weft_op_close_at(weft_op *op, int fd, const char *where)
{
	int rc = prepare(op, fd, WF_OP_CLOSE, false, where);

	return rc < 0 ? rc : go(op);
}

int weft_op_poll_at(weft_op *op, int fd, int events, const char *where)
{
	int rc = prepare(op, fd, WF_OP_AWAIT, true, where);

	if (rc < 0)
		return rc;
	op->u_.events_ = events;
	return go(op);
}

int wf_op_sendfile(weft_op *op, int fd, struct wf_target in, int64_t offset, size_t len,
		   const char *where)
{
	int rc = offset >= 0 ? prepare(op, fd, WF_OP_SENDFILE, false, where) : -EINVAL;

	if (rc < 0)
		return rc;
	op->u_.file_.in = in.fd;
	op->u_.file_.same = in.mark;
	op->u_.file_.offset = offset;
	op->u_.file_.len = len;
	op->u_.file_.warm = 0;
	return go(op);
}

int weft_op_sendfile_at(weft_op *op, int fd, int in, int64_t offset, size_t len, const char *where)
{
	return wf_op_sendfile(op, fd, wf_target(in), offset, len, where);
}

/* For threads, which know that all is in order. */

WF_HOT void wf_later_read(weft_op *op, int fd, void *buf, size_t len, int64_t offset)
{
	wf_op_fill(op, fd, WF_OP_READ, offset >= 0);
	wf_op_fill_rw(op, buf, len, offset, 0);
	wf_op_submit(op);
}

void wf_later_write(weft_op *op, int fd, const void *buf, size_t len, int64_t offset)
{
	wf_op_fill(op, fd, WF_OP_WRITE, offset >= 0);
	wf_op_fill_rw(op, (void *)(uintptr_t)buf, len, offset, 0);
	wf_op_submit(op);
}

void wf_later_recv(weft_op *op, int fd, void *buf, size_t len, int flags)
{
	wf_op_fill(op, fd, WF_OP_RECV, false);
	wf_op_fill_rw(op, buf, len, -1, flags);
	wf_op_submit(op);
}

void wf_later_send(weft_op *op, int fd, const void *buf, size_t len, int flags)
{
	wf_op_fill(op, fd, WF_OP_SEND, false);
	wf_op_fill_rw(op, (void *)(uintptr_t)buf, len, -1, flags);
	wf_op_submit(op);
}
