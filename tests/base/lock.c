/* The spin lock, and the check of the lock order. */
#include "base/lock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/test.h"

enum { THREADS = 4 };

static struct wf_lock lock, below, above;
static long counted; /* under the lock */
static long rounds;

static void *count_under_lock(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		wf_lock_take(&lock);
		counted++;
		wf_lock_give(&lock);
	}
	return unused;
}

static void *count_by_trying(void *unused)
{
	for (long i = 0; i < rounds;) {
		if (!wf_lock_try(&lock)) {
			sched_yield();
			continue;
		}
		counted++;
		wf_lock_give(&lock);
		i++;
	}
	return unused;
}

TEST(one_thread_at_a_time_holds_a_lock)
{
	pthread_t thread[THREADS];

	rounds = TEST_SIZE(100000);
	wf_lock_init(&lock, WF_RANK_RUNQ);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL,
					i % 2 ? count_under_lock : count_by_trying, NULL),
			 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(counted, THREADS * rounds);
}

static void try_what_is_held(void) WF_NO_THREAD_SAFETY
{
	wf_lock_take(&lock);
	CHECK(!wf_lock_try(&lock));
	wf_lock_give(&lock);
	CHECK(wf_lock_try(&lock));
	wf_lock_give(&lock);
}

TEST(a_lock_that_is_held_is_not_taken_by_trying)
{
	wf_lock_init(&lock, WF_RANK_RUNQ);
	try_what_is_held();
}

static _Atomic int waiter;

static void *wait_for_lock(void *unused)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	wf_lock_take(&lock);
	wf_lock_give(&lock);
	return unused;
}

static char state_of(int tid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (f != NULL) {
		CHECK_EQ(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
		fclose(f);
	}
	return state;
}

static void keep_one_waiting_until_it_sleeps(void) WF_NO_THREAD_SAFETY
{
	pthread_t thread;

	wf_lock_take(&lock);
	CHECK_EQ(pthread_create(&thread, NULL, wait_for_lock, NULL), 0);
	while (atomic_load(&waiter) == 0 || state_of(atomic_load(&waiter)) != 'S')
		sched_yield();
	wf_lock_give(&lock);
	pthread_join(thread, NULL);
}

TEST(who_waits_for_a_holder_that_lost_its_cpu_sleeps)
{
	wf_lock_init(&lock, WF_RANK_RUNQ);
	keep_one_waiting_until_it_sleeps();
}

TEST(locks_in_rising_order_may_be_held_together_and_given_in_any_order)
{
	wf_lock_init(&below, WF_RANK_COLOR);
	wf_lock_init(&above, WF_RANK_RUNQ);
	wf_lock_take(&below);
	wf_lock_take(&above);
	wf_lock_give(&above);
	wf_lock_give(&below);
	wf_lock_take(&below);
	wf_lock_take(&above);
	wf_lock_give(&below);
	wf_lock_give(&above);
	wf_lock_order_none();
	/* None of them is left taken. */
	CHECK(wf_lock_try(&below));
	CHECK(wf_lock_try(&above));
	wf_lock_give(&above);
	wf_lock_give(&below);
}

#ifdef WEFT_DEBUG
static void take_falling(void) WF_NO_THREAD_SAFETY
{
	wf_lock_take(&above);
	wf_lock_take(&below);
}

static void take_twice(void) WF_NO_THREAD_SAFETY
{
	wf_lock_take(&above);
	wf_lock_take(&above);
}

static void try_falling(void) WF_NO_THREAD_SAFETY
{
	wf_lock_take(&above);
	if (wf_lock_try(&below))
		wf_lock_give(&below);
}

static void hold_where_none_may_be(void) WF_NO_THREAD_SAFETY
{
	wf_lock_take(&below);
	wf_lock_order_none();
}

TEST(a_debug_build_aborts_on_a_breach_of_the_lock_order)
{
	wf_lock_init(&below, WF_RANK_COLOR);
	wf_lock_init(&above, WF_RANK_RUNQ);
	CHECK_ABORTS(take_falling);
	CHECK_ABORTS(take_twice);
	CHECK_ABORTS(try_falling);
	CHECK_ABORTS(hold_where_none_may_be);
}
#endif

TEST_MAIN
