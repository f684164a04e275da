/* common.h - what tests of threads share: threads in one color or a color each, and
 * waiting for a state without keeping the others from bringing it about.
 */
#ifndef TESTS_THREADS_COMMON_H
#define TESTS_THREADS_COMMON_H

#include "scheduler/common.h"

/* Lets others run until a state is reached. In vain: until the harness's limit. */
#define YIELD_UNTIL(cond) \
	do { \
		while (!(cond)) \
			if (weft_yield() < 0) \
				sched_yield(); \
	} while (0)

/* Whether threads that a test starts get colors of their own. */
static bool many_colors UNUSED;

static weft_thread *start(weft_thread_fn *fn, void *arg) UNUSED;
static weft_thread *start(weft_thread_fn *fn, void *arg)
{
	weft_thread_attr attr = { .on = many_colors };
	weft_thread *t;

	if (many_colors)
		attr.color = weft_color_new();
	CHECK_EQ(weft_thread_start(&t, &attr, fn, arg), 0);
	return t;
}

static int join(weft_thread *t) UNUSED;
static int join(weft_thread *t)
{
	int result;

	CHECK_EQ(weft_join(t, &result), 0);
	return result;
}

#endif
