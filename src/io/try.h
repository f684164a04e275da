/* try.h - the try that every request pays for, in line: reading what comes in pieces.
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

/* Whether wf_try_read may try it: one plain call that does not wait. */
static inline bool wf_try_simple(const weft_op *op, const struct wf_fd *f, enum wf_kind kind)
{
	if (op->kind_ == WF_OP_READ && kind == WF_KIND_OTHER)
		return __atomic_load_n(&f->nowait, __ATOMIC_RELAXED);
	return (op->kind_ == WF_OP_RECV || op->kind_ == WF_OP_READ) && wf_is_socket(kind) &&
	       !(op->u_.rw_.flags & MSG_WAITALL);
}

/* A short read leaves nothing behind, of TCP unless it only peeked, and of a pipe. */
static inline bool wf_read_left_some(const struct wf_fd *f, enum wf_kind kind, int64_t n,
				     size_t asked, int flags)
{
	return n <= 0 || (size_t)n >= asked || flags & MSG_PEEK ||
	       !(kind == WF_KIND_TCP || (kind == WF_KIND_OTHER && f->pipe));
}

static inline struct wf_tried wf_try_read(const weft_op *op, const struct wf_fd *f,
					  enum wf_kind kind)
{
	void *buf = op->u_.rw_.buf;
	size_t len = op->u_.rw_.len;
	int flags = op->u_.rw_.flags;
	int64_t n;

	do {
		n = WF_FAULT(ENOBUFS);
		if (n < 0)
			break;
		n = kind == WF_KIND_OTHER ? wf_read(op->fd, buf, len)
					  : wf_recv(op->fd, buf, len, flags | MSG_DONTWAIT);
	} while (WF_UNLIKELY(n == -EINTR));
	return (struct wf_tried){ n, wf_read_left_some(f, kind, n, len, flags) };
}

#endif
