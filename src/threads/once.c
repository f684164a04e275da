/* once.c - done once, by whoever comes first; the others wait until it is done. */
#include <errno.h>
#include <sched.h>

#include "base/report.h"
#include "threads/home.h"

/* In runner_, when it is done. */
enum { OVER = 1 };

static void stop_waiting(struct wf_wait *wait)
{
	struct wf_waiter *w = WF_CONTAINER(wait, struct wf_waiter, wait);
	weft_once *o = (weft_once *)wait->on;
	enum wf_home_how how = wf_home_enter(&o->home_);
	bool waits = w->listed && o->runner_ != OVER;

	if (waits)
		wf_waiters_remove(&o->waiters_, w);
	wf_home_leave(&o->home_, how);
	if (waits)
		wf_waiter_wake(w);
}

/* Who finds done_ set looks at nothing else, and may free it: so that comes last, and
 * before those who wait, who look at it. */
static void finish(weft_once *o)
{
	enum wf_home_how how = wf_home_enter(&o->home_);
	struct wf_waiters all = o->waiters_;

	o->waiters_ = (struct wf_waiters)WEFT_WAITERS_INIT_;
	o->runner_ = OVER;
	wf_home_exit(&o->home_, how);
	__atomic_store_n(&o->done_, 1, __ATOMIC_RELEASE);
	(void)wf_home_wake_all(how, &all);
}

/* The one who ran it is a few instructions before its end. */
static void wait_for_end(weft_once *o)
{
	for (int i = 0; !__atomic_load_n(&o->done_, __ATOMIC_ACQUIRE); i++) {
		if (i < 64)
			wf_relax();
		else
			sched_yield();
	}
}

/* The function ended its thread. One of those who wait will run it: it is woken to
 * find that nobody does. */
static void give_up(void *arg)
{
	weft_once *o = arg;
	enum wf_home_how how = wf_home_enter(&o->home_);
	struct wf_waiter *next = o->waiters_.first;

	o->runner_ = 0;
	if (next != NULL) {
		wf_waiters_remove(&o->waiters_, next);
		next->granted = true;
	}
	wf_home_leave_waking(&o->home_, how, next);
}

static void run(weft_once *o, weft_fn *fn, void *arg)
{
	weft_cleanup cleanup;
	bool pushed = weft_cleanup_push(&cleanup, give_up, o) == 0;

	fn(arg);
	if (pushed)
		(void)weft_cleanup_pop(false);
	finish(o);
}

/* Whether an ended run left a thread running the function, or waiting for it. */
static bool left_over(const weft_once *o)
{
	return wf_home_owner_left(o->runner_) || wf_home_waiters_left(&o->waiters_.of_run);
}

/* What the caller is to do: 0, it is done; 1, run it; -EBUSY, wait; -EDEADLK; -EOWNERDEAD. With
 * `w` it queues up if it is to wait. */
static int come(weft_once *o, uintptr_t who, struct wf_waiter *w, const char *where)
{
	enum wf_home_how how = wf_home_enter(&o->home_);
	int rc;

	if (left_over(o))
		return wf_home_left_over(&o->home_, how, "once", where);
	if (o->runner_ == OVER)
		rc = 0;
	else if (o->runner_ == 0)
		rc = 1;
	else
		rc = o->runner_ == who ? -EDEADLK : -EBUSY;
	if (rc == 1)
		o->runner_ = who;
	else if (rc == -EBUSY && w != NULL)
		wf_waiters_add(&o->waiters_, w);
	wf_home_leave(&o->home_, how);
	if (rc == 0)
		wait_for_end(o);
	return rc;
}

/* Until it is done, or there is nobody who does it. */
static int wait_for(weft_once *o, uintptr_t who, uint64_t deadline, const char *where)
{
	struct wf_waiter w;
	int rc = wf_home_may_wait(deadline);

	if (rc < 0)
		return rc;
	wf_waiter_init(&w, "once", o, stop_waiting);
	rc = come(o, who, &w, where);
	if (rc != -EBUSY)
		return rc;
	wf_waiter_sleep(&w, deadline, where);
	return w.granted || wf_home_all_woken(&w) ? -EAGAIN : w.wait.error;
}

static WF_NOINLINE int once_slow(weft_once *o, weft_fn *fn, void *arg, uint64_t deadline,
				 const char *where)
{
	uintptr_t who = wf_home_who();
	int rc;

	do {
		rc = come(o, who, NULL, where);
		if (rc == -EBUSY)
			rc = wait_for(o, who, deadline, where);
	} while (rc == -EAGAIN);
	if (rc == -EDEADLK)
		return wf_misuse(where, rc, "once %p: called from the function that it runs",
				 (void *)o);
	if (rc == 1) {
		run(o, fn, arg);
		rc = 0;
	}
	return rc;
}

int weft_once_run_until_at(weft_once *o, weft_fn *fn, void *arg, uint64_t deadline,
			   const char *where)
{
	if (WF_LIKELY(__atomic_load_n(&o->done_, __ATOMIC_ACQUIRE)))
		return 0;
	return once_slow(o, fn, arg, deadline, where);
}
