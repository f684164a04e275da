/* Misuse is reported with the caller's file and line, and harms nothing. */
#include "common.h"

#include <stdio.h>

static weft_event event;
static atomic_int runs;

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&runs, 1);
}

/* One more misuse was reported, and names this file and a line near `line`. */
static void check_report(int *seen, int line, const char *text)
{
	char place[64];
	bool here = false;

	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), ++*seen);
	for (int l = line - 1; l <= line; l++) {
		snprintf(place, sizeof place, "misuse.c:%d: ", l);
		here |= reported(WEFT_REPORT_MISUSE, place);
	}
	CHECK(here);
	CHECK(reported(WEFT_REPORT_MISUSE, text));
}

static int misuse_everything(void *unused)
{
	int seen = 0;

	(void)unused;
	weft_event_init(&event, 5, count, NULL);
	CHECK_EQ(weft_event_post(&event), 0);
	CHECK_EQ(weft_event_post(&event), -EALREADY);
	check_report(&seen, __LINE__, "queued already");
	weft_event_init(&event, 5, count, NULL); /* forgets that it is queued */
	CHECK_EQ(weft_event_post(&event), -EALREADY);
	check_report(&seen, __LINE__, "queued already");
	CHECK_EQ(weft_event_post(NULL), -EINVAL);
	check_report(&seen, __LINE__, "no event");

	CHECK_EQ(weft_post(5, NULL, NULL), -EINVAL);
	check_report(&seen, __LINE__, "no function");
	CHECK_EQ(weft_post_shared(5, NULL, NULL), -EINVAL);
	check_report(&seen, __LINE__, "no function");

	CHECK_EQ(weft_post(UINT64_MAX, count, NULL), -EINVAL);
	check_report(&seen, __LINE__, "color");
	CHECK_EQ(weft_post((weft_color)1 << 63, count, NULL), -EINVAL);
	check_report(&seen, __LINE__, "color");
	CHECK_EQ(weft_post(weft_color_new() + 1, count, NULL), -EINVAL);
	check_report(&seen, __LINE__, "color");
	return 0;
}

TEST(a_run_without_a_function_is_reported)
{
	int seen = 0;

	catch_reports();
	CHECK_EQ(weft_run(NULL, NULL, NULL), -EINVAL);
	check_report(&seen, __LINE__, "without a function");
}

TEST(misuse_of_posting_is_reported_with_the_callers_line)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 }; /* what is queued stays queued */

	catch_reports();
	CHECK_EQ(weft_run(misuse_everything, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&runs), 1); /* what was queued ran, once */
}

/* Calls through a table, as bindings to other languages make them. */
static const struct {
	int (*run)(int (*fn)(void *), void *, const weft_options *);
	int (*post)(weft_color, weft_fn *, void *);
	int (*go)(weft_thread_fn *, void *);
	int (*after)(uint64_t, weft_color, weft_fn *, void *);
} by_pointer = { weft_run, weft_post, weft_go, weft_after };

static int post_by_pointer(void *unused)
{
	(void)unused;
	CHECK_EQ(by_pointer.post(5, count, NULL), 0);
	CHECK_EQ(by_pointer.after(1000, 5, count, NULL), 0);
	CHECK_EQ(by_pointer.go(nothing_to_do, NULL), 0);
	CHECK_EQ(by_pointer.post(5, NULL, NULL), -EINVAL);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 1);
	CHECK(reported(WEFT_REPORT_MISUSE, "(called by a pointer): "));
	return 0;
}

TEST(a_call_by_a_pointer_does_the_same_and_a_report_says_that_it_has_no_line)
{
	catch_reports();
	CHECK_EQ(by_pointer.run(post_by_pointer, NULL,
				&(weft_options){ .workers = 1, .io = "epoll" }),
		 0);
	CHECK_EQ(atomic_load(&runs), 2);
}

TEST(compound_literals_are_arguments_as_others)
{
	CHECK_EQ(weft_run(nothing_to_do, NULL, &(weft_options){ .workers = 1, .io = "epoll" }), 0);
}

static int misuse_events(void *unused)
{
	weft_event ev;
	int seen = 0;

	(void)unused;
	weft_event_init(&ev, 5, NULL, NULL);
	CHECK_EQ(weft_event_post(&ev), -EINVAL);
	check_report(&seen, __LINE__, "no function");
	weft_event_init(&ev, 5, count, NULL);
	ev.priority = 4;
	CHECK_EQ(weft_event_post(&ev), -EINVAL);
	check_report(&seen, __LINE__, "priority 4");
	weft_event_init(&ev, (weft_color)1 << 63 | 77, count, NULL);
	CHECK_EQ(weft_event_post(&ev), -EINVAL);
	check_report(&seen, __LINE__, "color");
	weft_event_init(&event, 5, count, NULL);
	CHECK_EQ(weft_event_post(&event), 0);
	return 0;
}

TEST(wrong_events_are_refused_and_right_ones_run_all_the_same)
{
	catch_reports();
	CHECK_EQ(weft_run(misuse_events, NULL, NULL), 0);
	CHECK_EQ(atomic_load(&runs), 1);
}

static void *misuse_from_outside(void *unused)
{
	int seen = 0;

	CHECK_EQ(weft_event_post(&event), -EALREADY);
	check_report(&seen, __LINE__, "queued already");
	CHECK_EQ(weft_post(UINT64_MAX, count, NULL), -EINVAL);
	check_report(&seen, __LINE__, "color");
	return unused;
}

static int post_twice(void *unused)
{
	(void)unused;
	weft_event_init(&event, WEFT_MAIN, count, NULL); /* waits for this handler */
	CHECK_EQ(weft_event_post(&event), 0);
	thread_join(thread_start(misuse_from_outside, NULL));
	return 0;
}

TEST(foreign_threads_are_told_as_well)
{
	catch_reports();
	CHECK_EQ(weft_run(post_twice, NULL, NULL), 0);
	CHECK_EQ(atomic_load(&runs), 1);
}

static int run_inside(void *unused)
{
	int seen = 0;

	(void)unused;
	CHECK_EQ(weft_run(nothing_to_do, NULL, NULL), -EDEADLK);
	check_report(&seen, __LINE__, "weft_run");
	return 4;
}

TEST(a_nested_run_is_refused_with_the_callers_line)
{
	catch_reports();
	CHECK_EQ(weft_run(run_inside, NULL, NULL), 4);
}

static int drop_without_hold(void *unused)
{
	int seen = 0;

	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_drop(), 0);
	CHECK_EQ(weft_drop(), -EINVAL);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), ++seen);
	return 0;
}

TEST(a_drop_too_many_is_refused_and_the_run_still_ends)
{
	catch_reports();
	CHECK_EQ(weft_run(drop_without_hold, NULL, NULL), 0);
}

/* The event's own handler may post it again at once: it is its own by then. */
static int left;

static void post_again(void *arg)
{
	if (--left > 0)
		CHECK_EQ(weft_event_post((weft_event *)arg), 0);
}

static int start_again(void *unused)
{
	(void)unused;
	left = 100;
	weft_event_init(&event, 5, post_again, &event);
	return weft_event_post(&event);
}

TEST(a_handler_may_post_its_own_event_again)
{
	catch_reports();
	CHECK_EQ(weft_run(start_again, NULL, NULL), 0);
	CHECK_EQ(left, 0);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 0);
}

TEST_MAIN
