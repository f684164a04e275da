/* trim.c - stacks of threads that wait for long give their unused pages back.
 *
 * A sweep looks at all threads, a few at a time. One that waits since the sweep
 * before gets an event in its color, where it cannot run meanwhile, and that gives
 * back what lies below its stack pointer. The next sweep comes after a while, and
 * later if the last one took long; none comes when all that wait have been seen to,
 * until a thread begins to wait: an idle machine sleeps (S6).
 */
#include "threads/trim.h"

#include <string.h>

#include "platform/clock.h"
#include "threads/stats.h"

/* Threads looked at in one event. */
enum { AT_ONCE = 1000 };

/* A thread whose stack had nothing to give back is let alone for so many waits, twice as
 * many each time, up to 2 to the power of this. */
enum { IN_VAIN_MOST = 8 };

/* A sweep may use one part in so many of the time. */
enum { SHARE = 50 };

uint64_t wf_trim_after_ns = 1000000000;
_Atomic bool wf_trim_armed;

static struct {
	weft_timer timer;
	weft_event go_on;
	struct wf_stack_cursor cursor;
	uint64_t spent; /* in this sweep */
	bool going;     /* it has begun and not ended */
	bool again;     /* something is left for the next */
} sweep;

/* Whether the thread waits in the color, as it did when it was last looked at. Its
 * color is a guess while it is elsewhere. */
static WF_NO_TSAN bool waits_still(const weft_thread *t, weft_color color)
{
	return t->event.color == color && WF_LOAD(&t->state) == WF_THREAD_PARKED &&
	       WF_LOAD(&t->parkings) == WF_LOAD(&t->seen);
}

static WF_NO_TSAN weft_color guess_color(const weft_thread *t)
{
	return t->event.color;
}

/* In the thread's color. */
static void trim(void *thread)
{
	weft_thread *t = thread;
	uint8_t in_vain = WF_LOAD(&t->in_vain);

	if (!waits_still(t, weft_color_current()))
		return;
	wf_thread_measure(t);
	if (wf_stack_trim(t->stack_class, t, (uintptr_t)t->context.sp) > 0)
		in_vain = 0;
	else if (in_vain < IN_VAIN_MOST)
		in_vain++;
	WF_STORE(&t->in_vain, in_vain);
}

static void look_at(void *record, void *unused)
{
	weft_thread *t = record;
	uint32_t parkings = WF_LOAD(&t->parkings);

	(void)unused;
	if (WF_LOAD(&t->state) != WF_THREAD_PARKED ||
	    parkings - WF_LOAD(&t->trimmed) < (uint32_t)1 << WF_LOAD(&t->in_vain))
		return;
	sweep.again = true;
	if (WF_LOAD(&t->seen) != parkings)
		WF_STORE(&t->seen, parkings);
	else if (weft_post(guess_color(t), trim, t) == 0)
		WF_STORE(&t->trimmed, parkings);
}

/* Only who has turned wf_trim_armed on. */
static void arm(uint64_t delay)
{
	(void)weft_timer_restart(&sweep.timer, delay);
}

static void go_on(void *unused)
{
	uint64_t began = wf_now(), pause;
	bool more = wf_stack_some(&wf_thread_stacks, &sweep.cursor, AT_ONCE, look_at, NULL);

	(void)unused;
	sweep.spent += wf_now() - began;
	if (more) {
		(void)weft_event_post(&sweep.go_on);
		return;
	}
	pause = SHARE * sweep.spent;
	sweep.spent = 0;
	sweep.going = false;
	if (sweep.again && !atomic_exchange(&wf_trim_armed, true))
		arm(pause > wf_trim_after_ns ? pause : wf_trim_after_ns);
}

/* A thread that begins to wait from now on, perhaps unseen by this sweep, arms it
 * again. */
static void begin(void *unused)
{
	atomic_store(&wf_trim_armed, false);
	sweep.again = sweep.going;
	if (sweep.going)
		return;
	sweep.going = true;
	go_on(unused);
}

void wf_trim_arm(void)
{
	if (!atomic_exchange(&wf_trim_armed, true))
		arm(wf_trim_after_ns);
}

void wf_trim_start(void)
{
	weft_color color = weft_color_new();

	memset(&sweep, 0, sizeof sweep);
	weft_timer_init(&sweep.timer, color, begin, NULL);
	sweep.timer.background = true;
	sweep.timer.event.priority = WEFT_PRIORITY_LOW;
	weft_event_init(&sweep.go_on, color, go_on, NULL);
	sweep.go_on.priority = WEFT_PRIORITY_LOW;
	atomic_store(&wf_trim_armed, false);
}
