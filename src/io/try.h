/* try.h - the try that every request pays for, in line: streams, and what comes in pieces.
 *
 * Everything else is in try.c, which says what a try is.
 */
#ifndef WF_TRY_H
#define WF_TRY_H

#include "base/fault.h"
#include "io/kernel.h"
#include "io/op.h"

static inline bool wf_is_socket(enum wf_kind kind)
{
	return kind == WF_KIND_TCP || kind == WF_KIND_SOCKET;
}

/* Pipes, terminals and the like. */
struct wf_tried wf_try_other(const weft_op *op);

/* Whether wf_try_plain may try it: one plain call that does not wait. */
static inline bool wf_try_simple(const weft_op *op, const struct wf_fd *f, enum wf_kind kind)
{
	const unsigned rw = 1u << WF_OP_READ | 1u << WF_OP_WRITE;
	const unsigned stream = rw | 1u << WF_OP_RECV | 1u << WF_OP_SEND;

	if (wf_is_socket(kind))
		return stream >> op->kind_ & 1 && !(op->u_.rw_.flags & MSG_WAITALL);
	return rw >> op->kind_ & 1 && kind == WF_KIND_OTHER && op->u_.rw_.offset < 0 &&
	       (wf_fd_nowait(f) || wf_fd_pipe(f));
}

/* A short read leaves nothing behind, of TCP unless it only peeked, and of a pipe. */
static inline bool wf_read_left_some(const struct wf_fd *f, enum wf_kind kind, int64_t n,
				     size_t asked, int flags)
{
	return n <= 0 || (size_t)n >= asked || flags & MSG_PEEK ||
	       !(kind == WF_KIND_TCP || (kind == WF_KIND_OTHER && wf_fd_pipe(f)));
}

static inline struct wf_tried wf_try_plain(const weft_op *op, const struct wf_fd *f,
					   enum wf_kind kind, int d)
{
	void *buf = op->u_.rw_.buf;
	size_t len = op->u_.rw_.len;
	int flags = op->u_.rw_.flags;
	int64_t n;

	do {
		n = WF_FAULT(ENOBUFS);
		if (n < 0)
			break;
		if (kind == WF_KIND_OTHER)
			n = d == WF_IN ? wf_read_nowait(op->fd, buf, len, wf_fd_nowait(f))
				       : wf_write_nowait(op->fd, buf, len, wf_fd_nowait(f));
		else if (d == WF_IN)
			n = wf_recv(op->fd, buf, len, flags | MSG_DONTWAIT);
		else
			n = wf_send(op->fd, buf, len, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (WF_UNLIKELY(n == -EINTR));
	if (WF_UNLIKELY(n == -EOPNOTSUPP && kind == WF_KIND_OTHER))
		return wf_try_other(op);
	return (struct wf_tried){ n, d == WF_OUT || wf_read_left_some(f, kind, n, len, flags) };
}

#endif
