/* Threads that start, wake or yield to each other run ahead of the others of their
 * color, but starve nobody (S3), and what is counted as queued is what is queued.
 */
#include "scheduler/common.h"

enum { ENOUGH = 20 };

static atomic_bool enough;
static atomic_int third_ran;

static int count_and_yield(void *unused)
{
	(void)unused;
	while (atomic_fetch_add(&third_ran, 1) < ENOUGH)
		weft_yield();
	atomic_store(&enough, true);
	return 0;
}

static void compute(void)
{
	uint64_t until = weft_now() + 50 * WEFT_US;

	while (weft_now() < until)
		;
}

static weft_sem to[2];

static int wake_the_other(void *me)
{
	intptr_t i = (intptr_t)me;

	while (!atomic_load(&enough)) {
		CHECK_EQ(weft_sem_wait(&to[i]), 0);
		compute();
		CHECK_EQ(weft_sem_post(&to[1 - i]), 0);
	}
	CHECK_EQ(weft_sem_post(&to[1 - i]), 0);
	return 0;
}

static int start_three(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_sem_post(&to[0]), 0);
	for (intptr_t i = 0; i < 2; i++)
		CHECK_EQ(weft_go(wake_the_other, (void *)i), 0);
	return weft_go(count_and_yield, NULL);
}

TEST(two_that_wake_each_other_do_not_starve_a_third)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(start_three, NULL, &opt), 0);
	CHECK(atomic_load(&third_ran) > ENOUGH);
}

static weft_thread *pair[2];

static int yield_to_the_other(void *me)
{
	while (!atomic_load(&enough))
		CHECK_EQ(weft_yield_to(pair[1 - (intptr_t)me]), 0);
	return 0;
}

static int start_pair(void *unused)
{
	(void)unused;
	for (intptr_t i = 0; i < 2; i++)
		CHECK_EQ(weft_thread_start(&pair[i], NULL, yield_to_the_other, (void *)i), 0);
	CHECK_EQ(weft_go(count_and_yield, NULL), 0);
	CHECK_EQ(weft_join(pair[0], NULL), 0);
	return weft_join(pair[1], NULL);
}

TEST(two_that_yield_to_each_other_do_not_starve_a_third)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(start_pair, NULL, &opt), 0);
}

/* A chain: each starts the next and ends. */
static int start_the_next(void *unused)
{
	if (!atomic_load(&enough))
		CHECK_EQ(weft_go(start_the_next, unused), 0);
	return 0;
}

static int start_chain(void *unused)
{
	CHECK_EQ(weft_go(start_the_next, unused), 0);
	return weft_go(count_and_yield, NULL);
}

TEST(a_chain_of_threads_does_not_starve_another)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(start_chain, NULL, &opt), 0);
}

/* Overload is judged by what is queued: threads that take turns are not. */
static int ran, dropped;

static void run_it(void *unused)
{
	(void)unused;
	ran++;
}

static void drop_it(void *unused)
{
	(void)unused;
	dropped++;
}

static int yield_until_enough(void *unused)
{
	(void)unused;
	while (!atomic_load(&enough))
		weft_yield();
	return 0;
}

static int post_among_yields(void *unused)
{
	static weft_event ev;

	CHECK_EQ(weft_go(yield_until_enough, unused), 0);
	for (int i = 0; i < 50; i++) {
		for (int k = 0; k < 200; k++)
			weft_yield();
		weft_event_init(&ev, weft_color_new(), run_it, NULL);
		ev.drop = drop_it;
		CHECK_EQ(weft_event_post(&ev), 0);
		while (ran + dropped <= i)
			weft_yield();
	}
	atomic_store(&enough, true);
	return 0;
}

TEST(threads_that_take_turns_are_no_overload)
{
	weft_options opt = { .workers = 1, .queue_depth = 50 };

	CHECK_EQ(weft_run(post_among_yields, NULL, &opt), 0);
	CHECK_EQ(ran, 50);
	CHECK_EQ(dropped, 0);
}

/* A join that timed out while another joined the thread, and its memory became
 * another thread. */
static weft_sem go_on;
static weft_thread *joined, *later;
static int late_rc, late_result = -1;

static int wait_and_give(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_sem_wait(&go_on), 0);
	return 11;
}

static int give_22(void *unused)
{
	(void)unused;
	return 22;
}

static int join_in_time(void *unused)
{
	(void)unused;
	late_rc = weft_join_until(joined, &late_result, weft_now() + 2 * WEFT_MS);
	return 0;
}

static int join_instead(void *unused)
{
	int result = -1;

	(void)unused;
	while (weft_join_until(joined, &result, 0) == -EBUSY)
		weft_yield();
	CHECK_EQ(weft_sem_post(&go_on), 0);
	CHECK_EQ(weft_join(joined, &result), 0);
	CHECK_EQ(result, 11);
	CHECK_EQ(weft_thread_start(&later, NULL, give_22, NULL), 0);
	while (late_rc == 0)
		weft_yield();
	CHECK_EQ(weft_join(later, &result), 0);
	CHECK_EQ(result, 22);
	return 0;
}

static int start_joiners(void *unused)
{
	weft_thread *a, *b;

	CHECK_EQ(weft_thread_start(&joined, NULL, wait_and_give, unused), 0);
	CHECK_EQ(weft_thread_start(&a, NULL, join_in_time, unused), 0);
	CHECK_EQ(weft_thread_start(&b, NULL, join_instead, unused), 0);
	CHECK_EQ(weft_join(a, NULL), 0);
	return weft_join(b, NULL);
}

TEST(a_join_that_timed_out_leaves_the_thread_alone)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(start_joiners, NULL, &opt), 0);
	CHECK_EQ(late_rc, -ETIMEDOUT);
	CHECK_EQ(late_result, -1);
}

TEST_MAIN
