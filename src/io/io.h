/* io.h - the door of io: how every kernel wait becomes an event.
 *
 * The scheduler reaches io by the table wf_pollers (scheduler/poller.h); the
 * layers above use the public calls of weft/io.h, and wf_now_... to be answered
 * at once where that can be.
 */
#ifndef WF_IO_H
#define WF_IO_H

#include <weft/io.h>

#include "base/fault.h"
#include "io/kernel.h"
#include "scheduler/poller.h"

/* The call was not made, or had no effect: it may have to wait, or it is not its
 * turn. Start an operation. */
#define WF_NOW_WAIT INT64_MIN

/* Make a call, if it can be answered at once: what its operation's result would be,
 * or WF_NOW_WAIT. Those that write or send a file may have done a part of it.
 * `urge`: even where it is not likely to succeed. On a worker, no lock held. */
int64_t wf_now_read(int fd, void *buf, size_t len, bool urge);
int64_t wf_now_readv(int fd, const struct iovec *iov, size_t count, int64_t offset, bool urge);
int64_t wf_now_writev(int fd, const struct iovec *iov, size_t count, int64_t offset, bool urge);
int64_t wf_now_recv(int fd, void *buf, size_t len, int flags, bool urge);
int64_t wf_now_recvmsg(int fd, struct msghdr *msg, int flags, bool urge);
int64_t wf_now_sendmsg(int fd, struct msghdr *msg, int flags, bool urge);
int64_t wf_now_accept(int fd, struct sockaddr *addr, socklen_t *len, bool urge);
int64_t wf_now_sendfile(int fd, int in, int64_t offset, size_t len, bool urge);
int64_t wf_now_open(int dir, const char *path, int flags);
int64_t wf_now_close(int fd);

/* Writing and sending, in line as most of it is answered at once. */
enum wf_now_how { WF_NOW_ASK, WF_NOW_WRITE, WF_NOW_PAIR, WF_NOW_SEND };
enum wf_now_how wf_now_how(int fd, bool urge);
int64_t wf_now_ask_write(int fd, const void *buf, size_t len, int64_t offset, bool urge);
int64_t wf_now_ask_send(int fd, const void *buf, size_t len, int flags, bool urge);

/* WF_NOW_PAIR: after writing to a pipe, for who waits at its other end. One of the caller's
 * color that runs `resume` (NULL: none) stands by until the caller waits. */
void wf_now_written(int fd, weft_fn *resume);

/* An error that may come from a wrong idea of the descriptor is left to an operation. */
static inline int64_t wf_now_answer(int64_t n)
{
	return WF_UNLIKELY(n < 0) && (n == -EAGAIN || n == -EINTR || n == -EBADF || n == -ENOTSOCK)
		       ? WF_NOW_WAIT
		       : n;
}

static inline int64_t wf_now_write(int fd, const void *buf, size_t len, int64_t offset, bool urge,
				   weft_fn *resume)
{
	enum wf_now_how how = offset < 0 ? wf_now_how(fd, urge) : WF_NOW_ASK;
	int64_t n;

	if (WF_UNLIKELY(how == WF_NOW_ASK))
		return wf_now_ask_write(fd, buf, len, offset, urge);
	n = WF_FAULT(ENOBUFS);
	if (n == 0)
		n = how == WF_NOW_SEND ? wf_send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL)
				       : wf_write(fd, buf, len);
	if (how == WF_NOW_PAIR && n > 0)
		wf_now_written(fd, resume);
	return wf_now_answer(n);
}

static inline int64_t wf_now_send(int fd, const void *buf, size_t len, int flags, bool urge)
{
	int64_t n;

	if (WF_UNLIKELY(flags & (MSG_WAITALL | MSG_DONTWAIT)) ||
	    wf_now_how(fd, urge) != WF_NOW_SEND)
		return wf_now_ask_send(fd, buf, len, flags, urge);
	n = WF_FAULT(ENOBUFS);
	if (n == 0)
		n = wf_send(fd, buf, len, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	return wf_now_answer(n);
}

/* wf_now_read at an offset. All is in line, as it has to cost what pread(2) does. The
 * page cache is asked; wf_now_short judges what it did not answer in full. */
bool wf_now_cached(int fd);
int64_t wf_now_short(int fd, int64_t n, int64_t offset);

static inline int64_t wf_now_pread(int fd, void *buf, size_t len, int64_t offset)
{
	struct iovec iov = { buf, len };
	int64_t n;

	if (WF_UNLIKELY(!wf_now_cached(fd)))
		return WF_NOW_WAIT;
	n = WF_FAULT(ENOBUFS);
	if (n == 0)
		n = wf_preadv2(fd, &iov, 1, offset, RWF_NOWAIT);
	if (WF_UNLIKELY(n != (int64_t)len))
		return wf_now_short(fd, n, offset);
	return n;
}

/* Start an operation that a thread is about to wait for, as weft_op_read and so on. The
 * caller is on a worker, and its event is good: nothing is checked. */
void wf_later_read(weft_op *op, int fd, void *buf, size_t len, int64_t offset);
void wf_later_write(weft_op *op, int fd, const void *buf, size_t len, int64_t offset);
void wf_later_recv(weft_op *op, int fd, void *buf, size_t len, int flags);
void wf_later_send(weft_op *op, int fd, const void *buf, size_t len, int flags);

/* What weft_op_init does to memory that was none, but for the event. The rest is filled
 * in when it is started. */
static inline void wf_op_fresh(weft_op *op)
{
	op->state_ = 0;
	op->result = 0;
}

/* An operation that waited has left some to read or accept, as it seems: the next
 * call is worth a try. */
void wf_now_more(int fd);

#endif
