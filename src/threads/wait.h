/* wait.h - one wait of one thread: what it is for, and how it ends early.
 *
 * Lives on the waiter's stack. A deadline or a cancelled scope ends a wait by calling
 * `cancel` in the waiter's color. cancel either sees to it that the wait ends soon, by the
 * way it would have ended, or finds that it has ended and does nothing. So the waiter is
 * woken once, whoever came first, and what it waited for either happened or did not (X1).
 *
 * Lifetime of what is waited for. Whoever lets a waiter go may free the object next,
 * while the waiter's deadline comes in another color. So each says what it is about
 * to do before it looks at what the other says: `woken`, then `cancelling`, and the
 * other way round. A cancel that finds the waiter woken leaves the object alone; a
 * waker that finds a cancel under way waits for its end, which is as near as that of
 * a section under a spin lock.
 */
#ifndef WF_WAIT_H
#define WF_WAIT_H

#include <weft/sync.h>

#include "base/compiler.h"
#include "scheduler/scheduler.h"

struct weft_thread;

struct wf_wait {
	const char *what;                     /* "read", "mutex" ... for dumps */
	uintptr_t on;                         /* the descriptor, or the object's address */
	void (*cancel)(struct wf_wait *wait); /* NULL: nothing ends it early */
	int error; /* why it was cancelled: -ETIMEDOUT, -ECANCELED; else 0 */
	_Atomic bool woken, cancelling;
};

/* That of a thread for the end of its scope, which is where the rest is: it is never cancelled,
 * and all threads share it. */
extern struct wf_wait wf_wait_finish;

/* Parks the running thread, until woken; calls wait->cancel, with wait->error set, if
 * the deadline comes first, or its scope is cancelled or was. */
void wf_wait(struct wf_wait *wait, uint64_t deadline);

/* Ends it early, for that reason. In the waiter's color, where it waits. */
void wf_wait_cancel(struct wf_wait *wait, int error);

/* Why the caller, who is no thread, may not wait. */
WF_COLD int wf_wait_refused(void);

/* A thread, or a foreign kernel thread, or something without a stack, in the list of those
 * that wait for an object. The object's lock (or color, see home.h) guards it. */
struct wf_waiter {
	struct wf_wait wait;
	struct wf_waiter *next, *prev;
	struct weft_thread *thread; /* NULL: there is none */
	/* Without a thread: what wakes it, on whatever kernel thread, when it may go on; NULL: it
	 * is a foreign kernel thread. */
	void (*wake)(struct wf_waiter *w);
	_Atomic uint32_t futex; /* foreign: 0, then 1 when woken */
	bool listed;            /* in the object's list */
	bool granted;           /* it got what it waited for */
};

/* Sets it up for the caller, who may be a foreign kernel thread. */
void wf_waiter_init(struct wf_waiter *w, const char *what, const void *object,
		    void (*cancel)(struct wf_wait *wait));

/* The same for callers that know the running thread already (NULL: none). */
static inline void wf_waiter_init_as(struct wf_waiter *w, struct weft_thread *self,
				     const char *what, const void *object,
				     void (*cancel)(struct wf_wait *wait))
{
	w->wait.what = what;
	w->wait.on = (uintptr_t)object;
	w->wait.cancel = cancel;
	w->wait.error = 0;
	atomic_init(&w->wait.woken, false);
	atomic_init(&w->wait.cancelling, false);
	w->next = w->prev = NULL;
	w->thread = self;
	w->wake = NULL;
	atomic_init(&w->futex, 0);
	w->listed = w->granted = false;
}

/* The same for one without a stack, which wf_wait and wf_waiter_sleep are not for: it goes
 * on by `wake`. */
static inline void wf_waiter_init_calling(struct wf_waiter *w, const void *object,
					  void (*wake)(struct wf_waiter *w))
{
	wf_waiter_init_as(w, NULL, "event", object, NULL);
	w->wake = wake;
}

static inline bool wf_waiter_is_foreign(const struct wf_waiter *w)
{
	return WF_UNLIKELY(w->thread == NULL) && w->wake == NULL;
}

/* Waits until woken, as wf_wait; a foreign kernel thread sleeps in the kernel, and
 * calls cancel itself when the deadline comes, or when no thread is left to wake it. The error
 * is then -EDEADLK, reported for `where`. */
void wf_waiter_sleep(struct wf_waiter *w, uint64_t deadline, const char *where);

/* One was taken off the list, for good: when this returns its cancel does not touch the
 * object any more. Outside of the object. `alone`: nothing of the waiter's color runs
 * meanwhile but the caller. */
void wf_waiter_wait_for_cancel(struct wf_waiter *w);
static inline void wf_waiter_part(struct wf_waiter *w, bool alone)
{
	if (alone) {
		WF_STORE(&w->wait.woken, true);
		return;
	}
	atomic_store(&w->wait.woken, true);
	if (WF_UNLIKELY(atomic_load(&w->wait.cancelling)))
		wf_waiter_wait_for_cancel(w);
}

/* Wakes one that was taken off the list. After this call it may be gone. */
void wf_waiter_wake(struct wf_waiter *w);

/* struct wf_of_run, in <weft/sync.h>: counts waiters or holders of one run. If `count` is 0, `run`
 * means nothing. */
static inline void wf_of_run_add(struct wf_of_run *n)
{
	n->count++;
	n->run = wf_run_number();
}

static inline void wf_of_run_drop(struct wf_of_run *n)
{
	n->count--;
}

/* struct wf_waiters, in <weft/sync.h>: a list of waiters, and how many of them belong to a run;
 * foreign kernel threads do not. When the run is over, its waiters are gone with their stacks, and
 * no call may touch the list any more (home.h). */
void wf_waiters_add(struct wf_waiters *list, struct wf_waiter *w);
void wf_waiters_remove(struct wf_waiters *list, struct wf_waiter *w);

/* `first` is called: those behind it come next, and where there are many they have cooled
 * down. Each is fetched in two steps, as its own fields tell where the rest is. Forced to be
 * inline: gcc takes a function that only prefetches for one that does nothing. */
static WF_INLINE void wf_waiters_warm(const struct wf_waiter *first)
{
	const struct wf_waiter *second = first->next;
	uintptr_t far;

	if (second == NULL)
		return;
	far = (uintptr_t)second->thread;
	WF_FETCH(far, 0);
	WF_FETCH(far + 64, 0);
	WF_FETCH(far + 128, 0);
	WF_FETCH(far + 192, 0);
	/* Its callers' frames: who wakes it fetches those below. */
	far = (uintptr_t)second;
	WF_FETCH(far + 128, 0);
	WF_FETCH(far + 192, 0);
	WF_FETCH(far + 256, 0);
	WF_FETCH(far + 320, 0);
	if (second->next == NULL)
		return;
	far = (uintptr_t)second->next;
	WF_FETCH(far, 0);
	WF_FETCH(far + 64, 0);
}

#endif
