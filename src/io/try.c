/* try.c - one system call for an operation, such that it never blocks a worker.
 *
 * Calls on sockets have MSG_DONTWAIT, those on other descriptors RWF_NOWAIT. O_NONBLOCK belongs to
 * the open file description, which other processes may share and change at any time, so Weft
 * works with either setting. Only accept(2) with epoll needs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "io/backend.h"
#include "io/try.h"

bool wf_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && flags & O_NONBLOCK;
}

WF_NOINLINE int64_t wf_read_asking(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };

	return wf_nowait_result(wf_preadv2(fd, &iov, 1, -1, RWF_NOWAIT));
}

WF_NOINLINE int64_t wf_write_asking(int fd, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	int64_t n = WF_SYSCALL(pwritev2(fd, &iov, 1, -1, RWF_NOWAIT), SYS_pwritev2, fd, &iov, 1, -1,
			       -1, RWF_NOWAIT);

	return wf_nowait_result(n);
}

static bool ready_now(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return wf_poll_now(&p, 1) != 0;
}

/* Sockets */

/* Whether MSG_WAITALL means anything: a datagram is whole in any case. */
static WF_NOINLINE bool waits_for_all(const weft_op *op, enum wf_kind kind)
{
	int type = SOCK_STREAM;
	socklen_t len = sizeof type;

	if (op->u_.rw_.flags & MSG_PEEK)
		return false;
	if (kind != WF_KIND_TCP)
		getsockopt(op->fd, SOL_SOCKET, SO_TYPE, &type, &len);
	return type == SOCK_STREAM || type == SOCK_SEQPACKET;
}

static bool wants_all(const weft_op *op, enum wf_kind kind)
{
	return WF_UNLIKELY(op->u_.rw_.flags & MSG_WAITALL) && waits_for_all(op, kind);
}

/* MSG_WAITALL goes on until the kernel itself says to wait: a short transfer does
 * not prove that it will tell when there is more. */
static struct wf_tried try_recv_all(weft_op *op, enum wf_kind kind)
{
	int flags = op->u_.rw_.flags;
	bool all = wants_all(op, kind), more;
	int64_t n;

	do {
		size_t len = op->u_.rw_.len - op->done_;
		char *buf = (char *)op->u_.rw_.buf + op->done_;

		n = wf_recv(op->fd, buf, len, flags | MSG_DONTWAIT);
		more = wf_read_left_some(op->record_, kind, n, len, flags);
		if (!all || n < 0)
			return (struct wf_tried){ n, more };
		op->done_ += (size_t)n;
	} while (n > 0 && op->done_ < op->u_.rw_.len);
	return (struct wf_tried){ (int64_t)op->done_, more };
}

static int64_t try_send(weft_op *op, enum wf_kind kind)
{
	int flags = op->u_.rw_.flags;
	bool all = wants_all(op, kind);
	int64_t n;

	do {
		size_t len = op->u_.rw_.len - op->done_;
		const char *buf = (const char *)op->u_.rw_.buf + op->done_;

		n = wf_send(op->fd, buf, len, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
		if (WF_LIKELY(!all) || n < 0)
			return n;
		op->done_ += (size_t)n;
	} while (op->done_ < op->u_.rw_.len);
	return (int64_t)op->done_;
}

static int64_t try_vector_socket(const weft_op *op)
{
	struct msghdr msg = {
		.msg_iov = (struct iovec *)(uintptr_t)op->u_.iov_.iov,
		.msg_iovlen = op->u_.iov_.count,
	};

	if (op->kind_ == WF_OP_READV)
		return wf_result(recvmsg(op->fd, &msg, MSG_DONTWAIT));
	return wf_result(sendmsg(op->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL));
}

/* Whether a socket is listening; true if that cannot be found out. */
static bool listening(int fd)
{
	int on = 0;
	socklen_t len = sizeof on;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) < 0)
		return errno != ENOTSOCK && errno != EBADF;
	return on;
}

/* accept(2) knows no MSG_DONTWAIT, and asking before does not help where another
 * process takes connections from the same queue. io_uring can wait for a connection at a
 * blocking socket; epoll cannot, and makes the socket non-blocking. */
static int64_t try_accept(const weft_op *op)
{
	int flags = fcntl(op->fd, F_GETFL);

	if (flags < 0 || (!(flags & O_NONBLOCK) && listening(op->fd))) {
		if (wf_io != &wf_epoll)
			return -EAGAIN;
		if (flags < 0 || fcntl(op->fd, F_SETFL, flags | O_NONBLOCK) < 0)
			return -errno;
	}
	return wf_result(accept4(op->fd, op->u_.addr_.addr, op->u_.addr_.len, SOCK_CLOEXEC));
}

/* Nor does connect(2): for the moment of the call the socket, which nobody else
 * can use yet, is made non-blocking. */
static int64_t connect_nowait(int fd, const struct sockaddr *addr, socklen_t size)
{
	int flags = fcntl(fd, F_GETFL);
	bool blocking = flags >= 0 && !(flags & O_NONBLOCK);
	int64_t r;

	if (blocking)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = wf_result(connect(fd, addr, size));
	if (blocking)
		fcntl(fd, F_SETFL, flags);
	return r;
}

static int64_t try_connect(weft_op *op)
{
	bool again = op->flags_ & WF_OP_CONNECTING;
	int64_t r = connect_nowait(op->fd, op->u_.addr_.addr, op->u_.addr_.size);

	if (r == -EINPROGRESS || (again && r == -EALREADY)) {
		op->flags_ |= WF_OP_CONNECTING;
		return -EAGAIN;
	}
	if (again && r == -EISCONN)
		return 0;
	return r;
}

/* Files and everything else */

struct span {
	struct iovec one;
	const struct iovec *iov;
	int count;
	int64_t offset;
	size_t len;
	bool write;
};

static struct span span_of(const weft_op *op)
{
	struct span s = { .write = op->kind_ == WF_OP_WRITE || op->kind_ == WF_OP_WRITEV };

	if (op->kind_ == WF_OP_READ || op->kind_ == WF_OP_WRITE) {
		s.one.iov_base = (char *)op->u_.rw_.buf + op->done_;
		s.one.iov_len = s.len = op->u_.rw_.len - op->done_;
		s.count = 1;
		s.offset = op->u_.rw_.offset;
	} else {
		s.iov = op->u_.iov_.iov;
		s.count = (int)op->u_.iov_.count;
		s.offset = op->u_.iov_.offset;
		for (int i = 0; i < s.count; i++)
			s.len += s.iov[i].iov_len;
	}
	if (s.offset >= 0)
		s.offset += (int64_t)op->done_;
	return s;
}

static const struct iovec *parts(const struct span *s)
{
	return s->iov != NULL ? s->iov : &s->one;
}

/* Results as of wf_nowait_result. */
static int64_t transfer_nowait(int fd, const struct span *s)
{
	int64_t n;

	if (s->write)
		n = wf_result(pwritev2(fd, parts(s), s->count, s->offset, RWF_NOWAIT));
	else
		n = wf_preadv2(fd, parts(s), s->count, s->offset, RWF_NOWAIT);
	return wf_nowait_result(n);
}

static int64_t transfer(int fd, const struct span *s)
{
	if (s->offset < 0)
		return wf_result(s->write ? writev(fd, parts(s), s->count)
					  : readv(fd, parts(s), s->count));
	return wf_result(s->write ? pwritev(fd, parts(s), s->count, s->offset)
				  : preadv(fd, parts(s), s->count, s->offset));
}

/* Whether the file ends at `offset`, as far as can be told without waiting. */
static bool ends_at(int fd, int64_t offset)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return preadv2(fd, &iov, 1, offset, RWF_NOWAIT) == 0;
}

/* A file gives what the page cache has. The rest, unless the file ends there, is
 * for a thread that may block. */
static int64_t try_file(weft_op *op)
{
	struct span s = span_of(op);
	/* RWF_NOWAIT waits for the disk where there is no cache. */
	const struct wf_fd *f = op->record_;
	bool direct = __atomic_load_n(&f->direct, __ATOMIC_RELAXED);
	int64_t n = direct ? -EAGAIN : transfer_nowait(op->fd, &s);

	if (n == -EAGAIN || n == -EOPNOTSUPP)
		return WF_TRY_OFFLOAD;
	if (n <= 0 || (size_t)n == s.len || s.offset < 0)
		return n;
	if (!s.write && ends_at(op->fd, s.offset + n))
		return n;
	op->done_ = (size_t)n;
	return WF_TRY_OFFLOAD;
}

/* For descriptors without RWF_NOWAIT (a terminal; pipes on older kernels): asks poll(2) first, and
 * then transfers no more than fits without waiting. Another process could clear O_NONBLOCK before
 * the call, so only a long write relies on it. */
static int64_t try_when_ready(int fd, struct span *s)
{
	struct iovec small;

	if (!ready_now(fd, s->write ? POLLOUT : POLLIN))
		return -EAGAIN;
	if (s->write && !wf_nonblocking(fd) && s->len > PIPE_BUF && s->count > 0) {
		small = s->iov != NULL ? s->iov[0] : s->one;
		if (small.iov_len > PIPE_BUF)
			small.iov_len = PIPE_BUF;
		s->one = small;
		s->iov = NULL;
		s->count = 1;
	}
	return transfer(fd, s);
}

struct wf_tried wf_try_other(const weft_op *op)
{
	struct span s = span_of(op);
	struct wf_tried t = { .n = transfer_nowait(op->fd, &s), .more = true };

	if (t.n == -EOPNOTSUPP)
		t.n = try_when_ready(op->fd, &s);
	else if (!s.write)
		t.more = wf_read_left_some(op->record_, WF_KIND_OTHER, t.n, s.len, 0);
	return t;
}

static int64_t try_transfer(weft_op *op, enum wf_kind kind)
{
	if (kind == WF_KIND_FILE)
		return try_file(op);
	if (op->kind_ == WF_OP_WRITE)
		return try_send(op, kind);
	return try_vector_socket(op);
}

static int64_t try_kind(weft_op *op, enum wf_kind kind)
{
	switch ((enum wf_op_kind)op->kind_) {
	case WF_OP_READ:
	case WF_OP_WRITE:
	case WF_OP_READV:
	case WF_OP_WRITEV:
		return try_transfer(op, kind);
	case WF_OP_SEND:
		return try_send(op, kind);
	case WF_OP_RECVMSG:
		return wf_result(
			recvmsg(op->fd, op->u_.msg_.msg, op->u_.msg_.flags | MSG_DONTWAIT));
	case WF_OP_SENDMSG:
		return wf_result(sendmsg(op->fd, op->u_.msg_.msg,
					 op->u_.msg_.flags | MSG_DONTWAIT | MSG_NOSIGNAL));
	case WF_OP_ACCEPT:
		return try_accept(op);
	case WF_OP_CONNECT:
		return try_connect(op);
	case WF_OP_SENDFILE:
		return wf_try_sendfile(op);
	default:
		return WF_TRY_OFFLOAD;
	}
}

static bool is_recv(const weft_op *op, enum wf_kind kind)
{
	return op->kind_ == WF_OP_RECV || (op->kind_ == WF_OP_READ && wf_is_socket(kind));
}

/* Neither a file nor a socket: pipes, terminals and the like. */
static bool is_other(const weft_op *op, enum wf_kind kind)
{
	return op->kind_ <= WF_OP_WRITEV && kind != WF_KIND_FILE && !wf_is_socket(kind);
}

struct wf_tried wf_try(weft_op *op, enum wf_kind kind)
{
	struct wf_tried t = { .more = true };

	if (wf_try_simple(op, op->record_, kind))
		return wf_try_plain(op, op->record_, kind, wf_op_dir(op));
	do {
		t.n = WF_FAULT(ENOBUFS);
		if (t.n < 0 && op->kind_ != WF_OP_CLOSE)
			return t;
		if (is_recv(op, kind))
			t = try_recv_all(op, kind);
		else if (is_other(op, kind))
			t = wf_try_other(op);
		else
			t.n = try_kind(op, kind);
	} while (t.n == -EINTR);
	return t;
}

/* On a thread that may block */

/* The vectors behind the first op->done_ bytes. */
static int64_t transfer_rest(weft_op *op)
{
	struct iovec rest[IOV_MAX];
	struct span s = span_of(op);
	size_t skip = op->done_;
	int n = 0;

	if (s.iov == NULL || skip == 0)
		return transfer(op->fd, &s);
	for (int i = 0; i < s.count && n < IOV_MAX; i++) {
		struct iovec v = s.iov[i];
		size_t cut = skip < v.iov_len ? skip : v.iov_len;

		skip -= cut;
		v.iov_base = (char *)v.iov_base + cut;
		v.iov_len -= cut;
		if (v.iov_len > 0)
			rest[n++] = v;
	}
	s.iov = rest;
	s.count = n;
	return transfer(op->fd, &s);
}

static int64_t do_transfer(weft_op *op)
{
	int64_t n = transfer_rest(op);

	if (n < 0)
		return n;
	op->done_ += (size_t)n;
	return (int64_t)op->done_;
}

int64_t wf_do_blocking(weft_op *op)
{
	if (WF_FAULT(EIO) < 0 && op->kind_ != WF_OP_CLOSE)
		return -EIO;
	switch ((enum wf_op_kind)op->kind_) {
	case WF_OP_OPEN:
		return wf_result(openat(op->u_.open_.dir, op->u_.open_.path,
					op->u_.open_.flags | O_CLOEXEC | O_NONBLOCK,
					op->u_.open_.mode));
	case WF_OP_FSYNC:
		return wf_result(op->u_.data_only_ ? fdatasync(op->fd) : fsync(op->fd));
	case WF_OP_CLOSE:
		return wf_result(close(op->fd));
	case WF_OP_SENDFILE:
		return wf_warm_file(op);
	default:
		return do_transfer(op);
	}
}
