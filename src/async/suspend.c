/* suspend.c - waiting for what comes by a callback. */
#include <errno.h>

#include <weft/scope.h>

#include "base/report.h"
#include "platform/symbols.h"
#include "threads/threads.h"

/* Values of weft_wait.state_. WAITING has the number of the run in its top 16 bits. */
enum { IDLE, WAITING, SCHEDULED, STATES = 0xffff };

static uint32_t waiting_now(void)
{
	return WAITING | wf_run_number() << 16;
}

/* 0, or -EOWNERDEAD, reported, if the thread that waited is gone with its run. */
static int check(weft_wait *w, uintptr_t caller)
{
	uint32_t state = __atomic_load_n(&w->state_, __ATOMIC_ACQUIRE);
	char text[256];

	if (WF_LIKELY(state < STATES) || !wf_run_is_over(state >> 16))
		return 0;
	wf_symbol_print(caller, text, sizeof text);
	return wf_misuse(text, -EOWNERDEAD,
			 "wait %p was left in use by an earlier run: make it new by WEFT_WAIT_INIT "
			 "before you use it again",
			 (void *)w);
}

struct suspension {
	struct wf_wait wait;
	weft_wait *user;
	bool stopped;
};

/* Whether it waits now, and nobody else lets it go on. */
static bool let_go(weft_wait *w, uint32_t *old)
{
	*old = __atomic_exchange_n(&w->state_, SCHEDULED, __ATOMIC_ACQ_REL);
	return *old > STATES;
}

/* In the waiter's color: it does not go on before this returns. */
static void stop(struct wf_wait *wait)
{
	struct suspension *s = WF_CONTAINER(wait, struct suspension, wait);
	uint32_t old;

	if (__atomic_load_n(&s->user->state_, __ATOMIC_ACQUIRE) < STATES || !s->user->stop(s->user))
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

	if (rc == 0)
		rc = check(w, WF_CALLER);
	if (rc < 0)
		return rc;
	if (w->stop != NULL)
		s.wait.cancel = stop;
	w->thread_ = wf_thread_self();
	if (__atomic_compare_exchange_n(&w->state_, &idle, waiting_now(), false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		wf_wait(&s.wait, deadline);
	__atomic_store_n(&w->state_, IDLE, __ATOMIC_RELAXED);
	return s.stopped ? s.wait.error : 0;
}

int weft_schedule(weft_wait *w)
{
	uint32_t old = IDLE;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	rc = check(w, WF_CALLER);
	if (rc == 0 && let_go(w, &old))
		wf_thread_wake(w->thread_);
	wf_leave();
	return old == SCHEDULED ? -EALREADY : rc;
}

int weft_schedule_to(weft_wait *w)
{
	weft_thread *self = wf_thread_self(), *t;
	uint32_t old;
	bool same;
	int rc;

	if (self == NULL)
		return weft_schedule(w);
	rc = check(w, WF_CALLER);
	if (rc < 0)
		return rc;
	if (!let_go(w, &old))
		return old == SCHEDULED ? -EALREADY : 0;
	t = w->thread_;
	same = t->event.color == self->event.color; /* else it may be gone when woken */
	wf_thread_wake(t);
	return same ? weft_yield_to(t) : 0;
}
