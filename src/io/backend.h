/* backend.h - what io_uring and epoll each do in their own way.
 *
 * A poller is one worker's ring or epoll instance. Anything that a poller's
 * owner shall do at its next look at the kernel is put on the poller's list of
 * handed-over operations, by any thread, without a lock.
 */
#ifndef WF_BACKEND_H
#define WF_BACKEND_H

#include "io/op.h"
#include "io/watch.h"

struct wf_worker;

/* Why an operation is on the list; it may be there once for each reason. */
enum wf_handed { WF_HANDED_START, WF_HANDED_CANCEL };

struct wf_poller {
	struct wf_worker *worker;
	int id;
	int wake_fd;        /* an eventfd; written to, never read: each write counts */
	_Atomic bool woken; /* a wake is under way: another one is not needed */
	/* A stack of weft_op addresses, the reason in the lowest bit. */
	_Atomic uintptr_t handed;
};

struct wf_backend {
	const char *name;
	/* Whether the kernel has this backend and lets us use it: 0, or the error of *call. */
	int (*probe)(const char **call);
	/* On the worker's own thread. After `close` only `free` follows. */
	struct wf_poller *(*open)(struct wf_worker *w, int *err);
	void (*close)(struct wf_poller *p);
	void (*free)(struct wf_poller *p);
	int (*poll)(struct wf_poller *p, uint64_t until);
	int (*serve)(struct wf_poller *self, struct wf_poller *stuck);

	/* All of the following with the lock of f held; begin, cancel and offloaded
	 * may give it back meanwhile. */

	/* op has become the head of its direction, or loose. */
	void (*begin)(struct wf_fd *f, weft_op *op, struct wf_after *after);
	/* Asks for the end of a busy operation, soon. */
	void (*cancel)(struct wf_fd *f, weft_op *op, struct wf_after *after);
	/* The offload pool has done what it was given of a busy operation. */
	void (*offloaded)(struct wf_fd *f, weft_op *op, int64_t result, struct wf_after *after);
	/* An operation is being started from worker `id`, which is not home. */
	void (*used_from)(struct wf_fd *f, int id);
	/* The descriptor will be closed, or was: its number begins a new life. */
	void (*forget)(struct wf_fd *f);

	/* Whether f can be waited for: 0, -EPERM or another error. */
	int (*watchable)(struct wf_fd *f, struct wf_after *after);
	/* Makes the watch fire as soon as its descriptor is ready. */
	void (*arm)(struct wf_fd *f, struct wf_watch *w);
	/* Undoes it; true if the watch is free of the backend already, else
	 * wf_watch_disarmed follows. */
	bool (*disarm)(struct wf_fd *f, struct wf_watch *w);
};

extern const struct wf_backend wf_uring, wf_epoll;

/* How many of the newer features of io_uring to leave unused, 0 to 2: so that
 * tests see what older kernels do. */
extern unsigned wf_uring_modesty;

/* The one in use. */
extern const struct wf_backend *wf_io;

/* The poller of worker `id`, or any that is open; NULL if the runtime is at its end. */
struct wf_poller *wf_poller_of(int id);
/* That of the calling worker, whose poller is open; if the caller is none, that of `id`. */
static inline struct wf_poller *wf_poller_here(const struct wf_worker *self, int id)
{
	return WF_LIKELY(self != NULL) ? wf_worker_poller(self) : wf_poller_of(id);
}

/* Next worker for a descriptor that is new to us. */
int wf_next_home(void);

/* Puts op on p's list, and wakes p's worker if it is not the caller. */
void wf_hand(struct wf_poller *p, weft_op *op, enum wf_handed why);

/* Takes the whole list, first handed first; follow it with wf_handed_next. */
uintptr_t wf_handed_take(struct wf_poller *p);

static inline weft_op *wf_handed_op(uintptr_t entry)
{
	return (weft_op *)(entry & ~(uintptr_t)1);
}

static inline enum wf_handed wf_handed_why(uintptr_t entry)
{
	return (enum wf_handed)(entry & 1);
}

static inline uintptr_t wf_handed_next(uintptr_t entry)
{
	return (uintptr_t)wf_handed_op(entry)->link_[wf_handed_why(entry)];
}

int wf_poller_init(struct wf_poller *p, struct wf_worker *w);
void wf_poller_fini(struct wf_poller *p);

/* A poll that waits (now or next) returns. */
void wf_poller_wake(struct wf_poller *p);
/* The same, though a wake is under way: another may have taken that. */
void wf_poller_wake_again(struct wf_poller *p);
/* Whether a wake came since the last time. */
bool wf_poller_woken(struct wf_poller *p);

#endif
