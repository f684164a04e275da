/* plain.c - real functions for public calls that are macros, so that a program can take their
 * address. A call by name uses the macro, which adds the caller's file and line.
 */
#include <weft/io.h>

#include "base/report.h"

int(weft_on_fd)(int fd, int what, weft_color color, weft_fn *fn, void *arg)
{
	return weft_on_fd_at(fd, what, color, fn, arg, WF_NO_PLACE);
}

int(weft_op_read)(weft_op *op, int fd, void *buf, size_t len)
{
	return weft_op_read_at(op, fd, buf, len, WF_NO_PLACE);
}

int(weft_op_write)(weft_op *op, int fd, const void *buf, size_t len)
{
	return weft_op_write_at(op, fd, buf, len, WF_NO_PLACE);
}

int(weft_op_pread)(weft_op *op, int fd, void *buf, size_t len, int64_t offset)
{
	return weft_op_pread_at(op, fd, buf, len, offset, WF_NO_PLACE);
}

int(weft_op_pwrite)(weft_op *op, int fd, const void *buf, size_t len, int64_t offset)
{
	return weft_op_pwrite_at(op, fd, buf, len, offset, WF_NO_PLACE);
}

int(weft_op_readv)(weft_op *op, int fd, const struct iovec *iov, size_t count, int64_t offset)
{
	return weft_op_readv_at(op, fd, iov, count, offset, WF_NO_PLACE);
}

int(weft_op_writev)(weft_op *op, int fd, const struct iovec *iov, size_t count, int64_t offset)
{
	return weft_op_writev_at(op, fd, iov, count, offset, WF_NO_PLACE);
}

int(weft_op_recv)(weft_op *op, int fd, void *buf, size_t len, int flags)
{
	return weft_op_recv_at(op, fd, buf, len, flags, WF_NO_PLACE);
}

int(weft_op_send)(weft_op *op, int fd, const void *buf, size_t len, int flags)
{
	return weft_op_send_at(op, fd, buf, len, flags, WF_NO_PLACE);
}

int(weft_op_recvmsg)(weft_op *op, int fd, struct msghdr *msg, int flags)
{
	return weft_op_recvmsg_at(op, fd, msg, flags, WF_NO_PLACE);
}

int(weft_op_sendmsg)(weft_op *op, int fd, struct msghdr *msg, int flags)
{
	return weft_op_sendmsg_at(op, fd, msg, flags, WF_NO_PLACE);
}

int(weft_op_accept)(weft_op *op, int fd, struct sockaddr *addr, socklen_t *len)
{
	return weft_op_accept_at(op, fd, addr, len, WF_NO_PLACE);
}

int(weft_op_connect)(weft_op *op, int fd, const struct sockaddr *addr, socklen_t len)
{
	return weft_op_connect_at(op, fd, addr, len, WF_NO_PLACE);
}

int(weft_op_open)(weft_op *op, int dir, const char *path, int flags, unsigned mode)
{
	return weft_op_open_at(op, dir, path, flags, mode, WF_NO_PLACE);
}

int(weft_op_fsync)(weft_op *op, int fd, bool data_only)
{
	return weft_op_fsync_at(op, fd, data_only, WF_NO_PLACE);
}

int(weft_op_close)(weft_op *op, int fd)
{
	return weft_op_close_at(op, fd, WF_NO_PLACE);
}

int(weft_op_sendfile)(weft_op *op, int fd, int in, int64_t offset, size_t len)
{
	return weft_op_sendfile_at(op, fd, in, offset, len, WF_NO_PLACE);
}

int(weft_op_poll)(weft_op *op, int fd, int events)
{
	return weft_op_poll_at(op, fd, events, WF_NO_PLACE);
}
