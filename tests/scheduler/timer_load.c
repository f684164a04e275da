/* Timers while there is much to do: very many that are due at once, and colors that never run
 * dry. There the clock is not read after each batch of short events, but often enough. */
#include "common.h"

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

/* A color whose events are short, and follow each other until all that is waited for came. */

enum { IN_LINE = 20, BUSY = 5, APART = 6 };

static weft_event busy;
static int waited_for;

static void post_again(void *unused)
{
	(void)unused;
	if (waited_for > 0)
		CHECK_EQ(weft_event_post(&busy), 0);
}

static void keep_busy(weft_fn *fn)
{
	weft_event_init(&busy, BUSY, fn, NULL);
	CHECK_EQ(weft_event_post(&busy), 0);
}

/* On one worker, so nothing here is done at the same time. */
static void next_in_line(void *index)
{
	CHECK_EQ((uintptr_t)index, IN_LINE - waited_for);
	waited_for--;
}

static int start_line(void *unused)
{
	uint64_t now = weft_now();

	(void)unused;
	waited_for = IN_LINE;
	/* The last is started first. */
	for (uintptr_t i = IN_LINE; i-- > 0;) {
		weft_timer_init(&timers[i], APART, next_in_line, (void *)i);
		CHECK_EQ(weft_timer_start_until(&timers[i], now + (1 + i) * WEFT_MS), 0);
	}
	keep_busy(post_again);
	return 0;
}

TEST(timers_fire_in_order_beside_a_color_that_never_runs_dry)
{
	CHECK_EQ(weft_run(start_line, NULL, &one), 0);
	CHECK_EQ(waited_for, 0);
}

static int time_out(void *unused)
{
	weft_sem never = WEFT_SEM_INIT(0);

	(void)unused;
	CHECK_EQ(weft_sem_wait_until(&never, weft_now() + 2 * WEFT_MS), -ETIMEDOUT);
	waited_for--;
	return 0;
}

/* Each takes its turn as long as one of the others waits for its deadline. */
static int yield_meanwhile(void *unused)
{
	(void)unused;
	while (waited_for > 0)
		CHECK_EQ(weft_yield(), 0);
	return 0;
}

static int start_waits(void *unused)
{
	(void)unused;
	waited_for = IN_LINE;
	for (int i = 0; i < IN_LINE; i++)
		CHECK_EQ(weft_go(time_out, NULL), 0);
	CHECK_EQ(weft_go(yield_meanwhile, NULL), 0);
	return weft_go(yield_meanwhile, NULL);
}

TEST(deadlines_are_seen_beside_threads_that_do_nothing_but_yield)
{
	CHECK_EQ(weft_run(start_waits, NULL, &one), 0);
	CHECK_EQ(waited_for, 0);
}

/* Short events that become long: so many batches may pass unseen, of ten each. */

enum { SHORT_EVENTS = 5000, UNSEEN = 6 * 10 };

static int ran;

static void came(void *unused)
{
	(void)unused;
	waited_for--;
}

static void short_then_long(void *unused)
{
	uint64_t until = weft_now() + 100 * WEFT_US;

	if (++ran == SHORT_EVENTS)
		CHECK_EQ(weft_timer_start(&timers[0], 50 * WEFT_US), 0);
	while (ran > SHORT_EVENTS && weft_now() < until)
		continue;
	CHECK(ran < SHORT_EVENTS + UNSEEN);
	post_again(unused);
}

static int start_short(void *unused)
{
	(void)unused;
	waited_for = 1;
	weft_timer_init(&timers[0], APART, came, NULL);
	keep_busy(short_then_long);
	return 0;
}

TEST(the_clock_is_read_again_soon_after_short_events_have_become_long)
{
	const weft_options ten = { .workers = 1, .batch = 10, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_short, NULL, &ten), 0);
	CHECK_EQ(waited_for, 0);
}

TEST_MAIN
