/* The two clocks agree with each other. */
#include "platform/clock.h"

#include <pthread.h>
#include <time.h>

#include "harness/test.h"

TEST(the_clock_never_goes_back)
{
	uint64_t last = wf_now();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = wf_now();

		CHECK(now >= last);
		last = now;
	}
}

TEST(ticks_are_nanoseconds_before_the_counter_is_measured)
{
	uint64_t now = wf_now();

	CHECK_EQ(wf_ticks_to_ns(123456789), 123456789);
	CHECK_EQ(wf_ns_to_ticks(123456789), 123456789);
	CHECK(wf_ticks() >= now);
}

TEST(measuring_again_changes_nothing)
{
	struct wf_clock_rate first;

	wf_clock_init();
	first = wf_clock_rate;
	wf_clock_init();
	CHECK_EQ(first.ns_per_tick, wf_clock_rate.ns_per_tick);
	CHECK_EQ(first.ticks_per_ns, wf_clock_rate.ticks_per_ns);
	CHECK_EQ(first.counter, wf_clock_rate.counter);
}

/* Both clocks time the same 20 ms; which lie between two readings of each, so a
 * lost time slice moves one of the bounds, not the verdict. */
TEST(ticks_keep_time_with_the_clock)
{
	uint64_t outer, inner, measured, begin, ticks;

	wf_clock_init();
	begin = wf_now();
	ticks = wf_ticks();
	inner = wf_now();
	while (wf_now() - inner < 20000000)
		;
	inner = wf_now() - inner;
	measured = wf_ticks_to_ns(wf_ticks() - ticks);
	outer = wf_now() - begin;
	CHECK(measured >= inner - inner / 100);
	CHECK(measured <= outer + outer / 100);
}

TEST(conversion_there_and_back_loses_next_to_nothing)
{
	wf_clock_init();
	for (uint64_t ns = 1000; ns < UINT64_MAX / 1000000; ns *= 10) {
		uint64_t back = wf_ticks_to_ns(wf_ns_to_ticks(ns));

		CHECK(back <= ns + ns / 100000);
		CHECK(back >= ns - ns / 100000 - wf_ticks_to_ns(1) - 2);
	}
}

static void *init_here(void *unused)
{
	(void)unused;
	wf_clock_init();
	return (void *)(uintptr_t)wf_clock_rate.ns_per_tick;
}

TEST(threads_that_measure_at_once_get_one_rate)
{
	pthread_t thread[4];
	void *rate;

	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, init_here, NULL), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(pthread_join(thread[i], &rate), 0);
		CHECK_EQ((uintptr_t)rate, wf_clock_rate.ns_per_tick);
	}
}

TEST_MAIN
