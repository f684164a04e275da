/* Drop functions: called instead of run, in order, in the color, when a limit
 * is passed. Where the one worker is to post all before any of it runs there must be no
 * stand-in for it, however long that takes.
 */
#include "common.h"

#include "platform/clock.h"

enum { COLOR = 60, EVENTS = 20 };

static weft_event event[EVENTS];
static char fate[EVENTS + 1]; /* 'r' or 'd', by event */
static int order[EVENTS], count;

static void settle(void *arg, char what)
{
	int i = (int)((weft_event *)arg - event);

	CHECK_EQ(weft_color_current(), event[i].color);
	fate[i] = what;
	order[count++] = i;
}

static void run(void *arg)
{
	settle(arg, 'r');
}

static void drop(void *arg)
{
	settle(arg, 'd');
}

static void post(int i, weft_color color, bool droppable)
{
	weft_event_init(&event[i], color, run, &event[i]);
	event[i].drop = droppable ? drop : NULL;
	CHECK_EQ(weft_event_post(&event[i]), 0);
}

static void check_in_order(int n)
{
	CHECK_EQ(count, n);
	for (int i = 0; i < n; i++)
		CHECK_EQ(order[i], i);
}

static void *post_all(void *unused)
{
	for (int i = 0; i < EVENTS; i++)
		post(i, COLOR, true);
	return unused;
}

static int post_all_here(void *unused)
{
	post_all(unused);
	return 0;
}

TEST(events_beyond_the_depth_of_a_color_are_dropped_in_order)
{
	weft_options opt = { .workers = 1, .color_depth = 5, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_all_here, NULL, &opt), 0);
	CHECK_STR(fate, "rrrrrddddddddddddddd");
	check_in_order(EVENTS);
}

static int post_all_from_outside(void *unused)
{
	(void)unused;
	/* From here so that the color cannot begin before all are posted. */
	thread_join(thread_start(post_all, NULL));
	return 0;
}

TEST(the_depth_holds_for_foreign_threads_too)
{
	weft_options opt = { .workers = 1, .color_depth = 7, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_all_from_outside, NULL, &opt), 0);
	CHECK_STR(fate, "rrrrrrrddddddddddddd");
	check_in_order(EVENTS);
}

static void post_to_own_color(void *unused)
{
	post_all(unused);
}

static int start_own(void *unused)
{
	return weft_post(COLOR, post_to_own_color, unused);
}

TEST(the_depth_holds_for_what_a_handler_posts_to_its_own_color)
{
	weft_options opt = { .workers = 1, .color_depth = 3, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_own, NULL, &opt), 0);
	CHECK_STR(fate, "rrrddddddddddddddddd");
	check_in_order(EVENTS);
}

static int post_some_droppable(void *unused)
{
	(void)unused;
	for (int i = 0; i < EVENTS; i++)
		post(i, COLOR, i % 2 == 1);
	return 0;
}

TEST(an_event_without_a_drop_function_always_runs)
{
	weft_options opt = { .workers = 1, .color_depth = 4, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_some_droppable, NULL, &opt), 0);
	CHECK_STR(fate, "rrrrrdrdrdrdrdrdrdrd");
	check_in_order(EVENTS);
}

static int post_many_colors(void *unused)
{
	(void)unused;
	for (int i = 0; i < EVENTS; i++)
		post(i, (weft_color)(COLOR + i), true);
	return 0;
}

TEST(events_beyond_the_depth_of_the_machine_are_dropped)
{
	weft_options opt = { .workers = 1, .queue_depth = 6, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_many_colors, NULL, &opt), 0);
	CHECK_STR(fate, "rrrrrrdddddddddddddd");
	check_in_order(EVENTS);
}

TEST(without_limits_nothing_is_dropped)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	CHECK_EQ(weft_run(post_many_colors, NULL, &opt), 0);
	CHECK_STR(fate, "rrrrrrrrrrrrrrrrrrrr");
}

/* Delay: the color is held up until the limit has passed on its clock. */

static void hold_up(void *unused)
{
	uint64_t until = wf_now() + 3 * WEFT_MS;

	(void)unused;
	for (int i = 0; i < 5; i++)
		post(i, COLOR, i != 2);
	while (wf_now() < until)
		continue;
}

static void post_fresh(void *unused)
{
	(void)unused;
	post(5, COLOR, true);
}

static int start_delay(void *unused)
{
	CHECK_EQ(weft_post(COLOR, hold_up, unused), 0);
	return weft_post(COLOR, post_fresh, NULL);
}

TEST(events_that_waited_too_long_are_dropped)
{
	weft_options opt = { .workers = 1, .queue_delay_ms = 2, .stall_ms = -1 };

	CHECK_EQ(weft_run(start_delay, NULL, &opt), 0);
	CHECK_EQ(strncmp(fate, "ddrdd", 5), 0);
	check_in_order(6);
}

/* Dropping under load: none lost, in order, counted */

static atomic_long accepted, ran, dropped;
static long last_seen[3]; /* of each poster, in the color */

struct numbered {
	weft_event event;
	int poster;
	long n;
};

static void settle_numbered(struct numbered *e)
{
	CHECK_EQ(e->n, last_seen[e->poster] + 1);
	last_seen[e->poster] = e->n;
	free(e);
}

static void run_numbered(void *arg)
{
	atomic_fetch_add(&ran, 1);
	settle_numbered(arg);
}

static void drop_numbered(void *arg)
{
	atomic_fetch_add(&dropped, 1);
	settle_numbered(arg);
}

static void *post_numbered(void *arg)
{
	for (int i = 1; i <= TEST_SIZE(20000); i++) {
		struct numbered *e = calloc(1, sizeof *e);

		e->poster = (int)(intptr_t)arg;
		e->n = i;
		weft_event_init(&e->event, COLOR, run_numbered, e);
		e->event.drop = drop_numbered;
		CHECK_EQ(weft_event_post(&e->event), 0);
		atomic_fetch_add(&accepted, 1);
	}
	return NULL;
}

static weft_stats_all all;
static uint64_t counted_drops;

static void *load_and_end(void *unused)
{
	pthread_t a = thread_start(post_numbered, (void *)1);
	pthread_t b = thread_start(post_numbered, (void *)2);
	weft_worker_stats w[8];
	int n;

	thread_join(a);
	thread_join(b);
	WAIT_FOR(atomic_load(&ran) + atomic_load(&dropped) == atomic_load(&accepted));
	n = weft_stats(&all, w, 8);
	for (int i = 0; i < n; i++)
		counted_drops += w[i].dropped;
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static pthread_t loader;

static int start_load(void *unused)
{
	CHECK_EQ(weft_hold(), 0);
	loader = thread_start(load_and_end, unused);
	return 0;
}

TEST(under_overload_every_event_is_run_or_dropped_once_in_order)
{
	weft_options opt = { .workers = 2, .color_depth = 3, .queue_depth = 10 };

	CHECK_EQ(weft_run(start_load, NULL, &opt), 0);
	thread_join(loader);
	CHECK_EQ(atomic_load(&ran) + atomic_load(&dropped), 2 * TEST_SIZE(20000));
	CHECK_EQ(counted_drops, atomic_load(&dropped));
	CHECK_EQ(all.queued, 0);
}

TEST_MAIN
