/* home.h - how an object that threads share is guarded: by a color while only that
 * color uses it, then by a lock.
 *
 * The first color that uses an object becomes its home: there it is touched by
 * plain loads and stores, as nothing else of that color runs meanwhile. When
 * another color comes, or a plain handler, or a foreign kernel thread, it ends that
 * at once, and from then on everybody takes the object's spin lock, for a few dozen
 * instructions. That happens once in the object's life. So each object is written
 * once, as if single-threaded, between wf_home_enter and wf_home_leave. Nothing
 * that may switch or block stands in between, and neither of the two does.
 *
 * Ending it. At home, `inside` is set before `color` is looked at (again), and
 * cleared behind the last access. A stranger changes `color`, has the kernel put a
 * full barrier into whatever runs on other CPUs, and waits until it sees `inside`
 * clear: a section at home has either begun before the barrier, and then `inside`
 * is seen, or begins behind it, and then sees that the home is none any more. So
 * at home there is no barrier and no locked instruction to pay for, and a stranger
 * never waits for longer than for a lock.
 *
 * Rejected: an event, posted to the home color, that gives the home up. The stranger
 * waits until that color has its turn (behind a long computation: for long); a
 * plain handler cannot wait at all; and when no runtime runs nobody answers.
 */
#ifndef WF_HOME_H
#define WF_HOME_H

#include <weft/sync.h>

#include "base/lock.h"
#include "threads/thread.h"

/* struct wf_home, in <weft/sync.h>, lies in every such object. All zeros is new.
 *	color   the home, by wf_home_name; 0: none yet; or one of these
 *	lock    held; once it is WF_HOME_SHARED
 *	inside  something in the home color is between enter and leave
 */
#define WF_HOME_SHARED ((uint64_t)1)
#define WF_HOME_LEAVING ((uint64_t)2) /* on its way to SHARED */

/* Tells how it was entered, for the leave. A guest is not of the runtime, and keeps it,
 * with the stacks of those in the object's list, from being freed meanwhile. Where no
 * runtime runs there is nothing to keep. */
enum wf_home_how { WF_HOME_OWN, WF_HOME_LOCKED, WF_HOME_GUEST };

/* The values for which this would be 0, SHARED or LEAVING are no colors: values above
 * 2^63 have a class, and these three have none. */
static inline uint64_t wf_home_name(weft_color color)
{
	return color ^ (uint64_t)1 << 63;
}

enum wf_home_how wf_home_enter_slow(struct wf_home *h, const struct weft_thread *t);

static inline bool wf_home_enter_own(struct wf_home *h, uint64_t me)
{
	if (__atomic_load_n(&h->color, __ATOMIC_RELAXED) != me)
		return false;
	__atomic_store_n(&h->inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (WF_LIKELY(__atomic_load_n(&h->color, __ATOMIC_RELAXED) == me))
		return true;
	__atomic_store_n(&h->inside, 0, __ATOMIC_RELEASE);
	return false;
}

static inline bool wf_home_try_lock(struct wf_home *h)
{
	return !__atomic_exchange_n(&h->lock, 1, __ATOMIC_ACQUIRE);
}

/* Whether it is shared, and could be locked at once. */
static inline bool wf_home_enter_shared(struct wf_home *h)
{
	return __atomic_load_n(&h->color, __ATOMIC_ACQUIRE) == WF_HOME_SHARED &&
	       WF_LIKELY(wf_home_try_lock(h));
}

/* For callers that know the running thread already (NULL: none). */
static inline enum wf_home_how wf_home_enter_as(struct wf_home *h, const struct weft_thread *t)
{
	if (WF_LIKELY(t != NULL)) {
		if (wf_home_enter_own(h, wf_home_name(t->event.color)))
			return WF_HOME_OWN;
		if (wf_home_enter_shared(h))
			return WF_HOME_LOCKED;
	}
	return wf_home_enter_slow(h, t);
}

static inline enum wf_home_how wf_home_enter(struct wf_home *h)
{
	return wf_home_enter_as(h, wf_thread_self());
}

/* Half of a leave: a guest is to call wf_leave, too. */
static inline void wf_home_exit(struct wf_home *h, enum wf_home_how how)
{
	__atomic_store_n(how == WF_HOME_OWN ? &h->inside : &h->lock, 0, __ATOMIC_RELEASE);
}

static inline void wf_home_leave(struct wf_home *h, enum wf_home_how how)
{
	wf_home_exit(h, how);
	if (WF_UNLIKELY(how == WF_HOME_GUEST))
		wf_leave();
}

/* Leaves, and wakes w, which may still be in the list. w may be NULL. */
static inline void wf_home_leave_calling(struct wf_home *h, enum wf_home_how how,
					 struct wf_waiter *w)
{
	wf_home_exit(h, how);
	if (w != NULL)
		wf_waiter_wake(w);
	if (WF_UNLIKELY(how == WF_HOME_GUEST))
		wf_leave();
}

/* Leaves, and lets w go, which was taken off the list. w may be NULL. When this returns
 * nothing touches the object for w but w itself. In its home color all who are listed
 * are of that color. */
static inline void wf_home_leave_waking(struct wf_home *h, enum wf_home_how how,
					struct wf_waiter *w)
{
	wf_home_exit(h, how);
	if (w != NULL) {
		wf_waiter_part(w, how == WF_HOME_OWN);
		wf_waiter_wake(w);
	}
	if (WF_UNLIKELY(how == WF_HOME_GUEST))
		wf_leave();
}

/* The same for a whole list that was taken off its object at once, which is O(1); whose
 * round that was the object knows (its round, or count). Returns how many. To be called
 * behind wf_home_exit, instead of wf_home_leave. */
int wf_home_wake_all(enum wf_home_how how, struct wf_waiters *list);

static inline int wf_home_leave_waking_all(struct wf_home *h, enum wf_home_how how,
					   struct wf_waiters *list)
{
	wf_home_exit(h, how);
	return wf_home_wake_all(how, list);
}

/* The caller as an owner. A thread: its address, marked with the number of its run, as a thread of
 * the next run may have the same address. A foreign kernel thread or a plain handler: an odd
 * number of the kernel thread. */
uintptr_t wf_home_who(void);
static inline uintptr_t wf_home_who_is(const struct weft_thread *t)
{
	return (uintptr_t)t | (uintptr_t)wf_run_mark;
}

/* Whether the object's owner, or its waiters, belong to a run that has ended: the waiters are gone
 * then, with their stacks. Every call checks this inside the object, before it touches a waiter or
 * compares owners, and fails by wf_home_left_over. Owners and waiters of no run, or of the caller's
 * run, are valid. */
static inline bool wf_home_owner_left(uintptr_t owner)
{
	uint32_t run = wf_run_marked(owner);

	return run != 0 && WF_UNLIKELY(run != wf_run_number() || wf_thread_current == NULL) &&
	       wf_run_is_over(run);
}

static inline bool wf_home_waiters_left(const struct wf_of_run *n)
{
	return WF_UNLIKELY(n->count != 0) &&
	       WF_UNLIKELY(n->run != wf_run_number() || wf_thread_current == NULL) &&
	       wf_run_is_over(n->run);
}

/* Leaves an object that was left over, and reports it. Returns -EOWNERDEAD. */
WF_COLD int wf_home_left_over(struct wf_home *h, enum wf_home_how how, const char *what,
			      const char *where);

/* Whether the caller may wait until then: 0, -ETIMEDOUT if that is past, -EPERM in a
 * plain handler, or as wf_wait_allowed. */
int wf_home_may_wait(uint64_t deadline);

/* Takes one off the list of its object, if it is there. */
bool wf_home_unlist(struct wf_home *h, struct wf_waiters *list, struct wf_waiter *w);

/* Whether it was woken so: its mark is as it was when the list was taken. */
static inline bool wf_home_all_woken(const struct wf_waiter *w)
{
	return w->listed;
}

#endif
