/* semaphore.c - units that are taken and put back. A unit that is put in while
 * somebody waits is handed over: value_ is 0 as long as anybody waits.
 */
#include <errno.h>

#include "base/report.h"
#include "threads/home.h"

static void stop_waiting(struct wf_wait *wait)
{
	struct wf_waiter *w = WF_CONTAINER(wait, struct wf_waiter, wait);
	weft_sem *s = (weft_sem *)wait->on;

	if (wf_home_unlist(&s->home_, &s->waiters_, w))
		wf_waiter_wake(w);
}

/* Takes a unit, if there is one. */
static inline bool take_at_once(weft_sem *s)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, wf_thread_current);
	bool got = s->value_ > 0;

	if (got)
		s->value_--;
	wf_home_leave(&s->home_, how);
	return got;
}

/* The same: 0, -EBUSY if there is none (then queues `w` if given), or -EOWNERDEAD. */
static WF_NOINLINE int take(weft_sem *s, struct wf_waiter *w, const char *where)
{
	enum wf_home_how how = wf_home_enter(&s->home_);
	int rc = s->value_ > 0 ? 0 : -EBUSY;

	if (wf_home_waiters_left(&s->waiters_.of_run))
		return wf_home_left_over(&s->home_, how, "semaphore", where);
	if (rc == 0)
		s->value_--;
	else if (w != NULL)
		wf_waiters_add(&s->waiters_, w);
	wf_home_leave(&s->home_, how);
	return rc;
}

static WF_NOINLINE int wait_for_unit(weft_sem *s, uint64_t deadline, const char *where)
{
	struct wf_waiter w;
	int rc = wf_home_may_wait(deadline);

	if (rc < 0)
		return rc;
	wf_waiter_init(&w, "semaphore", s, stop_waiting);
	rc = take(s, &w, where);
	if (rc != -EBUSY)
		return rc;
	wf_waiter_sleep(&w, deadline, where);
	return w.granted ? 0 : w.wait.error;
}

int weft_sem_wait_until_at(weft_sem *s, uint64_t deadline, const char *where)
{
	return WF_LIKELY(take_at_once(s)) ? 0 : wait_for_unit(s, deadline, where);
}

int weft_sem_trywait_at(weft_sem *s, const char *where)
{
	return WF_LIKELY(take_at_once(s)) ? 0 : take(s, NULL, where);
}

/* Gives the unit to the first waiter, and leaves the semaphore. */
static WF_NOINLINE int hand_over(weft_sem *s, enum wf_home_how how, const char *where)
{
	struct wf_waiter *next = s->waiters_.first;

	if (wf_home_waiters_left(&s->waiters_.of_run))
		return wf_home_left_over(&s->home_, how, "semaphore", where);
	wf_waiters_remove(&s->waiters_, next);
	next->granted = true;
	wf_home_leave_waking(&s->home_, how, next);
	return 0;
}

int weft_sem_post_at(weft_sem *s, const char *where)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, wf_thread_current);
	int rc = s->value_ == UINT32_MAX ? -EOVERFLOW : 0;

	if (s->waiters_.first != NULL)
		return hand_over(s, how, where);
	if (rc == 0)
		s->value_++;
	wf_home_leave(&s->home_, how);
	return rc;
}

int weft_sem_fini_at(weft_sem *s, const char *where)
{
	enum wf_home_how how = wf_home_enter(&s->home_);
	bool used = s->waiters_.first != NULL && !wf_home_waiters_left(&s->waiters_.of_run);

	wf_home_leave(&s->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "somebody waits for semaphore %p", (void *)s);
	weft_sem_init(s, 0);
	return 0;
}
