/* trim.c - stacks of threads that wait for long give their unused pages back.
 *
 * A sweep looks at all threads, a few at a time. One that waits since the sweep
 * before gets an event in its color, where it cannot run meanwhile, and that gives
 * back what lies below its stack pointer; then the sweep goes on. So there is one such
 * event at a time: thousands would keep those waiting that have something to do. The
 * next sweep comes after a while, and later if the last one took long; none comes when
 * all that wait have been seen to, until a thread begins to wait: an idle machine
 * sleeps (S6).
 */
#include "threads/trim.h"

#include <string.h>

#include "platform/clock.h"
#include "threads/stats.h"

/* Threads looked at in one event. */
enum { AT_ONCE = 100 };

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
	weft_event trim; /* of the thread that the sweep has come to */
	struct wf_stack_cursor cursor;
	uint64_t spent; /* in this sweep */
	bool going;     /* it has begun and not ended */
	bool more;      /* threads to look at */
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

static void trim(weft_thread *t)
{
	uint8_t in_vain = WF_LOAD(&t->in_vain);

	wf_thread_measure(t);
	if (wf_stack_trim(t->stack_class, t, (uintptr_t)t->context.sp) > 0)
		in_vain = 0;
	else if (in_vain < IN_VAIN_MOST)
		in_vain++;
	WF_STORE(&t->in_vain, in_vain);
}

/* In the thread's color. */
static void trim_and_go_on(void *thread)
{
	if (waits_still(thread, weft_color_current()))
		trim(thread);
	wf_event_deliver(wf_worker_self(), &sweep.go_on); /* which cannot fail */
}

/* `stop` becomes true if the thread is trimmed before the sweep goes on. */
static void look_at(void *record, void *stop)
{
	weft_thread *t = record;
	uint32_t parkings = WF_LOAD(&t->parkings);

	if (WF_LOAD(&t->state) != WF_THREAD_PARKED ||
	    parkings - WF_LOAD(&t->trimmed) < (uint32_t)1 << WF_LOAD(&t->in_vain))
		return;
	sweep.again = true;
	if (WF_LOAD(&t->seen) != parkings) {
		WF_STORE(&t->seen, parkings);
		return;
	}
	weft_event_init(&sweep.trim, guess_color(t), trim_and_go_on, t);
	if (weft_event_post(&sweep.trim) < 0)
		return;
	WF_STORE(&t->trimmed, parkings);
	*(bool *)stop = true;
}

/* Only who has turned wf_trim_armed on. */
static void arm(uint64_t delay)
{
	(void)weft_timer_restart(&sweep.timer, delay);
}

static void go_on(void *unused)
{
	uint64_t began = wf_now(), pause;
	bool stop = false;

	(void)unused;
	for (int i = 0; i < AT_ONCE && sweep.more && !stop; i++)
		sweep.more = wf_stack_some(&wf_thread_stacks, &sweep.cursor, 1, look_at, &stop);
	sweep.spent += wf_now() - began;
	if (stop)
		return;
	if (sweep.more) {
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
	sweep.going = sweep.more = true;
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
