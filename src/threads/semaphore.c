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

/* Whether there was a unit to take. With `w` queues up for one if not. */
static inline bool take(weft_sem *s, struct wf_waiter *w)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, wf_thread_current);
	bool got = s->value_ > 0;

	if (got)
		s->value_--;
	else if (w != NULL)
		wf_waiters_add(&s->waiters_, w);
	wf_home_leave(&s->home_, how);
	return got;
}

static WF_NOINLINE int wait_for_unit(weft_sem *s, uint64_t deadline)
{
	struct wf_waiter w;
	int rc = wf_home_may_wait(deadline);

	if (rc < 0)
		return rc;
	wf_waiter_init(&w, "semaphore", s, stop_waiting);
	if (take(s, &w))
		return 0;
	wf_waiter_sleep(&w, deadline);
	return w.granted ? 0 : w.wait.error;
}

int weft_sem_wait_until(weft_sem *s, uint64_t deadline)
{
	return WF_LIKELY(take(s, NULL)) ? 0 : wait_for_unit(s, deadline);
}

int weft_sem_trywait(weft_sem *s)
{
	return take(s, NULL) ? 0 : -EBUSY;
}

int weft_sem_post(weft_sem *s)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, wf_thread_current);
	struct wf_waiter *next = s->waiters_.first;
	int rc = 0;

	if (next != NULL) {
		wf_waiters_remove(&s->waiters_, next);
		next->granted = true;
	} else if (s->value_ == UINT32_MAX) {
		rc = -EOVERFLOW;
	} else {
		s->value_++;
	}
	wf_home_leave_waking(&s->home_, how, next);
	return rc;
}

int weft_sem_fini_at(weft_sem *s, const char *where)
{
	enum wf_home_how how = wf_home_enter(&s->home_);
	bool used = s->waiters_.first != NULL;

	wf_home_leave(&s->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "somebody waits for semaphore %p", (void *)s);
	weft_sem_init(s, 0);
	return 0;
}
