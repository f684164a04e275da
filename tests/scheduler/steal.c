/* Stealing on real workers: whole colors, only what is worth it, and not at all
 * when it is switched off (S5).
 */
#include "common.h"

#include "base/capacity.h"
#include "scheduler/color.h"
#include "scheduler/handler.h"
#include "scheduler/runtime.h"

enum { COLORS = 50, EACH = 40, BASE = 100 };

static atomic_int inside[COLORS];
static long last[COLORS]; /* in its color */
static int ran_on[COLORS];
static atomic_long ran, elsewhere;
static int home; /* worker that posted everything */

static void step(void *arg)
{
	uintptr_t c = (uintptr_t)arg % COLORS;
	long n = (long)((uintptr_t)arg / COLORS);

	CHECK_EQ(atomic_fetch_add(&inside[c], 1), 0);
	CHECK_EQ(last[c], n);
	last[c] = n + 1;
	ran_on[c] = weft_worker_current();
	CHECK_EQ(atomic_fetch_sub(&inside[c], 1), 1);
	if (weft_worker_current() != home)
		atomic_fetch_add(&elsewhere, 1);
	atomic_fetch_add(&ran, 1);
}

static void post_steps(void)
{
	home = weft_worker_current();
	for (uintptr_t i = 0; i < EACH; i++) {
		for (uintptr_t c = 0; c < COLORS; c++)
			CHECK_EQ(weft_post(BASE + c, step, (void *)(i * COLORS + c)), 0);
	}
}

static void reset(void)
{
	memset(last, 0, sizeof last);
	atomic_store(&ran, 0);
	atomic_store(&elsewhere, 0);
}

/* Its worker is busy until everything has run: thieves did it all. */
static int post_and_wait(void *unused)
{
	(void)unused;
	post_steps();
	WAIT_FOR(atomic_load(&ran) == COLORS * EACH);
	return 0;
}

TEST(a_stolen_color_stays_whole_and_in_order)
{
	static const char *const steals[] = { "base", "locality", "all" };

	CHECK_EQ(weft_handler_time(step, 100000), 0); /* so that it is worth the trip */
	for (int i = 0; i < 9; i++) {
		weft_options opt = { .workers = 2 + i % 3, .steal = steals[i / 3], .stall_ms = -1 };

		reset();
		CHECK_EQ(weft_run(post_and_wait, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&elsewhere), COLORS * EACH);
	}
}

static weft_worker_stats workers[16];
static uint64_t steals;

static void read_steals(void *unused)
{
	int n;

	if (atomic_load(&ran) < COLORS * EACH) {
		CHECK_EQ(weft_post(WEFT_MAIN, read_steals, unused), 0);
		return;
	}
	n = weft_stats(NULL, workers, 16);
	steals = 0;
	for (int i = 0; i < n; i++)
		steals += workers[i].steals;
}

static int post_and_go(void *unused)
{
	(void)unused;
	post_steps();
	return weft_post(WEFT_MAIN, read_steals, NULL);
}

TEST(nothing_is_stolen_when_stealing_is_off)
{
	weft_options opt = { .workers = 4, .steal = "off", .stall_ms = -1 };

	for (int i = 0; i < 20; i++) {
		reset();
		CHECK_EQ(weft_run(post_and_go, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&elsewhere), 0);
		CHECK_EQ(steals, 0);
	}
}

/* The first function is itself an event that may be stolen before it runs, so
 * what counts is where its posts run. */
TEST(work_that_is_worth_less_than_the_trip_stays_where_it_is)
{
	weft_options opt = {
		.workers = 4, .steal = "time", .steal_cost_ns = 1000000000, .stall_ms = -1
	};

	CHECK_EQ(weft_handler_time(step, 1000), 0);
	for (int i = 0; i < 20; i++) {
		reset();
		CHECK_EQ(weft_run(post_and_go, NULL, &opt), 0);
		CHECK_EQ(atomic_load(&elsewhere), 0);
	}
}

TEST(a_penalty_makes_work_not_worth_stealing)
{
	weft_options opt = {
		.workers = 2, .steal = "all", .steal_cost_ns = 100000, .stall_ms = -1
	};

	CHECK_EQ(weft_handler_time(step, 1000000), 0);
	CHECK_EQ(weft_handler_penalty(step, 1000000), 0);
	reset();
	CHECK_EQ(weft_run(post_and_go, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&elsewhere), 0);
	/* The same without: everything goes. */
	CHECK_EQ(weft_handler_penalty(step, 1), 0);
	reset();
	CHECK_EQ(weft_run(post_and_wait, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&elsewhere), COLORS * EACH);
}

/* Colors that post to none but themselves: the thief is woken when a turn ends. */

enum { MOST_TURNS = 1000 };

static atomic_bool two_at_work;
static atomic_long turns;
static uint64_t wakes_before;

static uint64_t wakes_by_home(void)
{
	CHECK_EQ(weft_stats(NULL, workers, 2), 2);
	return workers[home].wakes;
}

/* Known to be long only when it runs: the first posts were not worth a wake. */
static void post_to_itself(void *unused)
{
	CHECK_EQ(weft_handler_time(post_to_itself, 1000000), 0);
	if (weft_worker_current() != home) {
		atomic_store(&two_at_work, true);
		return;
	}
	if (atomic_fetch_add(&turns, 1) == MOST_TURNS)
		CHECK(wakes_by_home() > wakes_before);
	if (!atomic_load(&two_at_work))
		CHECK_EQ(weft_post(weft_color_current(), post_to_itself, unused), 0);
}

static int start_two(void *unused)
{
	home = weft_worker_current();
	do
		wakes_before = wakes_by_home();
	while (!workers[1 - home].parked);
	CHECK_EQ(weft_post(BASE, post_to_itself, unused), 0);
	return weft_post(BASE + 1, post_to_itself, unused);
}

TEST(two_colors_that_post_only_to_themselves_wake_a_second_worker)
{
	weft_options opt = { .workers = 2, .batch = 1, .stall_ms = -1 };

	CHECK_EQ(weft_handler_time(post_to_itself, 1), 0);
	CHECK_EQ(weft_run(start_two, NULL, &opt), 0);
	CHECK(atomic_load(&two_at_work));
}

/* Three that must run at the same time, when two of three workers sleep. The short one alone is
 * not worth a wake, so that the thief that is woken for the long one finds both, and takes both:
 * then another must come for what the thief cannot run at once. */

static atomic_int met;

static void meet(void)
{
	atomic_fetch_add(&met, 1);
	WAIT_FOR(atomic_load(&met) == 3);
}

static void meet_short(void *unused)
{
	(void)unused;
	meet();
}

static void meet_long(void *unused)
{
	(void)unused;
	meet();
}

static int post_two_and_meet(void *unused)
{
	int self = weft_worker_current();

	do
		CHECK_EQ(weft_stats(NULL, workers, 3), 3);
	while (!workers[(self + 1) % 3].parked || !workers[(self + 2) % 3].parked);
	CHECK_EQ(weft_post(BASE, meet_short, unused), 0);
	CHECK_EQ(weft_post(BASE + 1, meet_long, unused), 0);
	meet();
	return 0;
}

TEST(what_a_thief_took_besides_is_stolen_from_it_by_one_who_slept)
{
	weft_options opt = { .workers = 3, .steal_cost_ns = 100, .stall_ms = -1 };

	for (int i = 0; i < 20; i++) {
		CHECK_EQ(weft_handler_time(meet_short, 8000), 0);
		CHECK_EQ(weft_handler_time(meet_long, 1000000), 0);
		atomic_store(&met, 0);
		CHECK_EQ(weft_run(post_two_and_meet, NULL, &opt), 0);
	}
}

TEST(what_is_told_of_handlers_is_checked)
{
	CHECK_EQ(weft_handler_time(NULL, 5), -EINVAL);
	CHECK_EQ(weft_handler_penalty(NULL, 5), -EINVAL);
	CHECK_EQ(weft_handler_penalty(step, 0), -EINVAL);
	CHECK_EQ(weft_handler_time(step, 5000), 0);
	CHECK(wf_handler_ticks(wf_handler_find(step)) > 0);
	CHECK_EQ(weft_handler_time(step, 0), 0); /* measured again: never, so far */
	CHECK_EQ(wf_handler_ticks(wf_handler_find(step)), 0);
}

TEST(too_many_handlers_are_refused_and_do_no_harm)
{
	weft_options opt = { .workers = 2 };
	int rc = 0;

	for (uintptr_t i = 1; i < 100 * WF_HANDLERS && rc == 0; i++)
		rc = weft_handler_time((weft_fn *)(i * 16), 10);
	CHECK_EQ(rc, -ENOSPC);
	for (uintptr_t i = 1; i < 1000 * WF_HANDLERS; i++)
		weft_handler_penalty((weft_fn *)(i * 16), 2);
	reset();
	CHECK_EQ(weft_run(post_and_go, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ran), COLORS * EACH);
}

/* What the kernel brings and is short */

static atomic_bool looked;

static struct wf_worker *the_other(void)
{
	return wf_sched_worker(&wf_rt->sched, 1 - weft_worker_current());
}

static void look_at_one_awake(void *unused)
{
	(void)unused;
	CHECK(wf_worker_least_worth(the_other()) > WF_WORTH_KEPT);
	atomic_store(&looked, true);
}

/* The other sleeps, until it is given something to do; this one is in here meanwhile. */
static int look_at_both(void *unused)
{
	WAIT_FOR(wf_worker_least_worth(the_other()) == WF_WORTH_KEPT);
	CHECK_EQ(weft_color_pin(BASE, 1 - weft_worker_current()), 0);
	CHECK_EQ(weft_post(BASE, look_at_one_awake, unused), 0);
	WAIT_FOR(atomic_load(&looked));
	return 0;
}

TEST(S5_a_worker_keeps_short_work_while_it_is_awake_and_not_while_it_sleeps)
{
	weft_options opt = { .workers = 2, .stall_ms = 3600000 };

	CHECK_EQ(weft_run(look_at_both, NULL, &opt), 0);
}

static uint64_t kept_ticks;

static int note_kept(void *unused)
{
	(void)unused;
	kept_ticks = wf_rt->sched.policy.kept;
	return 0;
}

TEST(nothing_is_kept_where_nobody_looks_for_stuck_workers)
{
	weft_options opt = { .stall_ms = 0 };

	CHECK_EQ(weft_run(note_kept, NULL, &opt), 0);
	CHECK(kept_ticks > 0);
	opt.stall_ms = -1;
	CHECK_EQ(weft_run(note_kept, NULL, &opt), 0);
	CHECK_EQ(kept_ticks, 0);
}

TEST(a_handlers_time_is_a_moving_average_that_never_becomes_unknown)
{
	struct wf_handler *h;

	wf_handler_ran(NULL, step, UINT64_MAX);
	h = wf_handler_find(step);
	CHECK(h != NULL);
	for (int i = 0; i < 1000; i++) {
		CHECK(wf_handler_ticks(h) > 1000000);
		wf_handler_ran(h, step, i % 2 ? UINT64_MAX : UINT32_MAX);
	}
	for (int i = 0; i < 1000; i++) {
		wf_handler_ran(h, step, 0);
		CHECK(wf_handler_ticks(h) > 0);
	}
	CHECK(wf_handler_ticks(h) < 100);
	for (int i = 0; i < 100; i++)
		wf_handler_ran(h, step, 8000);
	CHECK(wf_handler_ticks(h) > 7000 && wf_handler_ticks(h) < 9000);
}

TEST_MAIN
