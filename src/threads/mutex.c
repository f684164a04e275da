/* mutex.c - one owner at a time; who waited longest is called, and may be overtaken
 * a bounded number of times.
 *
 * An unlock makes the mutex free and wakes the first waiter, which stays the first in
 * the list and takes the mutex when it runs. Who comes meanwhile takes it: if an
 * unlock gave it to one that does not run yet, a thread that locks it again and again
 * would have to wait each time, and so would everybody (a convoy). But each time that
 * the first waiter is overtaken counts, and at WF_OVERTAKEN the unlock hands it over:
 * between colors not before WF_OVERTAKEN_US. To go on there, on another core, takes
 * some microseconds, in which a short section is done a thousand times; what counts is
 * that handing over is a small part of the time.
 *
 * Invariants, inside its home:
 *  - who waits while nobody owns it has been called, or stands behind one who has. So
 *    nobody sleeps beside a free mutex.
 *  - only the first is called, and once: it stays where it is until it has run, and
 *    a deadline leaves it to that (X1). Then it takes the mutex, or finds an owner,
 *    whose unlock calls again. So each unlock wakes one at most.
 * Who waits, or was given it, uses it until it unlocks it: so a deadline may always touch
 * it (see wait.h).
 */
#include "threads/mutex.h"

#include <errno.h>

#include "base/capacity.h"
#include "base/report.h"
#include "platform/clock.h"
#include "threads/locks.h"

static void own(weft_mutex *m, uintptr_t who, const char *where)
{
	m->owner_ = who;
	m->where_ = where;
}

static struct wf_mutex_waiter *as_mutex_waiter(struct wf_waiter *w)
{
	return WF_CONTAINER(w, struct wf_mutex_waiter, waiter);
}

/* It is out of the list. */
static void grant(weft_mutex *m, struct wf_waiter *w)
{
	own(m, as_mutex_waiter(w)->who, as_mutex_waiter(w)->where);
	m->overtaken_ = 0;
	__atomic_store_n(&w->granted, true, __ATOMIC_RELAXED); /* locks.c looks */
}

bool wf_mutex_stop(weft_mutex *m, struct wf_mutex_waiter *w)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	bool waits = w->waiter.listed && !(m->called_ && m->waiters_.first == &w->waiter);

	if (waits)
		wf_waiters_remove(&m->waiters_, &w->waiter);
	wf_home_leave(&m->home_, how);
	return waits;
}

static void stop_waiting(struct wf_wait *wait)
{
	struct wf_waiter *w = WF_CONTAINER(wait, struct wf_waiter, wait);

	if (wf_mutex_stop((weft_mutex *)wait->on, as_mutex_waiter(w)))
		wf_waiter_wake(w);
}

/* 0, -EBUSY or -EDEADLK. With `w` also queues up for it if it is busy. */
static int take(weft_mutex *m, uintptr_t who, const char *where, struct wf_waiter *w)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	int rc = m->owner_ == 0 ? 0 : m->owner_ == who ? -EDEADLK : -EBUSY;

	if (rc == 0)
		own(m, who, where);
	else if (rc == -EBUSY && w != NULL)
		wf_waiters_add(&m->waiters_, w);
	wf_home_leave(&m->home_, how);
	return rc;
}

/* A waiter that is in the list, and so was called, runs now. */
static int answer(weft_mutex *m, struct wf_waiter *w, int error)
{
	int rc = m->owner_ == 0 ? 0 : error != 0 ? error : -EBUSY;

	m->called_ = 0;
	if (rc != -EBUSY)
		wf_waiters_remove(&m->waiters_, w);
	if (rc == 0)
		grant(m, w);
	else
		m->overtaken_++;
	return rc;
}

/* A waiter was woken: 0: it owns it; `error`: it was cancelled; -EBUSY: it has to wait
 * again. */
static int woken(weft_mutex *m, struct wf_waiter *w, int error)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	int rc = w->granted ? 0 : w->listed ? answer(m, w, error) : error;

	atomic_store_explicit(&w->futex, 0, memory_order_relaxed);
	wf_home_leave(&m->home_, how);
	return rc;
}

bool wf_mutex_try(weft_mutex *m, const char *where)
{
	return take(m, wf_mutex_nobody(m), where, NULL) == 0;
}

int wf_mutex_answer(weft_mutex *m, struct wf_mutex_waiter *w, int error)
{
	return woken(m, &w->waiter, error);
}

static int wait_for(weft_mutex *m, struct wf_mutex_waiter *w, uint64_t deadline)
{
	struct wf_locks_wait circle;
	int rc = wf_home_may_wait(deadline);

	if (rc < 0)
		return rc;
	wf_waiter_init(&w->waiter, "mutex", m, stop_waiting);
	if (deadline == WEFT_FOREVER)
		rc = wf_locks_wait_begin(&circle, m, "mutex", w->where, &w->waiter);
	if (rc == 0)
		rc = take(m, w->who, w->where, &w->waiter);
	while (rc == -EBUSY) {
		wf_waiter_sleep(&w->waiter, deadline);
		rc = woken(m, &w->waiter, w->waiter.wait.error);
	}
	if (deadline == WEFT_FOREVER)
		wf_locks_wait_end(&circle);
	return rc;
}

static WF_NOINLINE int lock_slow(weft_mutex *m, uint64_t deadline, const char *where)
{
	struct wf_mutex_waiter w = { .who = wf_home_who(), .where = where };
	int rc = take(m, w.who, where, NULL);

	if (rc == -EDEADLK)
		return wf_misuse(where, rc, "mutex %p is locked already by its caller, at %s",
				 (void *)m, m->where_);
	if (rc == -EBUSY)
		rc = wait_for(m, &w, deadline);
	if (rc == 0)
		wf_locks_got(m, "mutex", where);
	return rc;
}

/* A mutex that is free, in its home color: all that a lock costs then. It must stay
 * a leaf, with no other call than the last. */
static inline bool lock_at_home(weft_mutex *m, const char *where)
{
	weft_thread *t = wf_thread_current;
	bool done;

	if (WF_UNLIKELY(t == NULL) || !wf_home_enter_own(&m->home_, wf_home_name(t->event.color)))
		return false;
	done = m->owner_ == 0;
	if (WF_LIKELY(done))
		own(m, (uintptr_t)t, where);
	wf_home_leave(&m->home_, WF_HOME_OWN);
	return done;
}

/* The same for one that several colors use. */
static WF_NOINLINE int lock_shared(weft_mutex *m, uint64_t deadline, const char *where)
{
	weft_thread *t = wf_thread_current;
	bool done;

	if (WF_UNLIKELY(t == NULL) || !wf_home_enter_shared(&m->home_))
		return lock_slow(m, deadline, where);
	done = m->owner_ == 0;
	if (WF_LIKELY(done))
		own(m, (uintptr_t)t, where);
	wf_home_leave(&m->home_, WF_HOME_LOCKED);
	if (!done)
		return lock_slow(m, deadline, where);
	wf_locks_got(m, "mutex", where);
	return 0;
}

int weft_mutex_lock_until_at(weft_mutex *m, uint64_t deadline, const char *where)
{
	if (WF_UNLIKELY(!lock_at_home(m, where)))
		return lock_shared(m, deadline, where);
	wf_locks_got(m, "mutex", where);
	return 0;
}

int weft_mutex_lock_at(weft_mutex *m, const char *where)
{
	if (WF_UNLIKELY(!lock_at_home(m, where)))
		return lock_shared(m, WEFT_FOREVER, where);
	wf_locks_got(m, "mutex", where);
	return 0;
}

int weft_mutex_trylock_at(weft_mutex *m, const char *where)
{
	int rc = take(m, wf_home_who(), where, NULL);

	if (rc == 0)
		wf_locks_got(m, "mutex", where);
	return rc == 0 ? 0 : -EBUSY;
}

void wf_mutex_queue(weft_mutex *m, struct wf_mutex_waiter *w)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	bool call = m->owner_ == 0 && m->waiters_.first == NULL;

	wf_waiters_add(&m->waiters_, &w->waiter);
	if (call)
		m->called_ = 1;
	wf_home_leave_calling(&m->home_, how, call ? &w->waiter : NULL);
}

void wf_mutex_woken(weft_mutex *m, struct wf_mutex_waiter *w)
{
	w->waiter.wait.cancel = NULL; /* it must have the mutex, cancelled or not */
	while (woken(m, &w->waiter, 0) != 0)
		wf_waiter_sleep(&w->waiter, WEFT_FOREVER);
}

/* Whether the first waiter was overtaken often enough, and then for long enough. */
static inline bool was_patient(weft_mutex *m, struct wf_mutex_waiter *first, enum wf_home_how how)
{
	if (WF_LIKELY(m->overtaken_ < WF_OVERTAKEN))
		return false;
	if (how == WF_HOME_OWN ||
	    wf_ticks() - first->called >= wf_ns_to_ticks(WF_OVERTAKEN_US * (uint64_t)1000))
		return true;
	m->overtaken_ = 0;
	return false;
}

/* The owner gives it up. Returns who is to be woken, or NULL. */
static inline struct wf_waiter *release(weft_mutex *m, enum wf_home_how how)
{
	struct wf_waiter *first = m->waiters_.first;
	bool called = m->called_;

	m->owner_ = 0;
	if (first == NULL)
		return NULL;
	if (how != WF_HOME_OWN && as_mutex_waiter(first)->called == 0)
		as_mutex_waiter(first)->called = wf_ticks();
	if (!called)
		wf_waiters_warm(first);
	m->overtaken_ += called;
	if (!was_patient(m, as_mutex_waiter(first), how)) {
		m->called_ = 1;
	} else {
		m->called_ = 0;
		wf_waiters_remove(&m->waiters_, first);
		grant(m, first);
	}
	return called ? NULL : first;
}

WF_NOINLINE int wf_mutex_release(weft_mutex *m, uintptr_t who)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	int rc = m->owner_ == who ? 0 : -EPERM;
	struct wf_waiter *next = rc == 0 ? release(m, how) : NULL;

	wf_home_leave_calling(&m->home_, how, next);
	return rc;
}

static WF_NOINLINE int unlock_slow(weft_mutex *m, const char *where)
{
	int rc = wf_mutex_release(m, wf_home_who());

	if (rc < 0)
		rc = wf_mutex_release(m, wf_mutex_nobody(m));
	return rc == 0 ? 0
		       : wf_misuse(where, rc, "mutex %p is unlocked by who does not own it",
				   (void *)m);
}

/* The caller entered it, and owns it. */
static WF_NOINLINE int unlock_waited(weft_mutex *m, enum wf_home_how how)
{
	struct wf_waiter *next = release(m, how);

	wf_home_leave_calling(&m->home_, how, next);
	return 0;
}

/* The caller, thread t, entered it. */
static inline int unlock_inside(weft_mutex *m, const weft_thread *t, enum wf_home_how how,
				const char *where)
{
	if (WF_UNLIKELY(m->owner_ != (uintptr_t)t)) {
		wf_home_leave(&m->home_, how);
		return unlock_slow(m, where);
	}
	if (m->waiters_.first != NULL) {
		if (!m->called_ || m->overtaken_ + 1 >= WF_OVERTAKEN)
			return unlock_waited(m, how);
		m->overtaken_++;
	}
	m->owner_ = 0;
	wf_home_leave(&m->home_, how);
	return 0;
}

static WF_NOINLINE int unlock_shared(weft_mutex *m, const char *where)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL) || !wf_home_enter_shared(&m->home_))
		return unlock_slow(m, where);
	return unlock_inside(m, t, WF_HOME_LOCKED, where);
}

int weft_mutex_unlock_at(weft_mutex *m, const char *where)
{
	weft_thread *t = wf_thread_current;

	(void)wf_locks_lost(m);
	if (WF_UNLIKELY(t == NULL) || !wf_home_enter_own(&m->home_, wf_home_name(t->event.color)))
		return unlock_shared(m, where);
	return unlock_inside(m, t, WF_HOME_OWN, where);
}

int weft_mutex_fini_at(weft_mutex *m, const char *where)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	bool owned = m->owner_ != 0, used = owned || m->waiters_.first != NULL;

	wf_home_leave(&m->home_, how);
	if (used && !owned)
		return wf_misuse(where, -EBUSY, "somebody waits for mutex %p", (void *)m);
	if (used)
		return wf_misuse(where, -EBUSY, "mutex %p is still locked, since %s", (void *)m,
				 m->where_);
	*m = (weft_mutex)WEFT_MUTEX_INIT;
	return 0;
}
