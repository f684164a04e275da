/* uring.h - one worker's ring, shared by the files of the io_uring backend:
 * uring.c looks at the kernel, uring_op.c knows what an operation goes through,
 * uring_entry.c fills in entries of the ring.
 */
#ifndef WF_URING_H
#define WF_URING_H

#include <liburing.h>

#include "base/lock.h"
#include "io/backend.h"

/* What an operation is in the kernel for, in weft_op.how_. Belongs to whoever has
 * the operation: the starter, the list, the ring. */
enum {
	WF_HOW_PLAIN,
	WF_HOW_SOCKET,      /* as recv or send, even if it was called read or write */
	WF_HOW_SOCKET_POLL, /* the same, and it is not ready: wait first */
	WF_HOW_POLL,        /* waiting until it is worth another try */
};

/* user_data of completions: the address of an operation, with the lowest bit for
 * the outcome of cancelling it; or one of these. */
enum {
	WF_DATA_CANCEL = 1,
	WF_DATA_WAKE = 2,
	WF_DATA_NONE = 4,
	WF_DATA_ALARM = 6,
	WF_DATA_LAST = WF_DATA_ALARM
};

struct wf_uring {
	struct wf_poller base;
	/* The owner's. */
	struct io_uring ring;
	bool open;
	bool denied;                       /* io_uring_enter is denied for good */
	bool alone;                        /* the kernel completes nothing until the owner asks */
	uintptr_t todo;                    /* taken from the list, but the ring was full */
	uint64_t submitted;                /* entries that will complete */
	struct __kernel_timespec alarm_in; /* the kernel reads it when it takes the entry */
	bool stirred;                      /* taking the list made work here: do not sleep */
	/* Whoever reads completions holds the lock, or is alone. */
	struct wf_lock lock;
	uint64_t completed;
	_Atomic bool wake_armed;
	_Atomic uint64_t alarm; /* when the ring's goes off, as wf_now; UINT64_MAX: never */
};

/* What this kernel can do, besides the least that we need. */
extern struct wf_uring_kernel {
	unsigned setup;  /* IORING_SETUP_... that it knows */
	bool since_5_19; /* IORING_RECVSEND_POLL_FIRST, IOSQE_CQE_SKIP_SUCCESS */
	unsigned probed; /* 1 + wf_uring_modesty of the last probe, or 0 */
	_Atomic bool no_sync_cancel;
} wf_uring_kernel;

/* Entries. Room must be asked for first, once for each. */
bool wf_uring_room(struct wf_uring *u);
void wf_uring_put(struct wf_uring *u, weft_op *op);
void wf_uring_put_cancel(struct wf_uring *u, const weft_op *op);

/* The kernel, or whoever did its work, has an outcome for op. What there is to deliver
 * may wait in *after for more. */
void wf_uring_complete(weft_op *op, int64_t n, unsigned flags, struct wf_after *after);

/* A cancel entry has been taken off the list. wf_uring_forward sends it on if its
 * operation moved to another ring. Else wf_uring_must_cancel tells whether the
 * kernel has the operation; wf_uring_cancelled must follow, with the result of
 * cancelling it there. Until then the operation is held back. */
bool wf_uring_forward(struct wf_poller *p, weft_op *op);
bool wf_uring_must_cancel(weft_op *op);
void wf_uring_cancelled(weft_op *op, int result);

/* For the backend's table. */
void wf_uring_begin(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock);
void wf_uring_cancel(struct wf_fd *f, weft_op *op, struct wf_after *after) WF_REQUIRES(f->lock);
void wf_uring_offloaded(struct wf_fd *f, weft_op *op, int64_t n, struct wf_after *after)
	WF_REQUIRES(f->lock);
void wf_uring_used_from(struct wf_fd *f, int id) WF_REQUIRES(f->lock);
void wf_uring_forget(struct wf_fd *f) WF_REQUIRES(f->lock);
int wf_uring_watchable(struct wf_fd *f, struct wf_after *after) WF_REQUIRES(f->lock);
void wf_uring_arm(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock);
bool wf_uring_disarm(struct wf_fd *f, struct wf_watch *w) WF_REQUIRES(f->lock);

#endif
