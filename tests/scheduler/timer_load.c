/* Very many timers that are due at once. */
#include <weft/weft.h>

#include "harness/test.h"

enum { TIMERS = 5000, AT_ONCE = 500 };

static weft_timer timers[TIMERS];
static int calls;

/* A timer that has not fired is still started: it can be cancelled or put off. */
static void look(void *unused)
{
	weft_worker_stats w;

	(void)unused;
	CHECK_EQ(weft_stats(NULL, &w, 1), 1);
	if (calls++ == 0)
		CHECK(w.timers >= TIMERS - AT_ONCE);
}

static int start_past(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMERS; i++) {
		weft_timer_init(&timers[i], WEFT_MAIN, look, NULL);
		CHECK_EQ(weft_timer_start_until(&timers[i], 1), 0);
	}
	return 0;
}

static int start_soon(void *unused)
{
	uint64_t soon = weft_now() + 20 * WEFT_MS;

	(void)unused;
	for (int i = 0; i < TIMERS; i++) {
		weft_timer_init(&timers[i], WEFT_MAIN, look, NULL);
		CHECK_EQ(weft_timer_start_until(&timers[i], soon), 0);
	}
	return 0;
}

/* A worker that is taken to be stuck would have its timers fired by another. */
static const weft_options one = { .workers = 1, .stall_ms = -1 };

TEST(of_timers_that_are_due_together_few_are_posted_at_once_and_all_run)
{
	CHECK_EQ(weft_run(start_past, NULL, &one), 0);
	CHECK_EQ(calls, TIMERS);
	calls = 0;
	CHECK_EQ(weft_run(start_soon, NULL, &one), 0);
	CHECK_EQ(calls, TIMERS);
}

TEST_MAIN
