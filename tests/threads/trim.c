/* Stacks of threads that wait for long give back what they do not use, and nothing
 * that they do.
 */
#include "scheduler/common.h"

#include "threads/thread.h"
#include "threads/trim.h"

enum { THREADS = 20, DEEP = 100 * 1024 };

static atomic_bool wake;
static atomic_int were_deep;
static weft_thread *thread[THREADS];

static WF_NOINLINE void go_deep(void)
{
	volatile char deep[DEEP];

	for (size_t i = 0; i < sizeof deep; i += 512)
		deep[i] = (char)i;
}

static int use_much_and_wait(void *arg)
{
	char kept[1000];

	go_deep();
	atomic_fetch_add(&were_deep, 1);
	memset(kept, (int)(intptr_t)arg, sizeof kept);
	while (!atomic_load(&wake))
		CHECK_EQ(weft_sleep(WEFT_SEC / 2), 0);
	for (size_t i = 0; i < sizeof kept; i++)
		CHECK_EQ(kept[i], (char)(intptr_t)arg);
	go_deep();
	return 0;
}

static int count_trimmed(void)
{
	int count = 0;

	for (int i = 0; i < THREADS; i++)
		count += wf_stack_used(thread[i]->stack_class, thread[i]) <= DEEP / 2;
	return count;
}

static void start_all(int colors)
{
	atomic_store(&wake, false);
	atomic_store(&were_deep, 0);
	for (intptr_t i = 0; i < THREADS; i++) {
		weft_thread_attr attr = { .on = true, .color = (weft_color)(i % colors) };

		CHECK_EQ(weft_thread_start(&thread[i], &attr, use_much_and_wait, (void *)i), 0);
	}
}

static void end_all(void)
{
	atomic_store(&wake, true);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(weft_join(thread[i], NULL), 0);
}

static int wait_for_trim(void *unused)
{
	(void)unused;
	start_all(7);
	while (atomic_load(&were_deep) < THREADS || count_trimmed() < THREADS)
		CHECK_EQ(weft_sleep(WEFT_MS), 0);
	end_all();
	return 0;
}

TEST(a_thread_that_waits_for_long_gives_unused_pages_back)
{
	weft_options opt = { .workers = 2 };

	wf_trim_after_ns = 5000000;
	CHECK_EQ(weft_run(wait_for_trim, NULL, &opt), 0);
}

static int take_turns_with_trims(void *unused)
{
	int before, now;

	(void)unused;
	start_all(THREADS);
	now = count_trimmed();
	while (atomic_load(&were_deep) < THREADS || now < THREADS) {
		before = now;
		CHECK_EQ(weft_yield(), 0);
		now = count_trimmed();
		CHECK(now <= before + 1);
	}
	end_all();
	return 0;
}

TEST(threads_are_trimmed_one_by_one_between_the_turns_of_others)
{
	/* A stand-in would be a second worker. */
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	wf_trim_after_ns = 1;
	CHECK_EQ(weft_run(take_turns_with_trims, NULL, &opt), 0);
}

static int sleep_a_little(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_sleep(i * WEFT_US), 0);
	return 0;
}

static int start_sleepers(void *unused)
{
	(void)unused;
	for (int i = 0; i < 200; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), sleep_a_little, NULL), 0);
	return 0;
}

TEST(sweeps_do_not_disturb_threads_that_come_and_go)
{
	weft_options opt = { .workers = 3 };

	wf_trim_after_ns = 1;
	CHECK_EQ(weft_run(start_sleepers, NULL, &opt), 0);
}

TEST_MAIN
