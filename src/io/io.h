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
#include "io/fd.h"
#include "io/kernel.h"
#include "scheduler/poller.h"

/* A descriptor as a call found it when it began: its number, and a mark that tells it from later
 * descriptors with the same number. If Weft closes the descriptor between two steps of a call, or
 * while the call waits, the next step ends with -EBADF, and does not reach a later descriptor. */
struct wf_target {
	int fd;
	uint16_t mark; /* 0: whichever has the number */
};

/* Target of a call that takes one step: a try, and then perhaps an operation. */
static inline struct wf_target wf_number(int fd)
{
	return (struct wf_target){ fd, 0 };
}

/* Target of a call that takes several steps. */
static inline struct wf_target wf_target(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);

	return (struct wf_target){ fd, f != NULL ? wf_fd_mark_now(f) : wf_fd_mark_of(0) };
}

/* Whether the number still means the same descriptor. */
static inline bool wf_target_good(struct wf_target t)
{
	return wf_target(t.fd).mark == t.mark;
}

/* The call was not made, or had no effect: it may have to wait, or it is not its
 * turn. Start an operation. */
#define WF_NOW_WAIT INT64_MIN

/* The result of a try, and the mark of the descriptor that was tried: further steps must use the
 * same descriptor. */
struct wf_now {
	int64_t n;
	uint16_t mark;
};

/* Make a call, if it can be answered at once: what its operation's result would be,
 * or WF_NOW_WAIT. Those that write or send a file may have done a part of it.
 * `urge`: even where it is not likely to succeed. On a worker, no lock held. */
struct wf_now wf_now_read(struct wf_target t, void *buf, size_t len, bool urge);
struct wf_now wf_now_readv(struct wf_target t, const struct iovec *iov, size_t count,
			   int64_t offset, bool urge);
struct wf_now wf_now_writev(struct wf_target t, const struct iovec *iov, size_t count,
			    int64_t offset, bool urge);
struct wf_now wf_now_recv(struct wf_target t, void *buf, size_t len, int flags, bool urge);
struct wf_now wf_now_recvmsg(struct wf_target t, struct msghdr *msg, int flags, bool urge);
struct wf_now wf_now_sendmsg(struct wf_target t, struct msghdr *msg, int flags, bool urge);
struct wf_now wf_now_accept(struct wf_target t, struct sockaddr *addr, socklen_t *len, bool urge);
struct wf_now wf_now_sendfile(struct wf_target t, struct wf_target in, int64_t offset, size_t len,
			      bool urge);
int64_t wf_now_open(int dir, const char *path, int flags);
int64_t wf_now_close(int fd);

/* Writing and sending; inline, as most calls are answered immediately. wf_now_how returns the
 * descriptor's record, held (wf_fd_hold), with a wf_now_how in its lowest bits; WF_NOW_ASK and
 * WF_NOW_CLOSED come without a record. */
enum wf_now_how { WF_NOW_ASK, WF_NOW_WRITE, WF_NOW_PAIR, WF_NOW_SEND, WF_NOW_CLOSED };
enum { WF_NOW_HOW = 7 };
uintptr_t wf_now_how(struct wf_target t, bool urge);
struct wf_now wf_now_ask_write(struct wf_target t, const void *buf, size_t len, int64_t offset,
			       bool urge);
struct wf_now wf_now_ask_send(struct wf_target t, const void *buf, size_t len, int flags,
			      bool urge);

/* WF_NOW_PAIR: after writing to a pipe, for who waits at its other end. One of the caller's
 * color that runs `resume` (NULL: none) stands by until the caller waits. */
void wf_now_written(int fd, weft_fn *resume);

/* Leaves errors to an operation that may only mean that the record was wrong about the descriptor
 * or about what it can do. */
static inline int64_t wf_now_answer(int64_t n)
{
	return WF_UNLIKELY(n < 0) && (n == -EAGAIN || n == -EINTR || n == -EBADF ||
				      n == -ENOTSOCK || n == -EOPNOTSUPP)
		       ? WF_NOW_WAIT
		       : n;
}

/* Drops the record: the call is not made after all. */
static inline void wf_now_not(uintptr_t held)
{
	if (held > WF_NOW_HOW)
		wf_fd_drop((struct wf_fd *)(held & ~(uintptr_t)WF_NOW_HOW));
}

/* Makes the call; `held` is what wf_now_how returned. */
static inline struct wf_now wf_now_do(uintptr_t held, int fd, const void *buf, size_t len,
				      int flags)
{
	struct wf_fd *f = (struct wf_fd *)(held & ~(uintptr_t)WF_NOW_HOW);
	struct wf_now now = { .n = WF_FAULT(ENOBUFS) };

	if (now.n == 0)
		now.n = (held & WF_NOW_HOW) == WF_NOW_SEND
				? wf_send(fd, buf, len, flags | MSG_DONTWAIT | MSG_NOSIGNAL)
				: wf_write_nowait(fd, buf, len, wf_fd_nowait(f));
	if (WF_UNLIKELY(now.n < 0)) {
		now.n = wf_now_answer(now.n);
		now.mark = wf_fd_mark(f);
	}
	wf_fd_drop(f);
	return now;
}

static inline struct wf_now wf_now_write(struct wf_target t, const void *buf, size_t len,
					 int64_t offset, bool urge, weft_fn *resume)
{
	uintptr_t held = offset < 0 ? wf_now_how(t, urge) : WF_NOW_ASK;
	struct wf_now now;

	if (WF_UNLIKELY(held == WF_NOW_ASK))
		return wf_now_ask_write(t, buf, len, offset, urge);
	if (WF_UNLIKELY(held == WF_NOW_CLOSED))
		return (struct wf_now){ .n = -EBADF };
	now = wf_now_do(held, t.fd, buf, len, 0);
	if ((held & WF_NOW_HOW) == WF_NOW_PAIR && now.n > 0)
		wf_now_written(t.fd, resume);
	return now;
}

static inline struct wf_now wf_now_send(struct wf_target t, const void *buf, size_t len, int flags,
					bool urge)
{
	if (WF_LIKELY(!(flags & (MSG_WAITALL | MSG_DONTWAIT)))) {
		uintptr_t held = wf_now_how(t, urge);

		if (WF_LIKELY((held & WF_NOW_HOW) == WF_NOW_SEND))
			return wf_now_do(held, t.fd, buf, len, flags);
		wf_now_not(held);
	}
	return wf_now_ask_send(t, buf, len, flags, urge);
}

/* wf_now_read at an offset. All is in line, as it has to cost what pread(2) does. The
 * page cache is asked; wf_now_short judges what it did not answer in full. */
bool wf_now_cached(int fd);
int64_t wf_now_short(int fd, int64_t n, int64_t offset);

static inline int64_t wf_now_pread(struct wf_target t, void *buf, size_t len, int64_t offset)
{
	struct iovec iov = { buf, len };
	int64_t n;

	if (WF_UNLIKELY(!wf_now_cached(t.fd)))
		return WF_NOW_WAIT;
	n = WF_FAULT(ENOBUFS);
	if (n == 0)
		n = wf_preadv2(t.fd, &iov, 1, offset, RWF_NOWAIT);
	if (WF_UNLIKELY(n != (int64_t)len))
		n = wf_now_short(t.fd, n, offset);
	return WF_LIKELY(wf_target_good(t)) ? n : -EBADF;
}

/* Start an operation that a thread is about to wait for, as weft_op_read and so on. The
 * caller is on a worker, and its event is good: nothing is checked. As with all operations,
 * op->same_ is the mark of the descriptor, or 0. */
void wf_later_read(weft_op *op, int fd, void *buf, size_t len, int64_t offset);
void wf_later_write(weft_op *op, int fd, const void *buf, size_t len, int64_t offset);
void wf_later_recv(weft_op *op, int fd, void *buf, size_t len, int flags);
void wf_later_send(weft_op *op, int fd, const void *buf, size_t len, int flags);

/* What weft_op_init does to memory that was none, but for the event. The rest is filled
 * in when it is started. */
static inline void wf_op_fresh(weft_op *op, uint16_t mark)
{
	op->state_ = 0;
	op->result = 0;
	op->same_ = mark;
}

/* weft_op_sendfile, of a file as it was when the call began. */
int wf_op_sendfile(weft_op *op, int fd, struct wf_target in, int64_t offset, size_t len,
		   const char *where);

/* An operation that waited has left some to read or accept, as it seems: the next
 * call is worth a try. */
void wf_now_more(int fd);

#endif
