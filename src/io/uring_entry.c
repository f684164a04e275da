/* uring_entry.c - an operation as an entry of a ring. */
#ifdef WEFT_HAVE_URING
#include "io/uring.h"

#include <errno.h>
#include <poll.h>

#include "base/fault.h"

static void prep_rw(struct io_uring_sqe *sqe, const weft_op *op)
{
	unsigned len = (unsigned)op->u_.rw_.len;
	uint64_t offset = (uint64_t)op->u_.rw_.offset;

	io_uring_prep_rw(op->kind_ == WF_OP_READ ? IORING_OP_READ : IORING_OP_WRITE, sqe, op->fd,
			 op->u_.rw_.buf, len, offset);
}

static void prep_socket_rw(struct io_uring_sqe *sqe, const weft_op *op)
{
	if (wf_op_dir(op) == WF_IN)
		io_uring_prep_recv(sqe, op->fd, op->u_.rw_.buf, op->u_.rw_.len, op->u_.rw_.flags);
	else
		io_uring_prep_send(sqe, op->fd, op->u_.rw_.buf, op->u_.rw_.len,
				   op->u_.rw_.flags | MSG_NOSIGNAL);
	if (op->how_ == WF_HOW_SOCKET_POLL)
		sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
}

static void prep_poll(struct io_uring_sqe *sqe, const weft_op *op, int dir)
{
	io_uring_prep_poll_add(sqe, op->fd, dir == WF_IN ? POLLIN | POLLRDHUP : POLLOUT);
}

static void prep_kind(struct io_uring_sqe *sqe, const weft_op *op)
{
	switch ((enum wf_op_kind)op->kind_) {
	case WF_OP_READ:
	case WF_OP_WRITE:
		prep_rw(sqe, op);
		break;
	case WF_OP_READV:
		io_uring_prep_readv(sqe, op->fd, op->u_.iov_.iov, (unsigned)op->u_.iov_.count,
				    (uint64_t)op->u_.iov_.offset);
		break;
	case WF_OP_WRITEV:
		io_uring_prep_writev(sqe, op->fd, op->u_.iov_.iov, (unsigned)op->u_.iov_.count,
				     (uint64_t)op->u_.iov_.offset);
		break;
	case WF_OP_RECVMSG:
		io_uring_prep_recvmsg(sqe, op->fd, op->u_.msg_.msg, (unsigned)op->u_.msg_.flags);
		break;
	case WF_OP_SENDMSG:
		io_uring_prep_sendmsg(sqe, op->fd, op->u_.msg_.msg,
				      (unsigned)op->u_.msg_.flags | MSG_NOSIGNAL);
		break;
	case WF_OP_ACCEPT:
		io_uring_prep_accept(sqe, op->fd, op->u_.addr_.addr, op->u_.addr_.len,
				     SOCK_CLOEXEC);
		break;
	case WF_OP_CONNECT:
		io_uring_prep_connect(sqe, op->fd, op->u_.addr_.addr, op->u_.addr_.size);
		break;
	case WF_OP_OPEN:
		io_uring_prep_openat(sqe, op->u_.open_.dir, op->u_.open_.path,
				     op->u_.open_.flags | O_CLOEXEC | O_NONBLOCK,
				     op->u_.open_.mode);
		break;
	case WF_OP_FSYNC:
		io_uring_prep_fsync(sqe, op->fd, op->u_.data_only_ ? IORING_FSYNC_DATASYNC : 0);
		break;
	case WF_OP_CLOSE:
		io_uring_prep_close(sqe, op->fd);
		if (op->flags_ & WF_OP_LINGERS)
			sqe->flags |= IOSQE_ASYNC;
		break;
	case WF_OP_POLL:
		prep_poll(sqe, op, WF_CONTAINER(op, struct wf_watch, op)->dir);
		break;
	case WF_OP_AWAIT:
		io_uring_prep_poll_add(sqe, op->fd, (unsigned)op->u_.events_);
		break;
	default:
		break;
	}
}

WF_HOT void wf_uring_put(struct wf_uring *u, weft_op *op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (op->how_ == WF_HOW_POLL)
		prep_poll(sqe, op, wf_op_dir(op));
	else if (op->how_ == WF_HOW_PLAIN)
		prep_kind(sqe, op);
	else
		prep_socket_rw(sqe, op);
	io_uring_sqe_set_data(sqe, op);
	u->submitted++;
}

void wf_uring_put_cancel(struct wf_uring *u, const weft_op *op)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	io_uring_prep_cancel64(sqe, (uint64_t)(uintptr_t)op, 0);
	io_uring_sqe_set_data64(sqe, (uint64_t)(uintptr_t)op | WF_DATA_CANCEL);
}

static int submit(struct wf_uring *u)
{
	int err = WF_FAULT(EAGAIN);

	return err < 0 ? err : io_uring_submit(&u->ring);
}

/* Submitting makes room, if the kernel takes any. */
bool wf_uring_room(struct wf_uring *u)
{
	if (WF_LIKELY(io_uring_sq_space_left(&u->ring) > 0))
		return true;
	(void)submit(u);
	return io_uring_sq_space_left(&u->ring) > 0;
}
#else
typedef int wf_no_uring_entry_in_this_build;
#endif
