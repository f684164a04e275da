/* What a color is for: its threads change plain variables without a lock and lose
 * nothing, on any number of workers. With a color each the same program has a race, and
 * ThreadSanitizer sees it: colors hand over, and nothing else does.
 */
#include "scheduler/common.h"

#include "base/compiler.h"

enum { THREADS = 1000, TIMES = 100 };

static long counter;
static atomic_int reports;

#ifdef WF_TSAN
/* Called by ThreadSanitizer for each race; the exit code must not tell of them. */
__attribute__((visibility("default"))) void __tsan_on_report(void *report);
void __tsan_on_report(void *report)
{
	(void)report;
	atomic_fetch_add(&reports, 1);
}

__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "exitcode=0";
}
#endif

static int increment(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) {
		counter++;
		CHECK_EQ(weft_yield(), 0);
	}
	return 0;
}

static int in_one_color(void *unused)
{
	(void)unused;
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(weft_go_on(5, increment, NULL), 0);
	return 0;
}

TEST(a_thousand_threads_of_one_color_lose_nothing)
{
	weft_options opt = { .workers = 2 };

	CHECK_EQ(weft_run(in_one_color, NULL, &opt), 0);
	CHECK_EQ(counter, THREADS * TIMES);
	CHECK_EQ(atomic_load(&reports), 0);
}

#ifdef WF_TSAN
static atomic_int running;

/* Both are there before they touch what they share, and go on until it was seen. */
static int race(void *unused)
{
	(void)unused;
	atomic_fetch_add_explicit(&running, 1, memory_order_relaxed);
	while (atomic_load_explicit(&running, memory_order_relaxed) < 2)
		weft_yield();
	while (atomic_load_explicit(&reports, memory_order_relaxed) == 0)
		counter++;
	return 0;
}

static int in_two_colors(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		weft_color c = weft_color_new();

		CHECK_EQ(weft_color_pin(c, i), 0);
		CHECK_EQ(weft_go_on(c, race, NULL), 0);
	}
	return 0;
}

TEST(threads_of_two_colors_race_and_are_seen_to)
{
	weft_options opt = { .workers = 2 };

	CHECK_EQ(weft_run(in_two_colors, NULL, &opt), 0);
	CHECK(atomic_load(&reports) > 0);
}
#endif

TEST_MAIN
