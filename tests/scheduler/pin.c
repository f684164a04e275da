/* Pinned colors: on their worker and nowhere else. */
#include "common.h"

#include "scheduler/runtime.h"

enum { WORKERS = 3, COLOR = 40 };

static atomic_int runs, target;

static void on_target(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_worker_current(), atomic_load(&target));
	atomic_fetch_add(&runs, 1);
}

static void filler(void *unused)
{
	(void)unused;
	atomic_fetch_add(&runs, 1);
}

/* Each worker in turn gets the color, among colors that may be stolen. */
static int pin_and_post(void *arg)
{
	atomic_store(&target, (int)(intptr_t)arg);
	CHECK_EQ(weft_color_pin(COLOR, (int)(intptr_t)arg), 0);
	for (int i = 0; i < 1000; i++) {
		CHECK_EQ(weft_post(COLOR, on_target, NULL), 0);
		CHECK_EQ(weft_post((weft_color)(100 + i % 20), filler, NULL), 0);
	}
	return 0;
}

TEST(a_pinned_color_runs_on_its_worker_only)
{
	static const char *const steals[] = { "base", "all", "off" };

	CHECK_EQ(weft_handler_time(on_target, 1000000), 0); /* tempting */
	for (intptr_t i = 0; i < 9; i++) {
		weft_options opt = { .workers = WORKERS, .steal = steals[i / 3], .stall_ms = -1 };

		atomic_store(&runs, 0);
		CHECK_EQ(weft_run(pin_and_post, (void *)(i % 3), &opt), 0);
		CHECK_EQ(atomic_load(&runs), 2000);
	}
}

/* Nobody steals it though its worker is busy and others are idle. */
static atomic_bool pinned_ran;

static void note_ran(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_worker_current(), atomic_load(&target));
	atomic_store(&pinned_ran, true);
}

static atomic_int fillers_ran;

static void filler_elsewhere(void *unused)
{
	(void)unused;
	atomic_fetch_add(&fillers_ran, 1);
}

static int post_while_busy(void *unused)
{
	(void)unused;
	atomic_store(&target, weft_worker_current());
	CHECK_EQ(weft_color_pin(COLOR, weft_worker_current()), 0);
	CHECK_EQ(weft_post(COLOR, note_ran, NULL), 0);
	for (int i = 0; i < 50; i++)
		CHECK_EQ(weft_post((weft_color)(200 + i), filler_elsewhere, NULL), 0);
	WAIT_FOR(atomic_load(&fillers_ran) == 50); /* thieves were here */
	CHECK(!atomic_load(&pinned_ran));
	return 0;
}

TEST(thieves_leave_a_pinned_color_alone)
{
	weft_options opt = { .workers = 2, .steal = "base", .stall_ms = -1 };

	CHECK_EQ(weft_run(post_while_busy, NULL, &opt), 0);
	CHECK(atomic_load(&pinned_ran));
}

/* Moving the pin about while events come */

static atomic_int left_to_move;
static atomic_int inside;

static void move_pin(void *unused)
{
	int left = atomic_fetch_sub(&left_to_move, 1);

	CHECK_EQ(atomic_fetch_add(&inside, 1), 0);
	CHECK_EQ(weft_color_current(), COLOR);
	CHECK_EQ(weft_color_pin(COLOR, left % (WORKERS + 1) - 1), 0);
	if (left > 1)
		CHECK_EQ(weft_post(COLOR, move_pin, unused), 0);
	atomic_fetch_sub(&inside, 1);
}

static void *pin_from_outside(void *unused)
{
	int i = 0;

	while (weft_color_pin(COLOR, i++ % (WORKERS + 1) - 1) != -ESHUTDOWN &&
	       atomic_load(&left_to_move) > 0)
		sched_yield();
	return unused;
}

static pthread_t pinner;

static int start_moving(void *unused)
{
	pinner = thread_start(pin_from_outside, NULL);
	return weft_post(COLOR, move_pin, unused);
}

TEST(a_pin_can_be_moved_at_any_time)
{
	weft_options opt = { .workers = WORKERS, .steal = "base", .batch = 2 };

	atomic_store(&left_to_move, TEST_SIZE(20000));
	CHECK_EQ(weft_run(start_moving, NULL, &opt), 0);
	thread_join(pinner);
	CHECK_EQ(atomic_load(&left_to_move), 0);
}

/* "Takes effect when the color next gets a turn" */

static void on_other(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_worker_current(), atomic_load(&target));
	atomic_fetch_add(&runs, 1);
}

static int pin_what_is_queued(void *unused)
{
	int here = weft_worker_current();

	(void)unused;
	for (weft_color c = 300; c < 400; c++)
		CHECK_EQ(weft_post(c, on_other, NULL), 0); /* queued here, free to steal */
	atomic_store(&target, (here + 1) % WORKERS);
	for (weft_color c = 300; c < 400; c++)
		CHECK_EQ(weft_color_pin(c, (here + 1) % WORKERS), 0);
	return 0;
}

TEST(a_color_that_is_queued_when_it_is_pinned_goes_where_it_is_pinned)
{
	/* Not stolen before the pins are there: nothing is worth it. */
	weft_options opt = {
		.workers = WORKERS, .steal = "time", .steal_cost_ns = 1000000000, .stall_ms = -1
	};

	CHECK_EQ(weft_handler_time(on_other, 100), 0);
	for (int i = 0; i < 20; i++) {
		atomic_store(&runs, 0);
		CHECK_EQ(weft_run(pin_what_is_queued, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&runs), 100);
	}
}

static size_t records;

static void count_record(struct wf_color *c)
{
	(void)c;
	records++;
}

static int pin_badly(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_pin(COLOR, WORKERS), -EINVAL);
	CHECK_EQ(weft_color_pin(COLOR, -2), -EINVAL);
	CHECK_EQ(weft_color_pin((weft_color)1 << 63 | 12345, 0), -EINVAL);
	/* A pin costs a record, which goes with it; no pin costs none. */
	for (weft_color c = 1000; c < 2000; c++)
		CHECK_EQ(weft_color_pin(c, (int)(c % WORKERS)), 0);
	for (weft_color c = 1000; c < 2000; c++) {
		CHECK_EQ(weft_color_pin(c, -1), 0);
		CHECK_EQ(weft_color_pin(c, -1), 0);
	}
	return 0;
}

static int pin_badly_alone(void *unused)
{
	pin_badly(unused);
	wf_table_each(&wf_rt->sched.table, count_record);
	CHECK_EQ(records, 1); /* this handler's own color */
	return 0;
}

TEST(wrong_pins_are_refused_and_ended_pins_cost_nothing)
{
	weft_options opt = { .workers = WORKERS };

	CHECK_EQ(weft_color_pin(COLOR, 0), -ESHUTDOWN);
	CHECK_EQ(weft_run(pin_badly_alone, NULL, &opt), 0);
	CHECK_EQ(weft_color_pin(COLOR, 0), -ESHUTDOWN);
}

TEST_MAIN
