/* Priorities: hints that order colors and starve nobody. */
#include "common.h"

#include <semaphore.h>

#include "base/capacity.h"

/* One worker, and no stand-in for it, so that the order is known. */
static const weft_options one = { .workers = 1, .batch = 1, .stall_ms = -1 };

enum { EVENTS = 8 };

static weft_event event[EVENTS];
static int order[EVENTS], count;

static void note(void *arg)
{
	order[count++] = (int)((weft_event *)arg - event);
}

static void post(int i, weft_color color, enum weft_priority priority)
{
	weft_event_init(&event[i], color, note, &event[i]);
	event[i].priority = (uint8_t)priority;
	CHECK_EQ(weft_event_post(&event[i]), 0);
}

static int post_rising(void *unused)
{
	(void)unused;
	post(0, 10, WEFT_PRIORITY_LOW);
	post(1, 11, WEFT_PRIORITY_NORMAL);
	post(2, 12, WEFT_PRIORITY_HIGH);
	post(3, 13, WEFT_PRIORITY_URGENT);
	return 0;
}

#ifdef WEFT_TINY /* whose every second turn is for those passed over */
#define FEW_SKIPS 1
#else
#define FEW_SKIPS 0
#endif

TEST(a_higher_priority_runs_first_where_colors_allow)
{
	CHECK_EQ(weft_run(post_rising, NULL, &one), 0);
	CHECK_EQ(count, 4);
	CHECK_EQ(order[0], 3);
	for (int i = 0; i < 4 && !FEW_SKIPS; i++)
		CHECK_EQ(order[i], 3 - i);
}

static int post_one_color(void *unused)
{
	(void)unused;
	for (int i = 0; i < EVENTS; i++)
		post(i, 10, i % 2 ? WEFT_PRIORITY_URGENT : WEFT_PRIORITY_LOW);
	return 0;
}

TEST(priority_changes_nothing_within_a_color)
{
	CHECK_EQ(weft_run(post_one_color, NULL, &one), 0);
	for (int i = 0; i < EVENTS; i++)
		CHECK_EQ(order[i], i);
}

static int post_urgent_behind(void *unused)
{
	(void)unused;
	post(0, 10, WEFT_PRIORITY_NORMAL);
	post(1, 11, WEFT_PRIORITY_NORMAL);
	post(2, 11, WEFT_PRIORITY_URGENT);
	return 0;
}

TEST(an_urgent_event_hurries_up_what_is_ahead_of_it_in_its_color)
{
	CHECK_EQ(weft_run(post_urgent_behind, NULL, &one), 0);
	CHECK_EQ(order[0], 1);
	CHECK_EQ(count, 3);
}

/* Starvation: each higher level is busy until the lowest has run. */

static atomic_bool low_ran;
static weft_event busy[12];
static long busy_runs, waited;

static void keep_busy(void *arg)
{
	busy_runs++;
	if (!atomic_load(&low_ran))
		CHECK_EQ(weft_event_post((weft_event *)arg), 0);
}

static void run_low(void *unused)
{
	(void)unused;
	waited = busy_runs;
	atomic_store(&low_ran, true);
}

static int start_starving(void *arg)
{
	static const enum weft_priority higher[] = { WEFT_PRIORITY_NORMAL, WEFT_PRIORITY_HIGH,
						     WEFT_PRIORITY_URGENT };
	static weft_event low;
	int crowds = (int)(intptr_t)arg;

	for (int i = 0; i < 12; i++) {
		weft_event_init(&busy[i], (weft_color)(20 + i), keep_busy, &busy[i]);
		busy[i].priority = (uint8_t)higher[crowds == 1 ? 2 : i % 3];
		CHECK_EQ(weft_event_post(&busy[i]), 0);
	}
	weft_event_init(&low, 19, run_low, NULL);
	low.priority = WEFT_PRIORITY_LOW;
	return weft_event_post(&low);
}

TEST(low_priority_is_not_starved_by_urgent_events)
{
	CHECK_EQ(weft_run(start_starving, (void *)1, &one), 0);
	CHECK(waited <= WF_SKIPS);
}

TEST(low_priority_is_not_starved_by_several_levels_above_it)
{
	CHECK_EQ(weft_run(start_starving, (void *)3, &one), 0);
	CHECK(waited <= 3 * WF_SKIPS);
}

/* CPU events ahead of I/O events */

static atomic_bool foreign_posted;

static void *post_foreign(void *unused)
{
	post(0, 30, WEFT_PRIORITY_NORMAL);
	atomic_store(&foreign_posted, true);
	return unused;
}

static int post_both_kinds(void *unused)
{
	pthread_t thread = thread_start(post_foreign, NULL);

	WAIT_FOR(atomic_load(&foreign_posted));
	thread_join(thread);
	post(1, 31, WEFT_PRIORITY_NORMAL);
	post(2, 32, WEFT_PRIORITY_LOW);
	(void)unused;
	return 0;
}

TEST(what_handlers_post_runs_ahead_of_what_came_from_outside_before)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_both_kinds, NULL, &opt), 0);
	CHECK_EQ(count, 3);
	CHECK_EQ(order[0], 1);
	CHECK_EQ(order[1], FEW_SKIPS ? order[1] : 0); /* but not ahead of its priority */
}

/* A color that posts to itself, against what the kernel or a foreign thread brings
 * to another color of the same priority. */

enum { BUSY_ROUNDS = 50 };

static sem_t ask;
static atomic_int posted_for;
static long turns, brought_in, longest;
static int asked, rounds_done;

/* Runs in the other color. */
static void brought(void *unused)
{
	(void)unused;
	if (turns - brought_in > longest)
		longest = turns - brought_in;
	rounds_done++;
}

static void *bring(void *unused)
{
	for (int i = 0; i < BUSY_ROUNDS; i++) {
		while (sem_wait(&ask) != 0)
			continue;
		CHECK_EQ(weft_post(40, brought, NULL), 0);
		atomic_fetch_add(&posted_for, 1);
	}
	return unused;
}

/* Each turn is of one event. The next is asked for when the last has come. */
static void ask_and_go_on(void *unused)
{
	turns++;
	if (rounds_done == BUSY_ROUNDS)
		return;
	if (asked == rounds_done) {
		asked++;
		sem_post(&ask);
		WAIT_FOR(atomic_load(&posted_for) == asked);
		brought_in = turns;
	}
	CHECK_EQ(weft_post(41, ask_and_go_on, unused), 0);
}

static int start_asking(void *unused)
{
	return weft_post(41, ask_and_go_on, unused);
}

TEST(a_color_that_posts_to_itself_runs_behind_what_came_from_outside)
{
	weft_options opt = { .workers = 1, .batch = 1, .stall_ms = -1 };
	pthread_t thread;

	CHECK_EQ(sem_init(&ask, 0, 0), 0);
	thread = thread_start(bring, NULL);
	CHECK_EQ(weft_run(start_asking, NULL, &opt), 0);
	thread_join(thread);
	CHECK_EQ(rounds_done, BUSY_ROUNDS);
	CHECK_EQ(longest, 0);
}

static weft_timer timer;

/* The handler stays until the timer is due and the worker owes the kernel and the
 * timers a look, which comes at the end of the turn. */
static void time_and_go_on(void *unused)
{
	turns++;
	if (rounds_done == BUSY_ROUNDS)
		return;
	if (asked == rounds_done) {
		asked++;
		CHECK_EQ(weft_timer_start(&timer, 0), 0);
		while (weft_now() < timer.when + 200 * WEFT_US)
			continue;
		brought_in = turns;
	}
	CHECK_EQ(weft_post(41, time_and_go_on, unused), 0);
}

static int start_timing(void *unused)
{
	weft_timer_init(&timer, 40, brought, NULL);
	return weft_post(41, time_and_go_on, unused);
}

TEST(a_color_that_posts_to_itself_lets_a_timer_run_at_its_next_turn_but_one)
{
	weft_options opt = { .workers = 1, .batch = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_timing, NULL, &opt), 0);
	CHECK_EQ(rounds_done, BUSY_ROUNDS);
	CHECK(longest <= 1);
}

TEST_MAIN
