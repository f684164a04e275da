/* waitgroup.c - a count of work under way, and waiting until it is 0. */
#include <errno.h>

#include "base/report.h"
#include "threads/home.h"

struct watcher {
	struct wf_waiter waiter;
	uint64_t round; /* how often the count had come to 0 */
};

static void stop_waiting(struct wf_wait *wait)
{
	struct watcher *w = WF_CONTAINER(wait, struct watcher, waiter.wait);
	weft_waitgroup *g = (weft_waitgroup *)wait->on;
	enum wf_home_how how = wf_home_enter(&g->home_);
	bool waits = w->round == g->round_;

	if (waits)
		wf_waiters_remove(&g->waiters_, &w->waiter);
	wf_home_leave(&g->home_, how);
	if (waits)
		wf_waiter_wake(&w->waiter);
}

int weft_waitgroup_add_at(weft_waitgroup *g, int64_t n, const char *where)
{
	enum wf_home_how how = wf_home_enter_as(&g->home_, wf_thread_current);
	struct wf_waiters all = WEFT_WAITERS_INIT_;
	int64_t count;
	int rc = 0;

	if (wf_home_waiters_left(&g->waiters_.of_run))
		return wf_home_left_over(&g->home_, how, "wait group", where);
	if (__builtin_add_overflow(g->count_, n, &count))
		rc = n < 0 ? -EINVAL : -EOVERFLOW;
	else if (count < 0)
		rc = -EINVAL;
	else
		g->count_ = count;
	if (rc == 0 && count == 0) {
		all = g->waiters_;
		g->waiters_ = (struct wf_waiters)WEFT_WAITERS_INIT_;
		g->round_++;
	}
	(void)wf_home_leave_waking_all(&g->home_, how, &all);
	if (rc == -EINVAL)
		return wf_misuse(where, rc, "wait group %p: more was done than was added",
				 (void *)g);
	return rc;
}

WF_NOINLINE int weft_waitgroup_wait_until_at(weft_waitgroup *g, uint64_t deadline,
					     const char *where)
{
	struct watcher w;
	int rc = wf_home_may_wait(deadline);
	enum wf_home_how how;
	bool zero;

	wf_waiter_init(&w.waiter, "wait group", g, stop_waiting);
	how = wf_home_enter(&g->home_);
	if (wf_home_waiters_left(&g->waiters_.of_run))
		return wf_home_left_over(&g->home_, how, "wait group", where);
	zero = g->count_ == 0;
	w.round = g->round_;
	if (!zero && rc == 0)
		wf_waiters_add(&g->waiters_, &w.waiter);
	wf_home_leave(&g->home_, how);
	if (zero || rc < 0)
		return zero ? 0 : rc;
	wf_waiter_sleep(&w.waiter, deadline, where);
	return wf_home_all_woken(&w.waiter) ? 0 : w.waiter.wait.error;
}

int weft_waitgroup_fini_at(weft_waitgroup *g, const char *where)
{
	enum wf_home_how how = wf_home_enter(&g->home_);
	bool used = g->count_ != 0 && !wf_home_waiters_left(&g->waiters_.of_run);

	wf_home_leave(&g->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "wait group %p has work under way", (void *)g);
	*g = (weft_waitgroup)WEFT_WAITGROUP_INIT;
	return 0;
}
