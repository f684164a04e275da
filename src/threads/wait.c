/* wait.c - waiting with a deadline; lists of those who wait. */
#include "threads/wait.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/report.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "threads/home.h"

/* ns until a foreign kernel thread that waits first checks whether a thread is left to wake it; and
 * the longest pause between such checks. */
#define FIRST_LOOK ((uint64_t)1 << 20)
#define LAST_LOOK ((uint64_t)1 << 33)

struct wf_wait wf_wait_finish = { .what = "finish" };

int wf_wait_refused(void)
{
	return wf_thread_forked != NULL && wf_worker_self() == NULL ? -ESHUTDOWN : -EPERM;
}

/* Once: what comes second finds it under way. */
void wf_wait_cancel(struct wf_wait *wait, int error)
{
	if (wait->cancel == NULL || wait->error != 0)
		return;
	atomic_store(&wait->cancelling, true);
	if (!atomic_load(&wait->woken)) {
		wait->error = error;
		wait->cancel(wait);
	}
	atomic_store_explicit(&wait->cancelling, false, memory_order_release);
}

/* In the waiter's color. */
static void expire(void *wait)
{
	wf_wait_cancel(wait, -ETIMEDOUT);
}

WF_NOINLINE void wf_waiter_wait_for_cancel(struct wf_waiter *w)
{
	for (int i = 0; atomic_load_explicit(&w->wait.cancelling, memory_order_acquire); i++) {
		if (i < 64)
			wf_relax();
		else
			sched_yield();
	}
}

static WF_NOINLINE void wait_until(struct wf_wait *wait, uint64_t deadline)
{
	weft_timer timer;

	weft_timer_init(&timer, wf_thread_self()->event.color, expire, wait);
	if (wf_worker_past(wf_worker_self(), deadline))
		expire(wait);
	else
		(void)weft_timer_start_until(&timer, deadline);
	wf_park(wait);
	(void)weft_timer_cancel(&timer);
}

static inline void wait_as(const weft_thread *self, struct wf_wait *wait, uint64_t deadline)
{
	if (WF_UNLIKELY(wf_thread_cancelled(self)))
		wf_wait_cancel(wait, -ECANCELED);
	if (WF_LIKELY(deadline == UINT64_MAX))
		wf_park(wait);
	else
		wait_until(wait, deadline);
}

WF_HOT void wf_wait(struct wf_wait *wait, uint64_t deadline)
{
	wait_as(wf_thread_self(), wait, deadline);
}

void wf_waiter_init(struct wf_waiter *w, const char *what, const void *object,
		    void (*cancel)(struct wf_wait *wait))
{
	wf_waiter_init_as(w, wf_thread_self(), what, object, cancel);
}

/* Foreign kernel threads */

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };
}

/* Outside of runs, only another kernel thread can wake one that sleeps without a deadline. So such
 * sleepers are counted, each until it is woken: if all threads of the process sleep, no thread is
 * left to wake one. `timed` counts the sleepers with a deadline, which wake by themselves. */
static _Atomic int sleepers, timed;

/* A forked child has one thread, and that is awake. */
static void forget_sleepers(void)
{
	atomic_store(&sleepers, 0);
	atomic_store(&timed, 0);
}

static __attribute__((constructor)) void begin(void)
{
	(void)pthread_atfork(NULL, NULL, forget_sleepers);
}

/* How many threads the process has, as the kernel counts; INT_MAX if it does not tell. */
static int count_threads(void)
{
	char text[WF_FILE_SIZE], *at;
	long n = 0;

	if (wf_file_read(text, "/proc/self/status") > 0) {
		at = strstr(text, "\nThreads:");
		n = at != NULL ? strtol(at + sizeof "\nThreads:" - 1, NULL, 10) : 0;
	}
	return n > 0 && n < INT_MAX ? (int)n : INT_MAX;
}

/* Called by a sleeper that is counted and was not woken. A thread that is about to wake it counts
 * as awake. */
static bool nobody_is_left(void)
{
	if (wf_enter() == 0) {
		wf_leave();
		return false;
	}
	return atomic_load(&timed) == 0 && atomic_load(&sleepers) >= count_threads();
}

static bool is_woken(struct wf_waiter *w)
{
	return atomic_load_explicit(&w->futex, memory_order_acquire) != 0;
}

/* False: the time came first. */
static bool sleep_until(struct wf_waiter *w, uint64_t when)
{
	struct timespec at = as_timespec(when);

	while (!is_woken(w)) {
		long r = syscall(SYS_futex, &w->futex, FUTEX_WAIT_BITSET_PRIVATE, 0,
				 when != UINT64_MAX ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY);

		if (r < 0 && errno == ETIMEDOUT)
			return is_woken(w);
	}
	return true;
}

/* Checks at growing intervals whether a thread is left to wake this one: threads may end. */
static void sleep_without_deadline(struct wf_waiter *w, const char *where)
{
	uint64_t pause = FIRST_LOOK;

	while (!sleep_until(w, wf_now() + pause) && !nobody_is_left())
		pause *= pause < LAST_LOOK ? 2 : 1;
	if (is_woken(w))
		return;
	(void)wf_misuse(where, -EDEADLK,
			"waits for ever for %s %p: no run is under way, and no other thread of the "
			"process is awake",
			w->wait.what, (void *)w->wait.on);
	wf_wait_cancel(&w->wait, -EDEADLK);
	(void)sleep_until(w, UINT64_MAX);
}

static WF_NOINLINE void sleep_in_kernel(struct wf_waiter *w, uint64_t deadline, const char *where)
{
	bool limited = deadline != UINT64_MAX;

	if (limited)
		atomic_fetch_add(&timed, 1);
	atomic_fetch_add(&sleepers, 1);
	if (!limited) {
		sleep_without_deadline(w, where);
		return;
	}
	if (!sleep_until(w, deadline))
		wf_wait_cancel(&w->wait, -ETIMEDOUT);
	(void)sleep_until(w, UINT64_MAX);
	atomic_fetch_sub(&timed, 1);
}

void wf_waiter_sleep(struct wf_waiter *w, uint64_t deadline, const char *where)
{
	if (WF_UNLIKELY(w->thread == NULL))
		sleep_in_kernel(w, deadline, where);
	else
		wait_as(w->thread, &w->wait, deadline);
}

/* A foreign kernel thread may do it: if the run is over so is the thread. */
static WF_NOINLINE void wake_thread(weft_thread *t)
{
	if (wf_enter() < 0)
		return;
	wf_thread_wake(t);
	wf_leave();
}

static void wake_in_kernel(_Atomic uint32_t *futex)
{
	atomic_fetch_sub(&sleepers, 1);
	/* After the store it may be gone: waking an address that nobody waits at, or
	 * that is something else by now, does no harm. */
	atomic_store_explicit(futex, 1, memory_order_release);
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static WF_NOINLINE void wake_other(struct wf_waiter *w)
{
	if (w->wake != NULL)
		w->wake(w);
	else
		wake_in_kernel(&w->futex);
}

void wf_waiter_wake(struct wf_waiter *w)
{
	weft_thread *t = w->thread;

	if (WF_UNLIKELY(t == NULL))
		wake_other(w);
	else if (WF_LIKELY(wf_thread_current != NULL))
		wf_thread_wake(t);
	else
		wake_thread(t);
}

/* Lists */

void wf_waiters_add(struct wf_waiters *list, struct wf_waiter *w)
{
	if (!wf_waiter_is_foreign(w))
		wf_of_run_add(&list->of_run);
	w->next = NULL;
	w->prev = list->last;
	if (list->last != NULL)
		list->last->next = w;
	else
		list->first = w;
	list->last = w;
	w->listed = true;
}

void wf_waiters_remove(struct wf_waiters *list, struct wf_waiter *w)
{
	if (!wf_waiter_is_foreign(w)) {
		wf_of_run_drop(&list->of_run);
	} else if (wf_home_waiters_left(&list->of_run)) {
		w->listed = false; /* its neighbours are gone */
		return;
	}
	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		list->first = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	else
		list->last = w->prev;
	w->listed = false;
}
