/* eventcount.c - waiting for a change of what is not under a lock.
 *
 * Who waits read the count before it looked at the thing; who changes the thing
 * counts up after the change. So either the look saw the change, or the count that
 * the wait finds is another than the one read.
 */
#include <errno.h>

#include "base/report.h"
#include "threads/home.h"

struct watcher {
	struct wf_waiter waiter;
	uint64_t seen;
};

static void stop_waiting(struct wf_wait *wait)
{
	struct watcher *w = WF_CONTAINER(wait, struct watcher, waiter.wait);
	weft_eventcount *e = (weft_eventcount *)wait->on;
	enum wf_home_how how = wf_home_enter(&e->home_);
	bool waits = w->seen == e->count_;

	if (waits)
		wf_waiters_remove(&e->waiters_, &w->waiter);
	wf_home_leave(&e->home_, how);
	if (waits)
		wf_waiter_wake(&w->waiter);
}

uint64_t weft_eventcount_prepare(weft_eventcount *e)
{
	enum wf_home_how how = wf_home_enter_as(&e->home_, wf_thread_current);
	/* What the caller looks at next must not be read before this. */
	uint64_t count = __atomic_load_n(&e->count_, __ATOMIC_ACQUIRE);

	wf_home_leave(&e->home_, how);
	return count;
}

WF_NOINLINE int weft_eventcount_wait_until_at(weft_eventcount *e, uint64_t seen, uint64_t deadline,
					      const char *where)
{
	struct watcher w = { .seen = seen };
	int rc = wf_home_may_wait(deadline);
	enum wf_home_how how;
	bool changed;

	wf_waiter_init(&w.waiter, "event count", e, stop_waiting);
	how = wf_home_enter(&e->home_);
	if (wf_home_waiters_left(&e->waiters_.of_run))
		return wf_home_left_over(&e->home_, how, "event count", where);
	changed = e->count_ != seen;
	if (!changed && rc == 0)
		wf_waiters_add(&e->waiters_, &w.waiter);
	wf_home_leave(&e->home_, how);
	if (changed || rc < 0)
		return changed ? 0 : rc;
	wf_waiter_sleep(&w.waiter, deadline, where);
	return wf_home_all_woken(&w.waiter) ? 0 : w.waiter.wait.error;
}

int weft_eventcount_advance_at(weft_eventcount *e, const char *where)
{
	enum wf_home_how how = wf_home_enter_as(&e->home_, wf_thread_current);
	struct wf_waiters all = e->waiters_;

	if (wf_home_waiters_left(&all.of_run))
		return wf_home_left_over(&e->home_, how, "event count", where);
	e->waiters_ = (struct wf_waiters)WEFT_WAITERS_INIT_;
	__atomic_store_n(&e->count_, e->count_ + 1, __ATOMIC_RELEASE);
	return wf_home_leave_waking_all(&e->home_, how, &all);
}

int weft_eventcount_fini_at(weft_eventcount *e, const char *where)
{
	enum wf_home_how how = wf_home_enter(&e->home_);
	bool used = e->waiters_.first != NULL && !wf_home_waiters_left(&e->waiters_.of_run);

	wf_home_leave(&e->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "somebody waits for event count %p", (void *)e);
	*e = (weft_eventcount)WEFT_EVENTCOUNT_INIT;
	return 0;
}
