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
 * Waiting awake. To sleep, and to be woken on another core, is a system call on either
 * side and some microseconds. So the first waiter stays awake while the owner runs on
 * another worker and its own has nothing else to do: it counts as called, and looks again by
 * itself, after longer and longer pauses. When it was overtaken in one of them, by RUSH
 * sections or more, it leaves the others alone for RUSH_NS even if it finds the mutex free: a
 * mutex that goes from core to core for each short section takes ten times as long. When it
 * was not the section is a long one, and in the end it sleeps.
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
#include "scheduler/turn.h"
#include "threads/locks.h"

enum { LOOK_NS = 200, RUSH = 2, RUSH_NS = 16000, UNSEEN_NS = 1000000, NEAR = 8 };

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
	__atomic_store_n(&w->granted, true, __ATOMIC_RELAXED); /* locks.c and stay_awake look */
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

/* Whether a waiter of another color than the owner has been overtaken for long enough. */
static bool is_due(const struct wf_mutex_waiter *w)
{
	return wf_ticks() - w->called >= wf_ns_to_ticks(WF_OVERTAKEN_US * (uint64_t)1000);
}

/* Whether one of the workers that are nearest to w runs the owner; who is not looked at, as a
 * mutex may be left from a run that was stopped. */
static bool owner_runs(const weft_mutex *m, const struct wf_worker *w)
{
	uintptr_t context = (m->owner_ & ~(uintptr_t)WF_RUN_MASK) + offsetof(weft_thread, context);
	int others = wf_worker_others(w);

	for (int i = 0; i < others && i < NEAR; i++) {
		const struct wf_worker *other = wf_sched_worker(w->sched, WF_LOAD(&w->order[i]));

		if ((uintptr_t)wf_worker_context(other) == context)
			return true;
	}
	return false;
}

/* Whether the worker of t, which runs, has a CPU of its own and nothing else to do: a look at
 * timers and the kernel, too, which it has when it sleeps. */
static bool has_time(const weft_thread *t)
{
	const struct wf_worker *w = t->worker;

	return t->under == &wf_nobody && wf_turn_alone(w) &&
	       wf_ticks() - w->last_poll < wf_ns_to_ticks(UNSEEN_NS) && wf_worker_has_cpu(w);
}

/* How long the first waiter stays awake before it looks again; 0: it sleeps. */
static uint32_t next_pause(const weft_mutex *m, const struct wf_mutex_waiter *w,
			   enum wf_home_how how)
{
	if (how != WF_HOME_LOCKED || w->waiter.thread == NULL || !has_time(w->waiter.thread) ||
	    (m->owner_ != 0 && !owner_runs(m, w->waiter.thread->worker)))
		return 0;
	if (w->pause == 0)
		return LOOK_NS;
	if (m->overtaken_ >= RUSH && m->overtaken_ < WF_OVERTAKEN) /* or it is due, see wait_on */
		return RUSH_NS;
	return 2 * w->pause <= RUSH_NS ? 2 * w->pause : 0;
}

/* The first waiter waits on; unlocks wake it only if it does not stay awake, else it counts as
 * called. Then how often it is overtaken counts from here; or it is due, and the next unlock
 * hands over. */
static void wait_on(weft_mutex *m, struct wf_waiter *waiter, uint32_t pause)
{
	struct wf_mutex_waiter *w = as_mutex_waiter(waiter);

	w->pause = pause;
	m->called_ = pause != 0;
	if (pause == 0)
		return;
	if (w->called == 0)
		w->called = wf_ticks();
	m->overtaken_ = is_due(w) ? WF_OVERTAKEN : 0;
}

static void queue_up(weft_mutex *m, struct wf_waiter *w, enum wf_home_how how)
{
	wf_waiters_add(&m->waiters_, w);
	if (m->waiters_.first == w)
		wait_on(m, w, next_pause(m, as_mutex_waiter(w), how));
}

/* Whether an ended run left the mutex owned or waited for, by one of its threads or events. */
static bool left_over(const weft_mutex *m)
{
	return wf_home_owner_left(m->owner_) || wf_home_waiters_left(&m->waiters_.of_run);
}

/* Takes the mutex: 0, -EBUSY, -EDEADLK or -EOWNERDEAD. If it is busy, queues `w` if given. */
static int take(weft_mutex *m, uintptr_t who, const char *where, struct wf_waiter *w)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	int rc = m->owner_ == 0 ? 0 : m->owner_ == who ? -EDEADLK : -EBUSY;

	if (WF_UNLIKELY(left_over(m)))
		return wf_home_left_over(&m->home_, how, "mutex", where);
	if (rc == 0)
		own(m, who, where);
	else if (rc == -EBUSY && w != NULL)
		queue_up(m, w, how);
	wf_home_leave(&m->home_, how);
	return rc;
}

/* A waiter that is in the list, and so was called or stayed awake, runs now. */
static int answer(weft_mutex *m, struct wf_waiter *w, int error, enum wf_home_how how)
{
	uint32_t pause = error == 0 ? next_pause(m, as_mutex_waiter(w), how) : 0;
	bool rush = pause == RUSH_NS && as_mutex_waiter(w)->pause < RUSH_NS;
	int rc = m->owner_ == 0 && !rush ? 0 : error != 0 ? error : -EBUSY;

	m->called_ = 0;
	if (rc != -EBUSY)
		wf_waiters_remove(&m->waiters_, w);
	if (rc == 0) {
		grant(m, w);
	} else {
		m->overtaken_++;
		wait_on(m, w, pause);
	}
	return rc;
}

/* A waiter was woken: 0: it owns it; `error`: it was cancelled; -EBUSY: it has to wait
 * again. */
static int woken(weft_mutex *m, struct wf_waiter *w, int error)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	int rc = w->granted ? 0 : w->listed ? answer(m, w, error, how) : error;

	atomic_store_explicit(&w->futex, 0, memory_order_relaxed);
	wf_home_leave(&m->home_, how);
	return rc;
}

bool wf_mutex_is_left_over(weft_mutex *m, const char *where)
{
	enum wf_home_how how = wf_home_enter(&m->home_);

	if (left_over(m))
		return wf_home_left_over(&m->home_, how, "mutex", where) < 0;
	wf_home_leave(&m->home_, how);
	return false;
}

int wf_mutex_try(weft_mutex *m, const char *where)
{
	return take(m, wf_mutex_nobody(m), where, NULL);
}

int wf_mutex_answer(weft_mutex *m, struct wf_mutex_waiter *w, int error)
{
	return woken(m, &w->waiter, error);
}

static void stay_awake(const struct wf_mutex_waiter *w)
{
	uint64_t until = wf_ticks() + wf_ns_to_ticks(w->pause);
	const struct wf_worker *worker = w->waiter.thread->worker;

	do
		wf_relax();
	while (wf_ticks() < until && !wf_worker_wanted(worker) &&
	       !__atomic_load_n(&w->waiter.granted, __ATOMIC_RELAXED));
}

/* Until it is called, or should look again. */
static void wait_once(struct wf_mutex_waiter *w, uint64_t deadline)
{
	if (w->pause != 0)
		stay_awake(w);
	else
		wf_waiter_sleep(&w->waiter, deadline, w->where);
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
		wait_once(w, deadline);
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

/* The caller, thread t, entered it: locks it if it is free. */
static WF_INLINE bool lock_inside(weft_mutex *m, const weft_thread *t, enum wf_home_how how,
				  const char *where)
{
	/* Waiters of another run: the long way reports them. */
	bool done = m->owner_ == 0 &&
		    (m->waiters_.first == NULL || m->waiters_.of_run.run == wf_run_number());

	if (WF_LIKELY(done))
		own(m, wf_home_who_is(t), where);
	wf_home_leave(&m->home_, how);
	return done;
}

/* A mutex that is free, in its home color or, shared, entered at once: all that a lock costs
 * then. It must stay a leaf, with no other call than the last of its callers. */
static WF_INLINE bool lock_at_once(weft_mutex *m, const char *where)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL))
		return false;
	if (wf_home_enter_own(&m->home_, wf_home_name(t->event.color)))
		return lock_inside(m, t, WF_HOME_OWN, where);
	return wf_home_enter_shared(&m->home_) && lock_inside(m, t, WF_HOME_LOCKED, where);
}

int weft_mutex_lock_until_at(weft_mutex *m, uint64_t deadline, const char *where)
{
	if (WF_UNLIKELY(!lock_at_once(m, where)))
		return lock_slow(m, deadline, where);
	wf_locks_got(m, "mutex", where);
	return 0;
}

/* Aligned, as its unlock: what a pair costs at home varies by half with where they begin. */
WF_ALIGNED int weft_mutex_lock_at(weft_mutex *m, const char *where)
{
	if (WF_UNLIKELY(!lock_at_once(m, where)))
		return lock_slow(m, WEFT_FOREVER, where);
	wf_locks_got(m, "mutex", where);
	return 0;
}

int weft_mutex_trylock_at(weft_mutex *m, const char *where)
{
	int rc = take(m, wf_home_who(), where, NULL);

	if (rc == 0)
		wf_locks_got(m, "mutex", where);
	return rc == -EDEADLK ? -EBUSY : rc;
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
		wait_once(w, WEFT_FOREVER);
}

/* Whether the first waiter was overtaken often enough, and then for long enough. */
static inline bool was_patient(weft_mutex *m, struct wf_mutex_waiter *first, enum wf_home_how how)
{
	if (WF_LIKELY(m->overtaken_ < WF_OVERTAKEN))
		return false;
	if (how == WF_HOME_OWN || is_due(first))
		return true;
	m->overtaken_ = RUSH; /* who stays awake sees that it was overtaken */
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

WF_NOINLINE int wf_mutex_release(weft_mutex *m, uintptr_t who, const char *where)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	struct wf_waiter *next = NULL;
	int rc = m->owner_ == who ? 0 : -EPERM;

	if (left_over(m))
		return wf_home_left_over(&m->home_, how, "mutex", where);
	if (rc == 0)
		next = release(m, how);
	wf_home_leave_calling(&m->home_, how, next);
	return rc;
}

static WF_NOINLINE int unlock_slow(weft_mutex *m, const char *where)
{
	int rc = wf_mutex_release(m, wf_home_who(), where);

	if (rc == -EPERM)
		rc = wf_mutex_release(m, wf_mutex_nobody(m), where);
	if (rc != -EPERM)
		return rc;
	return wf_misuse(where, rc, "mutex %p is unlocked by who does not own it", (void *)m);
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
	if (WF_UNLIKELY(m->owner_ != wf_home_who_is(t))) {
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

WF_ALIGNED int weft_mutex_unlock_at(weft_mutex *m, const char *where)
{
	weft_thread *t = wf_thread_current;

	(void)wf_locks_lost(m);
	if (WF_UNLIKELY(t == NULL))
		return unlock_slow(m, where);
	if (wf_home_enter_own(&m->home_, wf_home_name(t->event.color)))
		return unlock_inside(m, t, WF_HOME_OWN, where);
	if (WF_LIKELY(wf_home_enter_shared(&m->home_)))
		return unlock_inside(m, t, WF_HOME_LOCKED, where);
	return unlock_slow(m, where);
}

int weft_mutex_fini_at(weft_mutex *m, const char *where)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	bool owned = m->owner_ != 0, used = owned || m->waiters_.first != NULL;

	used = used && !left_over(m);

	wf_home_leave(&m->home_, how);
	if (used && !owned)
		return wf_misuse(where, -EBUSY, "somebody waits for mutex %p", (void *)m);
	if (used)
		return wf_misuse(where, -EBUSY, "mutex %p is still locked, since %s", (void *)m,
				 m->where_);
	*m = (weft_mutex)WEFT_MUTEX_INIT;
	return 0;
}
