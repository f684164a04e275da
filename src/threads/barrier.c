/* barrier.c - a number of threads meet. Who comes last ends the round: it takes the
 * whole list of those who wait, and from then on they belong to no list that a
 * deadline could take them off.
 */
#include <errno.h>

#include "base/report.h"
#include "threads/home.h"

struct party {
	struct wf_waiter waiter;
	uint64_t round;
};

static void stop_waiting(struct wf_wait *wait)
{
	struct party *p = WF_CONTAINER(wait, struct party, waiter.wait);
	weft_barrier *b = (weft_barrier *)wait->on;
	enum wf_home_how how = wf_home_enter(&b->home_);
	bool waits = p->round == b->round_;

	if (waits) {
		wf_waiters_remove(&b->waiters_, &p->waiter);
		b->here_--;
	}
	wf_home_leave(&b->home_, how);
	if (waits)
		wf_waiter_wake(&p->waiter);
}

/* 1: the caller is the last, and the others are woken. 0: it counts as here now, if it may wait.
 * Or -EOWNERDEAD. */
static int arrive(weft_barrier *b, struct party *p, bool may_wait, const char *where)
{
	struct wf_waiters others = WEFT_WAITERS_INIT_;
	enum wf_home_how how = wf_home_enter(&b->home_);
	bool last = b->here_ + 1 >= b->parties_;

	if (wf_home_waiters_left(&b->waiters_.of_run))
		return wf_home_left_over(&b->home_, how, "barrier", where);
	p->round = b->round_;
	if (last) {
		others = b->waiters_;
		b->waiters_ = (struct wf_waiters)WEFT_WAITERS_INIT_;
		b->here_ = 0;
		b->round_++;
	} else if (may_wait) {
		b->here_++;
		wf_waiters_add(&b->waiters_, &p->waiter);
	}
	(void)wf_home_leave_waking_all(&b->home_, how, &others);
	return last;
}

WF_NOINLINE int weft_barrier_wait_until_at(weft_barrier *b, uint64_t deadline, const char *where)
{
	struct party p;
	int rc = wf_home_may_wait(deadline), last;

	if (b->parties_ == 0)
		return -EINVAL;
	wf_waiter_init(&p.waiter, "barrier", b, stop_waiting);
	last = arrive(b, &p, rc == 0, where);
	if (last != 0)
		return last < 0 ? last : WEFT_BARRIER_LAST;
	if (rc < 0)
		return rc;
	wf_waiter_sleep(&p.waiter, deadline, where);
	return wf_home_all_woken(&p.waiter) ? 0 : p.waiter.wait.error;
}

int weft_barrier_fini_at(weft_barrier *b, const char *where)
{
	enum wf_home_how how = wf_home_enter(&b->home_);
	bool used = b->here_ != 0 && !wf_home_waiters_left(&b->waiters_.of_run);

	wf_home_leave(&b->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "somebody waits at barrier %p", (void *)b);
	weft_barrier_init(b, b->parties_);
	return 0;
}
