/* suspend.c - waiting for what comes by a callback. */
#include <errno.h>

#include <weft/scope.h>

#include "threads/threads.h"

/* weft_wait.state_ */
enum { IDLE, WAITING, SCHEDULED };

struct suspension {
	struct wf_wait wait;
	weft_wait *user;
	bool stopped;
};

/* Whether it waits now, and nobody else lets it go on. */
static bool let_go(weft_wait *w, uint32_t *old)
{
	*old = __atomic_exchange_n(&w->state_, SCHEDULED, __ATOMIC_ACQ_REL);
	return *old == WAITING;
}

/* In the waiter's color: it does not go on before this returns. */
static void stop(struct wf_wait *wait)
{
	struct suspension *s = WF_CONTAINER(wait, struct suspension, wait);
	uint32_t old;

	if (__atomic_load_n(&s->user->state_, __ATOMIC_ACQUIRE) != WAITING ||
	    !s->user->stop(s->user))
		return;
	s->stopped = let_go(s->user, &old);
	if (s->stopped)
		wf_thread_wake(s->user->thread_);
}

int weft_suspend_until(weft_wait *w, uint64_t deadline)
{
	struct suspension s = { .wait = { .what = w->what, .on = (uintptr_t)w }, .user = w };
	uint32_t idle = IDLE;
	int rc = wf_wait_allowed();

	if (rc < 0)
		return rc;
	if (w->stop != NULL)
		s.wait.cancel = stop;
	w->thread_ = wf_thread_self();
	if (__atomic_compare_exchange_n(&w->state_, &idle, WAITING, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		wf_wait(&s.wait, deadline);
	__atomic_store_n(&w->state_, IDLE, __ATOMIC_RELAXED);
	return s.stopped ? s.wait.error : 0;
}

int weft_schedule(weft_wait *w)
{
	uint32_t old;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	if (let_go(w, &old))
		wf_thread_wake(w->thread_);
	wf_leave();
	return old == SCHEDULED ? -EALREADY : 0;
}

int weft_schedule_to(weft_wait *w)
{
	weft_thread *self = wf_thread_self(), *t;
	uint32_t old;
	bool same;

	if (self == NULL)
		return weft_schedule(w);
	if (!let_go(w, &old))
		return old == SCHEDULED ? -EALREADY : 0;
	t = w->thread_;
	same = t->event.color == self->event.color; /* else it may be gone when woken */
	wf_thread_wake(t);
	return same ? weft_yield_to(t) : 0;
}
