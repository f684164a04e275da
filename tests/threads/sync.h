/* sync.h - what tests of locks and their like share: runs in one color and in several,
 * threads and foreign kernel threads, and deadlines that come when told to.
 */
#ifndef TESTS_THREADS_SYNC_H
#define TESTS_THREADS_SYNC_H

#include <weft/sync.h>

#include "common.h"
#include "threads/home.h"

static void run_with(int workers, int (*fn)(void *)) UNUSED;
static void run_with(int workers, int (*fn)(void *))
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

/* Runs it with all threads in one color, then with each in its own, on two workers
 * and on more than there are CPUs. */
static void run_all(int (*fn)(void *)) UNUSED;
static void run_all(int (*fn)(void *))
{
	many_colors = false;
	run_with(2, fn);
	many_colors = true;
	run_with(2, fn);
	run_with(4, fn);
}

/* Whether the thread waits for something; told by one of its own color, or that is as
 * good as any other moment. */
static bool waits(weft_thread *t) UNUSED;
static bool waits(weft_thread *t)
{
	return atomic_load(&t->wait) != NULL && atomic_load(&t->state) == WF_THREAD_PARKED;
}

/* A deadline comes now, for a thread of the caller's color that has waited and has not
 * gone on. */
static void expire_now(weft_thread *t) UNUSED;
static void expire_now(weft_thread *t)
{
	struct wf_wait *wait = atomic_load(&t->wait);

	CHECK(wait != NULL);
	wf_wait_cancel(wait, -ETIMEDOUT);
}

/* How many wait in a list; the caller knows that nobody changes it. */
static int waiting(const struct wf_waiters *list) UNUSED;
static int waiting(const struct wf_waiters *list)
{
	int n = 0;

	for (struct wf_waiter *w = list->first; w != NULL; w = w->next)
		n++;
	return n;
}

/* How many wait in a list of an object that is in use. */
static int waiting_inside(struct wf_home *home, const struct wf_waiters *list) UNUSED;
static int waiting_inside(struct wf_home *home, const struct wf_waiters *list)
{
	enum wf_home_how how = wf_home_enter(home);
	int n = waiting(list);

	wf_home_leave(home, how);
	return n;
}

/* How many deadlines to race with: WEFT_TEST_RACES, for long runs. */
static long races(void) UNUSED;
static long races(void)
{
	const char *text = getenv("WEFT_TEST_RACES");

	return text != NULL ? atol(text) : TEST_SIZE(10000);
}

/* A time near now, before it or behind it: about as far off as a switch or a timer. */
static uint64_t soon(uint64_t *seed) UNUSED;
static uint64_t soon(uint64_t *seed)
{
	return weft_now() + random_below(seed, 60 * WEFT_US);
}

/* Runs fn in a foreign kernel thread, while the run goes on. */
struct foreign {
	void (*fn)(void *arg);
	void *arg;
	pthread_t thread;
};

static void *foreign_main(void *arg) UNUSED;
static void *foreign_main(void *arg)
{
	struct foreign *f = arg;

	f->fn(f->arg);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static void foreign_start(struct foreign *f, void (*fn)(void *), void *arg) UNUSED;
static void foreign_start(struct foreign *f, void (*fn)(void *), void *arg)
{
	f->fn = fn;
	f->arg = arg;
	CHECK_EQ(weft_hold(), 0);
	f->thread = thread_start(foreign_main, f);
}

static void foreign_join(struct foreign *f) UNUSED;
static void foreign_join(struct foreign *f)
{
	thread_join(f->thread);
}

#endif
