/* sleep.c - waiting for nothing but time. */
#include <errno.h>

#include "platform/clock.h"
#include "threads/thread.h"

struct nap {
	struct wf_wait wait;
	weft_timer timer;
	weft_thread *thread;
};

/* In the sleeper's color, where a timer that has not woken it can be taken back. */
static void stop_sleeping(struct wf_wait *wait)
{
	struct nap *nap = WF_CONTAINER(wait, struct nap, wait);

	if (weft_timer_cancel(&nap->timer) == 0)
		wf_thread_wake(nap->thread);
}

int weft_sleep_until(uint64_t when)
{
	struct nap nap = { .wait = { .what = "sleep", .cancel = stop_sleeping } };
	int rc = wf_wait_allowed();

	if (rc < 0)
		return rc;
	nap.wait.on = (uintptr_t)when;
	nap.thread = wf_thread_self();
	weft_timer_init(&nap.timer, nap.thread->event.color, wf_thread_resume, nap.thread);
	nap.timer.event.priority = nap.thread->event.priority;
	rc = weft_timer_start_until_at(&nap.timer, when, nap.thread->event.where_);
	if (rc < 0)
		return rc;
	wf_wait(&nap.wait, WEFT_FOREVER);
	return nap.wait.error;
}

int weft_sleep(uint64_t ns)
{
	uint64_t now = wf_now();

	return weft_sleep_until(ns < UINT64_MAX - now ? now + ns : UINT64_MAX - 1);
}
