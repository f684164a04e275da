/* Timers as the user sees them: what fires, what does not, and who is told. */
#include <weft/weft.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fault.h"
#include "harness/test.h"
#include "platform/clock.h"

/* Longer than any test may take. */
#define NEVER (3600 * WEFT_SEC)

/* A timer is fired by its worker, when the handler that started it is done: no stand-in comes. */
static const weft_options two = { .workers = 2, .stall_ms = -1 };

static _Atomic int calls;

static void count_call(void *unused)
{
	(void)unused;
	atomic_fetch_add(&calls, 1);
}

static void stop(void *unused)
{
	(void)unused;
	weft_stop();
}

/* Firing */

static weft_timer timer, other;
static uint64_t started;

static void not_early(void *arg)
{
	weft_timer *t = arg;

	CHECK(weft_now() >= t->when);
	CHECK(t->when >= started + 3 * WEFT_MS);
	count_call(NULL);
}

static int start_one(void *unused)
{
	(void)unused;
	started = weft_now();
	weft_timer_init(&timer, 5, not_early, &timer);
	CHECK_EQ(weft_timer_start(&timer, 3 * WEFT_MS), 0);
	return 0;
}

TEST(a_timer_fires_once_and_not_early_and_keeps_the_run_alive)
{
	CHECK_EQ(weft_run(start_one, NULL, &two), 0);
	CHECK_EQ(calls, 1);
}

static void in_its_color(void *arg)
{
	CHECK_EQ(weft_color_current(), *(weft_color *)arg);
	count_call(NULL);
}

static int start_after_in_color(void *color)
{
	CHECK_EQ(weft_after(0, *(weft_color *)color, in_its_color, color), 0);
	CHECK_EQ(weft_after(WEFT_MS, *(weft_color *)color, in_its_color, color), 0);
	return 0;
}

TEST(weft_after_runs_the_function_in_its_color)
{
	weft_color color = weft_color_new();

	CHECK_EQ(weft_run(start_after_in_color, &color, &two), 0);
	CHECK_EQ(calls, 2);
}

static int start_in_the_past(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start_until(&timer, 0), 0);
	weft_timer_init(&other, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start_until(&other, weft_now()), 0);
	return 0;
}

TEST(a_time_in_the_past_fires_at_once)
{
	CHECK_EQ(weft_run(start_in_the_past, NULL, &two), 0);
	CHECK_EQ(calls, 2);
}

enum { ORDERED = 50 };
static weft_timer ordered[ORDERED];

static void in_order(void *arg)
{
	CHECK_EQ((weft_timer *)arg - ordered, calls);
	count_call(NULL);
}

static int start_ordered(void *unused)
{
	uint64_t when = weft_now() + WEFT_MS;

	(void)unused;
	for (int i = 0; i < ORDERED; i++) {
		weft_timer_init(&ordered[i], 9, in_order, &ordered[i]);
		CHECK_EQ(weft_timer_start_until(&ordered[i], when), 0);
	}
	return 0;
}

TEST(timers_of_one_instant_and_color_run_in_the_order_started)
{
	CHECK_EQ(weft_run(start_ordered, NULL, &two), 0);
	CHECK_EQ(calls, ORDERED);
}

static void start_again(void *unused)
{
	(void)unused;
	if (atomic_fetch_add(&calls, 1) < 9)
		CHECK_EQ(weft_timer_start(&timer, 100 * WEFT_US), 0);
}

static int start_restarting(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, start_again, NULL);
	return weft_timer_start(&timer, 0);
}

/* The other timer tells when the first one's old time has passed. */
static void put_off_again(void *unused)
{
	(void)unused;
	CHECK_EQ(calls, 0);
	CHECK_EQ(weft_timer_restart(&timer, 0), 0);
}

static int start_and_put_off(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	weft_timer_init(&other, 5, put_off_again, NULL);
	CHECK_EQ(weft_timer_restart(&timer, WEFT_MS), 0);
	CHECK_EQ(weft_timer_restart(&timer, NEVER), 0);
	CHECK_EQ(weft_timer_start(&other, 3 * WEFT_MS), 0);
	return 0;
}

TEST(a_timer_can_be_put_off_and_brought_forward)
{
	CHECK_EQ(weft_run(start_and_put_off, NULL, &two), 0);
	CHECK_EQ(calls, 1);
}

static void restart_queued(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_timer_start(&timer, 0), 0);
	while (weft_now() < timer.when + WEFT_MS)
		; /* it is due, but the only worker is busy with us */
	CHECK_EQ(weft_timer_restart(&timer, NEVER), 0);
	CHECK_EQ(weft_timer_cancel(&timer), 0);
	CHECK_EQ(weft_timer_cancel(&timer), -ENOENT);
	CHECK_EQ(weft_timer_restart(&timer, 0), 0);
}

static int start_and_wait(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	return weft_post(5, restart_queued, NULL);
}

TEST(a_timer_that_is_due_but_not_fired_can_be_put_off_on_one_worker)
{
	weft_options one = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_and_wait, NULL, &one), 0);
	CHECK_EQ(calls, 1);
}

TEST(a_handler_may_start_its_timer_again)
{
	CHECK_EQ(weft_run(start_restarting, NULL, &two), 0);
	CHECK_EQ(calls, 10);
}

static void free_timer(void *arg)
{
	free(arg);
	count_call(NULL);
}

static int start_freed(void *unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++) {
		weft_timer *t = malloc(sizeof *t);

		CHECK(t != NULL);
		weft_timer_init(t, (weft_color)i, free_timer, t);
		CHECK_EQ(weft_timer_start(t, (uint64_t)i * WEFT_US), 0);
	}
	return 0;
}

TEST(a_handler_may_free_its_timer)
{
	CHECK_EQ(weft_run(start_freed, NULL, &two), 0);
	CHECK_EQ(calls, 1000);
}

/* Not even by the worker's own, quicker clock, which is set anew each millisecond and
 * whose rate is known to 1 in 10,000. */
static int start_very_often(void *unused)
{
	uint64_t began = weft_now(), before;

	(void)unused;
	wf_clock_rate.ns_per_tick -= wf_clock_rate.ns_per_tick / 10000;
	weft_timer_init(&timer, 5, count_call, NULL);
	do {
		before = weft_now();
		CHECK_EQ(weft_timer_restart(&timer, NEVER), 0);
		CHECK(timer.when >= before + NEVER);
	} while (before < began + 50 * WEFT_MS);
	return weft_timer_cancel(&timer);
}

TEST(no_delay_ends_earlier_than_the_clock_says)
{
	const weft_options alone = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_very_often, NULL, &alone), 0);
}

/* Each turn is long enough for a look at the kernel behind it, and for the clock of
 * the worker to be set anew by the restart. */
enum { LONG_TURNS = 20 };

static uint64_t polls(void)
{
	weft_worker_stats stats;

	CHECK_EQ(weft_stats(NULL, &stats, 1), 1);
	return stats.polls;
}

static uint64_t polls_before;

static void restart_after_long(void *turn)
{
	uint64_t began = weft_now();

	if (turn == NULL)
		polls_before = polls();
	CHECK(polls() >= polls_before + (uintptr_t)turn);
	while (weft_now() < began + 2 * WEFT_MS)
		continue;
	CHECK_EQ(weft_timer_restart(&timer, NEVER), 0);
	if ((uintptr_t)turn < LONG_TURNS)
		CHECK_EQ(weft_post(5, restart_after_long, (void *)((uintptr_t)turn + 1)), 0);
	else
		CHECK_EQ(weft_timer_cancel(&timer), 0);
}

static int start_long_turns(void *unused)
{
	weft_timer_init(&timer, 5, count_call, NULL);
	return weft_post(5, restart_after_long, unused);
}

TEST(a_color_that_restarts_timers_does_not_put_off_the_look_at_the_kernel)
{
	const weft_options alone = { .workers = 1, .batch = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_long_turns, NULL, &alone), 0);
}

/* Periodic */

static void tenth_cancels(void *arg)
{
	if (atomic_fetch_add(&calls, 1) == 9)
		CHECK_EQ(weft_timer_cancel(arg), 0);
}

static int start_periodic(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, tenth_cancels, &timer);
	timer.every = 200 * WEFT_US;
	return weft_timer_start(&timer, 0);
}

TEST(a_periodic_timer_beats_until_its_handler_cancels_it)
{
	CHECK_EQ(weft_run(start_periodic, NULL, &two), 0);
	CHECK_EQ(calls, 10);
	CHECK_EQ(weft_timer_cancel(&timer), -ESHUTDOWN);
}

/* Each call outlasts several beats. They are not made up for, and the next call
 * comes at a beat of the old rhythm. */
static uint64_t first_beat, last_beat;

static void slow_beat(void *arg)
{
	weft_timer *t = arg;
	uint64_t began = weft_now();

	CHECK_EQ((t->when - first_beat) % t->every, 0);
	CHECK(t->when >= last_beat + 2 * t->every);
	last_beat = t->when;
	while (weft_now() < began + 3 * t->every)
		;
	if (atomic_fetch_add(&calls, 1) == 4)
		CHECK_EQ(weft_timer_cancel(t), 0);
}

static int start_slow(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, slow_beat, &timer);
	timer.every = 300 * WEFT_US;
	first_beat = weft_now();
	last_beat = first_beat - timer.every;
	return weft_timer_start_until(&timer, first_beat);
}

TEST(a_slow_handler_skips_beats_and_keeps_the_rhythm)
{
	/* No stand-in: the handler looks at its timer between beats. */
	const weft_options alone = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_slow, NULL, &alone), 0);
	CHECK_EQ(calls, 5);
}

/* Background */

static int start_background(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	timer.background = true;
	CHECK_EQ(weft_timer_start(&timer, NEVER), 0);
	weft_timer_init(&other, 5, count_call, NULL);
	return weft_timer_start(&other, WEFT_MS);
}

TEST(a_background_timer_does_not_keep_the_run_from_ending)
{
	CHECK_EQ(weft_run(start_background, NULL, &two), 0);
	CHECK_EQ(calls, 1);
}

TEST(a_timer_left_behind_can_be_started_in_the_next_run)
{
	CHECK_EQ(weft_run(start_background, NULL, &two), 0);
	CHECK_EQ(weft_run(start_background, NULL, &two), 0);
	CHECK_EQ(calls, 2);
}

/* Cancelling */

static int start_and_cancel(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_cancel(&timer), -ENOENT);
	CHECK_EQ(weft_timer_start(&timer, NEVER), 0);
	CHECK_EQ(weft_timer_cancel(&timer), 0);
	CHECK_EQ(weft_timer_cancel(&timer), -ENOENT);
	CHECK_EQ(weft_timer_start(&timer, NEVER), 0);
	CHECK_EQ(weft_timer_cancel(&timer), 0);
	return 0;
}

TEST(a_cancelled_timer_never_fires_and_lets_the_run_end)
{
	CHECK_EQ(weft_run(start_and_cancel, NULL, &two), 0);
	CHECK_EQ(calls, 0);
}

/* The handler holds its color until the other timer of the color has fired: then
 * that one's event is queued, and cancelling takes it back. */
static void cancel_queued(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&other.event.state_, __ATOMIC_ACQUIRE) == 0)
		;
	CHECK_EQ(weft_timer_cancel(&other), 0);
	CHECK_EQ(weft_timer_cancel(&other), -ENOENT);
	count_call(NULL);
}

static int start_pair(void *every)
{
	uint64_t when = weft_now() + WEFT_MS;

	weft_timer_init(&timer, 5, cancel_queued, NULL);
	weft_timer_init(&other, 5, count_call, NULL);
	other.every = *(uint64_t *)every;
	CHECK_EQ(weft_timer_start_until(&timer, when), 0);
	CHECK_EQ(weft_timer_start_until(&other, when), 0);
	return 0;
}

TEST(a_fired_timer_is_taken_back_in_its_own_color)
{
	CHECK_EQ(weft_run(start_pair, &(uint64_t){ 0 }, &two), 0);
	CHECK_EQ(calls, 1);
}

TEST(a_periodic_timer_with_a_call_due_is_taken_back_in_its_own_color)
{
	CHECK_EQ(weft_run(start_pair, &(uint64_t){ 10 * WEFT_MS }, &two), 0);
	CHECK_EQ(calls, 1);
}

static void cancel_elsewhere(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_timer_cancel(&timer), -EALREADY);
	count_call(NULL);
}

static void fired_and_done(void *unused)
{
	(void)unused;
	count_call(NULL);
	CHECK_EQ(weft_timer_cancel(&timer), -ENOENT);
	CHECK_EQ(weft_post(6, cancel_elsewhere, NULL), 0);
}

static int start_done(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, fired_and_done, NULL);
	return weft_timer_start(&timer, 0);
}

TEST(a_fired_timer_is_known_as_fired_in_other_colors)
{
	CHECK_EQ(weft_run(start_done, NULL, &two), 0);
	CHECK_EQ(calls, 2);
}

/* Timers in one color, cancelled in another at about the time they fire: each
 * either ran or was cancelled, and the canceller was told which. */
enum { RACERS = 2000 };

static struct racer {
	weft_timer timer;
	int ran, cancel_rc;
} racer[RACERS];

static void racer_run(void *arg)
{
	struct racer *r = arg;

	r->ran++;
}

static void cancel_racers(void *unused)
{
	(void)unused;
	for (int i = 0; i < RACERS; i++)
		racer[i].cancel_rc = weft_timer_cancel(&racer[i].timer);
}

static int start_race(void *random)
{
	for (int i = 0; i < RACERS; i++) {
		weft_color color = test_random(random) % 8;

		racer[i] = (struct racer){ .ran = 0 };
		weft_timer_init(&racer[i].timer, color, racer_run, &racer[i]);
		CHECK_EQ(weft_timer_start(&racer[i].timer, test_random(random) % WEFT_MS), 0);
	}
	return weft_after(test_random(random) % WEFT_MS, 100, cancel_racers, NULL);
}

TEST(a_timer_either_runs_or_is_cancelled_and_says_which)
{
	uint64_t random = TEST_SEED;

	for (int round = 0; round < TEST_SIZE(50); round++) {
		CHECK_EQ(weft_run(start_race, &random, &two), 0);
		for (int i = 0; i < RACERS; i++) {
			CHECK(racer[i].cancel_rc == 0 || racer[i].cancel_rc == -EALREADY);
			CHECK_EQ(racer[i].ran, racer[i].cancel_rc == -EALREADY);
		}
	}
}

/* The same with periodic timers: after that, at most the call that was due. */
static int silent[RACERS];

static void cancel_beats(void *unused)
{
	(void)unused;
	for (int i = 0; i < RACERS; i++) {
		racer[i].cancel_rc = weft_timer_cancel(&racer[i].timer);
		silent[i] = __atomic_load_n(&racer[i].ran, __ATOMIC_RELAXED);
		CHECK(racer[i].cancel_rc == 0 || racer[i].cancel_rc == -EALREADY);
		CHECK_EQ(weft_timer_cancel(&racer[i].timer),
			 racer[i].cancel_rc == 0 ? -ENOENT : -EALREADY);
	}
}

static void racer_beat(void *arg)
{
	struct racer *r = arg;

	__atomic_fetch_add(&r->ran, 1, __ATOMIC_RELAXED);
}

static int start_beats(void *random)
{
	for (int i = 0; i < RACERS; i++) {
		racer[i] = (struct racer){ .ran = 0 };
		weft_timer_init(&racer[i].timer, (weft_color)i % 8, racer_beat, &racer[i]);
		racer[i].timer.every = 1 + test_random(random) % WEFT_MS;
		CHECK_EQ(weft_timer_start(&racer[i].timer, test_random(random) % WEFT_MS), 0);
	}
	return weft_after(5 * WEFT_MS, 100, cancel_beats, NULL);
}

TEST(cancelling_periodic_timers_from_elsewhere_silences_them)
{
	uint64_t random = TEST_SEED;

	for (int round = 0; round < TEST_SIZE(10); round++) {
		CHECK_EQ(weft_run(start_beats, &random, &two), 0);
		for (int i = 0; i < RACERS; i++)
			CHECK(racer[i].ran - silent[i] <= 1);
	}
}

/* Restarting a timer that is due: `timer`'s handler holds the color until `other`, which is of the
 * same color and due at the same time, has fired. Then `other` has an event queued, and its handler
 * has not begun. */

static uint64_t not_before;

static void after_restart(void *arg)
{
	weft_timer *t = arg;

	CHECK(weft_now() >= not_before);
	count_call(NULL);
	if (t->every != 0)
		CHECK_EQ(weft_timer_cancel(t), 0);
}

static void wait_until_queued(void)
{
	while (__atomic_load_n(&other.event.state_, __ATOMIC_ACQUIRE) == 0)
		;
}

static void restart_and_cancel(void *unused)
{
	(void)unused;
	wait_until_queued();
	CHECK_EQ(weft_timer_restart(&other, NEVER), 0);
	CHECK_EQ(other.event.state_, 0);
	CHECK(other.when >= weft_now() + NEVER / 2);
	CHECK_EQ(weft_timer_cancel(&other), 0);
	CHECK_EQ(weft_timer_cancel(&other), -ENOENT);
}

static void restart_with(uint64_t delay)
{
	wait_until_queued();
	not_before = weft_now() + delay;
	CHECK_EQ(weft_timer_restart(&other, delay), 0);
	CHECK(other.when >= not_before);
}

static void restart_later(void *unused)
{
	(void)unused;
	restart_with(2 * WEFT_MS);
}

static void restart_for_now(void *unused)
{
	(void)unused;
	restart_with(0);
}

static void restart_twice(void *unused)
{
	(void)unused;
	wait_until_queued();
	CHECK_EQ(weft_timer_restart(&other, 0), 0);
	CHECK_EQ(weft_timer_restart(&other, NEVER), 0);
	not_before = weft_now() + 2 * WEFT_MS;
	CHECK_EQ(weft_timer_restart(&other, 2 * WEFT_MS), 0);
}

struct due {
	weft_fn *restart;
	uint64_t every;
};

static int start_due_pair(void *arg)
{
	const struct due *due = arg;
	uint64_t when = weft_now() + WEFT_MS;

	weft_timer_init(&timer, 5, due->restart, NULL);
	weft_timer_init(&other, 5, after_restart, &other);
	other.every = due->every;
	CHECK_EQ(weft_timer_start_until(&timer, when), 0);
	CHECK_EQ(weft_timer_start_until(&other, when), 0);
	return 0;
}

/* How often the handler of `other` ran. */
static int calls_after(weft_fn *restart, uint64_t every)
{
	struct due due = { restart, every };

	CHECK_EQ(weft_run(start_due_pair, &due, &two), 0);
	return calls;
}

TEST(a_timer_that_is_due_is_put_off_in_its_own_color_and_can_then_be_cancelled)
{
	CHECK_EQ(calls_after(restart_and_cancel, 0), 0);
}

TEST(a_timer_that_is_due_is_put_off_in_its_own_color_and_runs_once_and_not_early)
{
	CHECK_EQ(calls_after(restart_later, 0), 1);
}

TEST(a_timer_that_is_due_and_restarted_without_delay_runs_once)
{
	CHECK_EQ(calls_after(restart_for_now, 0), 1);
}

TEST(a_timer_that_is_due_is_put_off_as_often_as_it_is_restarted)
{
	CHECK_EQ(calls_after(restart_twice, 0), 1);
}

TEST(a_call_of_a_periodic_timer_that_is_due_is_put_off_too)
{
	CHECK_EQ(calls_after(restart_later, NEVER), 1);
}

TEST(a_periodic_timer_that_is_due_is_put_off_and_can_then_be_cancelled)
{
	CHECK_EQ(calls_after(restart_and_cancel, 10 * WEFT_MS), 0);
}

TEST(a_periodic_timer_that_is_due_and_restarted_without_delay_beats_once_for_that)
{
	CHECK_EQ(calls_after(restart_for_now, NEVER), 1);
}

/* The thread sleeps until `other` is due, and so holds the color when that has fired. */
static int sleep_and_restart(void *when)
{
	CHECK_EQ(weft_sleep_until(*(uint64_t *)when), 0);
	restart_with(2 * WEFT_MS);
	return 0;
}

static int start_sleeper(void *when)
{
	*(uint64_t *)when = weft_now() + WEFT_MS;
	CHECK_EQ(weft_go_on(5, sleep_and_restart, when), 0);
	return 0;
}

static void start_other(void *when)
{
	weft_timer_init(&other, 5, after_restart, &other);
	CHECK_EQ(weft_timer_start_until(&other, *(uint64_t *)when), 0);
}

static int start_sleeper_and_timer(void *when)
{
	CHECK_EQ(start_sleeper(when), 0);
	CHECK_EQ(weft_post(5, start_other, when), 0); /* after the thread sleeps */
	return 0;
}

TEST(a_thread_of_its_color_puts_off_a_timer_that_is_due)
{
	const weft_options alone = { .workers = 1, .stall_ms = -1 };
	uint64_t when;

	CHECK_EQ(weft_run(start_sleeper_and_timer, &when, &alone), 0);
	CHECK_EQ(calls, 1);
}

/* From elsewhere it is told that the call still comes. */
static void *restart_elsewhere(void *unused)
{
	CHECK_EQ(weft_timer_restart(&other, NEVER), -EALREADY);
	CHECK_EQ(weft_timer_restart(&other, 0), -EALREADY);
	return unused;
}

static void hold_the_color(void *unused)
{
	pthread_t thread;

	wait_until_queued();
	CHECK_EQ(pthread_create(&thread, NULL, restart_elsewhere, unused), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

TEST(outside_of_its_color_a_timer_that_is_due_is_not_put_off_and_says_so)
{
	CHECK_EQ(calls_after(hold_the_color, 0), 1);
}

static void restart_itself(void *arg)
{
	weft_timer *t = arg;

	CHECK(weft_now() >= not_before);
	not_before = weft_now() + 200 * WEFT_US;
	if (atomic_fetch_add(&calls, 1) < 9)
		CHECK_EQ(weft_timer_restart(t, 200 * WEFT_US), 0);
	else if (t->every != 0)
		CHECK_EQ(weft_timer_cancel(t), 0);
}

static int start_itself(void *every)
{
	weft_timer_init(&timer, 5, restart_itself, &timer);
	timer.every = *(uint64_t *)every;
	return weft_timer_start(&timer, 0);
}

TEST(a_handler_restarts_its_own_timer_once_or_periodic_and_is_not_called_early)
{
	CHECK_EQ(weft_run(start_itself, &(uint64_t){ 0 }, &two), 0);
	CHECK_EQ(calls, 10);
	atomic_store(&calls, 0);
	not_before = 0;
	CHECK_EQ(weft_run(start_itself, &(uint64_t){ NEVER }, &two), 0);
	CHECK_EQ(calls, 10);
}

/* Many timers of a few colors, put off again and again in their own color at about the time when
 * they are due: no handler runs before the time of the last restart. */
enum { PUT_OFF = 64, PUT_OFF_COLORS = 4 };

static struct put_off {
	weft_timer timer;
	uint64_t not_before;
	int ran;
} put_off[PUT_OFF];

static uint64_t put_off_random[PUT_OFF_COLORS];

static void run_put_off(void *arg)
{
	struct put_off *p = arg;

	CHECK(weft_now() >= p->not_before);
	p->ran++;
}

static void put_off_color(void *arg)
{
	unsigned color = (unsigned)(uintptr_t)arg % PUT_OFF_COLORS;
	unsigned rounds = (unsigned)(uintptr_t)arg / PUT_OFF_COLORS;
	uint64_t *random = &put_off_random[color];

	for (unsigned i = color; i < PUT_OFF; i += PUT_OFF_COLORS) {
		uint64_t delay = test_random(random) % (100 * WEFT_US);

		put_off[i].not_before = weft_now() + delay;
		CHECK_EQ(weft_timer_restart(&put_off[i].timer, delay), 0);
	}
	if (rounds > 0)
		CHECK_EQ(weft_post(color, put_off_color, (void *)((uintptr_t)arg - PUT_OFF_COLORS)),
			 0);
}

static int start_put_off(void *every)
{
	for (unsigned i = 0; i < PUT_OFF; i++) {
		put_off[i] = (struct put_off){ .ran = 0 };
		weft_timer_init(&put_off[i].timer, i % PUT_OFF_COLORS, run_put_off, &put_off[i]);
		put_off[i].timer.every = *(uint64_t *)every;
		put_off[i].timer.background = put_off[i].timer.every != 0;
	}
	for (uintptr_t color = 0; color < PUT_OFF_COLORS; color++)
		CHECK_EQ(weft_post(color, put_off_color,
				   (void *)(color + PUT_OFF_COLORS * (uintptr_t)TEST_SIZE(500))),
			 0);
	return 0;
}

TEST(in_its_own_color_a_restart_always_succeeds_and_no_call_is_early)
{
	uint64_t random = TEST_SEED;

	for (int i = 0; i < PUT_OFF_COLORS; i++)
		put_off_random[i] = test_random(&random);
	CHECK_EQ(weft_run(start_put_off, &(uint64_t){ 0 }, &two), 0);
	for (int i = 0; i < PUT_OFF; i++)
		CHECK(put_off[i].ran >= 1);
	CHECK_EQ(weft_run(start_put_off, &(uint64_t){ WEFT_MS }, &two), 0);
}

/* Foreign threads */

static void *foreign(void *unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++) {
		weft_timer t;

		weft_timer_init(&t, 5, count_call, NULL);
		CHECK_EQ(weft_timer_start(&t, NEVER), 0);
		CHECK_EQ(weft_timer_cancel(&t), 0);
		CHECK_EQ(weft_after((uint64_t)(i % 100) * WEFT_US, (weft_color)i, count_call, NULL),
			 0);
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static pthread_t foreign_thread;

static int start_foreign(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(pthread_create(&foreign_thread, NULL, foreign, unused), 0);
	return 0;
}

TEST(a_foreign_thread_starts_and_cancels_timers)
{
	CHECK_EQ(weft_run(start_foreign, NULL, &two), 0);
	CHECK_EQ(pthread_join(foreign_thread, NULL), 0);
	CHECK_EQ(calls, 1000);
}

/* Many */

enum { MANY = 100000 };

static int start_many(void *timers)
{
	weft_timer *t = timers;
	uint64_t when = weft_now();

	for (int i = 0; i < MANY; i++) {
		weft_timer_init(&t[i], (weft_color)i % 64, count_call, NULL);
		CHECK_EQ(weft_timer_start_until(&t[i], when + (uint64_t)i * 100), 0);
	}
	for (int i = 0; i < MANY; i += 2)
		if (weft_timer_cancel(&t[i]) == 0)
			count_call(NULL);
	return 0;
}

TEST(every_one_of_many_timers_fires_or_was_cancelled)
{
	weft_timer *timers = calloc(MANY, sizeof *timers);

	CHECK(timers != NULL);
	CHECK_EQ(weft_run(start_many, timers, &two), 0);
	CHECK_EQ(calls, MANY);
	free(timers);
}

/* The end, and misuse */

static int start_and_stop(void *unused)
{
	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start(&timer, NEVER), 0);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_after(NEVER, 5, count_call, NULL), 0);
	return weft_after(WEFT_MS, 7, stop, NULL);
}

TEST(stopping_forgets_timers_and_frees_what_weft_after_made)
{
	CHECK_EQ(weft_run(start_and_stop, NULL, &two), 0);
	CHECK_EQ(weft_run(start_and_stop, NULL, &two), 0);
	CHECK_EQ(calls, 0);
}

TEST(without_a_runtime_nothing_starts)
{
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start(&timer, 0), -ESHUTDOWN);
	CHECK_EQ(weft_timer_start_until(&timer, 0), -ESHUTDOWN);
	CHECK_EQ(weft_timer_cancel(&timer), -ESHUTDOWN);
	CHECK_EQ(weft_after(0, 5, count_call, NULL), -ESHUTDOWN);
	CHECK(weft_now() > 0);
}

static int start_when_stopping(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_stop(), 0);
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start(&timer, 0), -ESHUTDOWN);
	CHECK_EQ(weft_after(0, 5, count_call, NULL), -ESHUTDOWN);
	return 0;
}

TEST(a_stopping_runtime_takes_no_more_timers)
{
	CHECK_EQ(weft_run(start_when_stopping, NULL, &two), 0);
}

static _Atomic int reports;

static void take_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)text;
	(void)unused;
	CHECK_EQ(kind, WEFT_REPORT_MISUSE);
	atomic_fetch_add(&reports, 1);
}

static int misuse(void *unused)
{
	uint64_t when;

	(void)unused;
	weft_timer_init(&timer, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start(&timer, 100 * WEFT_US), 0);
	when = timer.when;
	CHECK_EQ(weft_timer_start(&timer, NEVER), -EALREADY);
	CHECK_EQ(timer.when, when);
	weft_timer_init(&other, 5, NULL, NULL);
	CHECK_EQ(weft_timer_start(&other, 0), -EINVAL);
	CHECK_EQ(weft_after(0, (weft_color)-1, count_call, NULL), -EINVAL);
	CHECK_EQ(weft_after(0, 5, NULL, NULL), -EINVAL);
	return 0;
}

TEST(misuse_is_reported_and_changes_nothing)
{
	weft_on_report(take_report, NULL);
	CHECK_EQ(weft_run(misuse, NULL, &two), 0);
	CHECK_EQ(calls, 1);
	CHECK_EQ(reports, 4);
}

/* A restart that comes too late is told so, which is no misuse, at whatever moment
 * of the firing it comes. */
enum { RESTARTED = 64 };

static weft_timer restarted[RESTARTED];
static long restarts;

static void *restart_all(void *unused)
{
	for (int round = 0; round < TEST_SIZE(1500); round++) {
		for (int i = 0; i < RESTARTED; i++) {
			int rc = weft_timer_restart(&restarted[i], (uint64_t)i * 100);

			CHECK(rc == 0 || rc == -EALREADY);
			restarts += rc == 0;
		}
	}
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int start_restarts(void *unused)
{
	for (int i = 0; i < RESTARTED; i++)
		weft_timer_init(&restarted[i], (weft_color)i, count_call, NULL);
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(pthread_create(&foreign_thread, NULL, restart_all, unused), 0);
	return 0;
}

TEST(a_restart_while_the_timer_fires_is_no_misuse)
{
	const weft_options unwatched = { .workers = 2, .stall_ms = -1 };

	weft_on_report(take_report, NULL);
	CHECK_EQ(weft_run(start_restarts, NULL, &unwatched), 0);
	CHECK_EQ(pthread_join(foreign_thread, NULL), 0);
	CHECK(calls > 0 && calls <= restarts);
	CHECK_EQ(reports, 0);
}

static void start_queued(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&other.event.state_, __ATOMIC_ACQUIRE) == 0)
		;
	CHECK_EQ(weft_timer_start(&other, 0), -EALREADY);
	count_call(NULL);
}

static int start_due(void *unused)
{
	uint64_t when = weft_now() + WEFT_MS;

	(void)unused;
	weft_timer_init(&timer, 5, start_queued, NULL);
	weft_timer_init(&other, 5, count_call, NULL);
	CHECK_EQ(weft_timer_start_until(&timer, when), 0);
	CHECK_EQ(weft_timer_start_until(&other, when), 0);
	return 0;
}

TEST(a_timer_whose_call_is_due_counts_as_started)
{
	weft_on_report(take_report, NULL);
	CHECK_EQ(weft_run(start_due, NULL, &two), 0);
	CHECK_EQ(calls, 2);
	CHECK_EQ(reports, 1);
}

#ifdef WEFT_FAULTS
static int after_with_faults(void *accepted)
{
	for (long nth = 1;; nth++) {
		long asked;
		int rc;

		wf_fault_arm(nth);
		rc = weft_after(0, 5, count_call, NULL);
		asked = wf_fault_count();
		wf_fault_arm(0);
		CHECK(rc == 0 || rc == -ENOMEM);
		*(int *)accepted += rc == 0;
		if (nth > asked)
			return 0;
	}
}

TEST(weft_after_without_memory_says_so_and_loses_nothing)
{
	const weft_options alone = { .workers = 1, .stall_ms = -1 };
	int accepted = 0;

	CHECK_EQ(weft_run(after_with_faults, &accepted, &alone), 0);
	CHECK(accepted > 0);
	CHECK_EQ(calls, accepted);
}
#endif

TEST_MAIN
