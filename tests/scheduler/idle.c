/* An idle program sleeps: no worker polls, no watcher ticks, no CPU is used
 * (S6). And it wakes when there is something to do.
 */
#include "common.h"

#include <poll.h>

#include "platform/backtrace.h"
#include "scheduler/runtime.h"

static const weft_options four = { .workers = 4 };
static weft_worker_stats before[8], after[8];
static pthread_t observer;
static atomic_int ran;

/* Of the workers and the watcher. */
static uint64_t cpu_used(void)
{
	uint64_t ns = wf_thread_cpu_ns(wf_rt->watcher);

	for (int i = 0; i < atomic_load(&wf_rt->sched.started); i++)
		ns += wf_thread_cpu_ns(wf_sched_worker(&wf_rt->sched, i)->thread);
	return ns;
}

static bool all_asleep(void)
{
	return wf_runtime_asleep(wf_rt) && atomic_load(&wf_rt->watch_asleep);
}

/* The one place where time must pass: to see that nothing happens in it. */
static void let_time_pass(void)
{
	poll(NULL, 0, 100);
}

/* Whether all sleep, and nobody does anything for a while: looks, polls, or uses a CPU. */
static bool silent(void)
{
	uint64_t used = cpu_used();
	int n = weft_stats(NULL, before, 8);
	bool same = all_asleep();

	let_time_pass();
	same = same && weft_stats(NULL, after, 8) == n;
	for (int i = 0; same && i < n; i++)
		same = after[i].parks == before[i].parks && after[i].polls == before[i].polls &&
		       after[i].steal_misses == before[i].steal_misses;
	return same && all_asleep() && cpu_used() == used;
}

/* On a busy machine a worker may be long on its way to sleep. Once all was silent it stays so. */
static void wait_for_silence(void)
{
	WAIT_FOR(silent());
	CHECK(silent());
}

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
}

static void *observe(void *unused)
{
	wait_for_silence();
	/* It wakes up for work and falls asleep again. */
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(weft_post((weft_color)i, count, NULL), 0);
		WAIT_FOR(atomic_load(&ran) > i);
	}
	wait_for_silence();
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_idle(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	observer = thread_start(observe, unused);
	return 0;
}

TEST(an_idle_program_does_nothing_at_all)
{
	CHECK_EQ(weft_run(start_idle, NULL, &four), 0);
	thread_join(observer);
}

static weft_timer timers[1000];

static int start_timers(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		weft_timer_init(&timers[i], 5, count, NULL);
		timers[i].background = true;
		CHECK_EQ(weft_timer_start(&timers[i], 3600 * WEFT_SEC + (uint64_t)i * WEFT_MS), 0);
	}
	return start_idle(unused);
}

TEST(far_timers_cost_nothing_until_they_fire)
{
	CHECK_EQ(weft_run(start_timers, NULL, &four), 0);
	thread_join(observer);
}

/* After a stall the stand-in sleeps too. */

static atomic_bool stuck_seen;

static void be_stuck(void *unused)
{
	(void)unused;
	WAIT_FOR(atomic_load(&stuck_seen));
}

static void *observe_after_stall(void *unused)
{
	int n;

	do {
		sched_yield();
		n = weft_stats(NULL, before, 8);
	} while (n < 5); /* the stand-in has come */
	atomic_store(&stuck_seen, true);
	wait_for_silence();
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_stuck(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	observer = thread_start(observe_after_stall, unused);
	return weft_post(9, be_stuck, NULL);
}

TEST(after_a_stall_the_stand_in_sleeps_too)
{
	catch_reports();
	CHECK_EQ(weft_run(start_stuck, NULL, &four), 0);
	thread_join(observer);
}

/* Surplus work wakes a sleeper: this handler waits for another worker's. */

static void wait_for_other(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(weft_post((weft_color)(50 + i), count, NULL), 0);
	WAIT_FOR(atomic_load(&ran) >= 20);
	atomic_store(&ran, 0);
}

static void *post_when_silent(void *unused)
{
	for (int i = 0; i < TEST_SIZE(50); i++) {
		WAIT_FOR(wf_runtime_asleep(wf_rt));
		CHECK_EQ(weft_post(1, wait_for_other, NULL), 0);
		do
			sched_yield();
		while (!wf_runtime_asleep(wf_rt));
	}
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_surplus(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	observer = thread_start(post_when_silent, unused);
	return 0;
}

TEST(surplus_work_wakes_a_sleeping_worker)
{
	static const char *const steals[] = { "base", "all" };

	CHECK_EQ(weft_handler_time(count, 1000000), 0); /* worth waking somebody for */
	for (int i = 0; i < 2; i++) {
		weft_options opt = { .workers = 3, .steal = steals[i], .stall_ms = -1 };

		atomic_store(&ran, 0);
		CHECK_EQ(weft_run(start_surplus, NULL, &opt), 0);
		thread_join(observer);
	}
}

/* Two workers give each other something to do in turn: where each has a CPU they stay awake
 * meanwhile, and when that is over they sleep. They linger for long here, so that no machine is
 * too slow or too busy for the ball to be back in time. */

enum { STREAK = 100 };

static struct {
	uint64_t parks;
	int streak;
} play;

static void serve_ball(void *unused);

static void return_ball(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(1, serve_ball, NULL), 0);
}

static void serve_ball(void *unused)
{
	uint64_t parks;

	(void)unused;
	CHECK_EQ(weft_stats(NULL, after, 2), 2);
	parks = after[0].parks + after[1].parks;
	play.streak = parks == play.parks ? play.streak + 1 : 0;
	play.parks = parks;
	if (play.streak < STREAK)
		CHECK_EQ(weft_post(2, return_ball, NULL), 0);
	else
		atomic_store(&ran, 1);
}

static void *observe_play(void *unused)
{
	WAIT_FOR(atomic_load(&ran) == 1);
	wait_for_silence();
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_play(void *unused)
{
	CHECK_EQ(weft_color_pin(1, 0), 0);
	CHECK_EQ(weft_color_pin(2, 1), 0);
	if (wf_rt->cpus.count < 2)
		SKIP("there is one CPU only");
	atomic_store(&ran, 0);
	CHECK_EQ(weft_hold(), 0);
	observer = thread_start(observe_play, unused);
	return weft_post(1, serve_ball, NULL);
}

TEST(workers_that_work_in_turn_stay_awake_meanwhile_and_sleep_afterwards)
{
	weft_options opt = { .workers = 2 };

	wf_linger_ns = 200 * WEFT_MS;
	CHECK_EQ(weft_run(start_play, NULL, &opt), 0);
	thread_join(observer);
}

/* A post that meets a worker on its way to sleep: a wake-up that is missed
 * would hang. The worker's delay varies, so that they meet at every step. */

static atomic_uint linger;

static void count_and_linger(void *unused)
{
	count(unused);
	for (unsigned spin = atomic_load(&linger); spin > 0; spin--)
		wf_relax();
}

static void *post_one_by_one(void *unused)
{
	uint64_t seed = TEST_SEED;

	for (int i = 0; i < TEST_SIZE(200000); i++) {
		atomic_store(&linger, (unsigned)random_below(&seed, 64));
		CHECK_EQ(weft_post(random_below(&seed, 2), count_and_linger, NULL), 0);
		for (int spin = 0; atomic_load(&ran) <= i; spin++) {
			if (spin < 1000)
				wf_relax();
			else
				sched_yield();
		}
	}
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_one_by_one(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	observer = thread_start(post_one_by_one, unused);
	return 0;
}

TEST(a_post_is_not_missed_by_a_worker_that_falls_asleep)
{
	for (int workers = 1; workers <= 2; workers++) {
		weft_options opt = { .workers = workers, .steal = "off", .stall_ms = -1 };

		atomic_store(&ran, 0);
		CHECK_EQ(weft_run(start_one_by_one, NULL, &opt), 0);
		thread_join(observer);
	}
}

TEST_MAIN
