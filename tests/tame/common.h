/* common.h - what tests of tamed functions share: events that are triggered a little later, and
 * running a tamed function to its end.
 */
#ifndef TESTS_TAME_COMMON_H
#define TESTS_TAME_COMMON_H

#include "threads/common.h"

#include <stdlib.h>
#include <string.h>

#include <weft/tame.h>
#include <weft/weft.h>

/* An event that is triggered with a value by another event of the same color. */
struct later {
	event(int) e;
	int value;
};

static void run_later(void *arg) UNUSED;
static void run_later(void *arg)
{
	struct later l = *(struct later *)arg;

	free(arg);
	trigger(l.e, l.value);
}

static void later(int value, event(int) e) UNUSED;
static void later(int value, event(int) e)
{
	struct later *l = malloc(sizeof *l);

	l->e = e;
	l->value = value;
	CHECK_EQ(weft_post(weft_color_current(), run_later, l), 0);
}

static void run_soon(void *arg) UNUSED;
static void run_soon(void *arg)
{
	event() e = (event())(uintptr_t)arg;

	trigger(e);
}

static void soon(event() e) UNUSED;
static void soon(event() e)
{
	CHECK_EQ(weft_post(weft_color_current(), run_soon, (void *)(uintptr_t)e), 0);
}

#endif
