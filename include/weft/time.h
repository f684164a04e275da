/* weft/time.h - the clock, and timers that fire as events in a color. */
#ifndef WEFT_TIME_H
#define WEFT_TIME_H

#include <weft/event.h>

WEFT_BEGIN_DECLS

#define WEFT_US UINT64_C(1000)
#define WEFT_MS UINT64_C(1000000)
#define WEFT_SEC UINT64_C(1000000000)

/* Reads the clock by which timers fire.
 *
 * Context:  any thread.
 * Returns:  monotonic time in nanoseconds
 */
WEFT_API uint64_t weft_now(void);

/* A timer: an event that fires at a time. Embed it; starting one allocates
 * nothing.
 */
typedef struct weft_timer {
	weft_event event; /* what fires; set its fields while not started */
	uint64_t when;    /* when it fires next, on weft_now's clock */
	uint64_t every;   /* 0: once; else it fires again so long after */
	bool background;  /* does not keep weft_run from ending */
	uint16_t place_;
	uint32_t state_;
	struct weft_timer *next_, *prev_;
} weft_timer;

/* Fills in a timer that runs `fn(arg)` in `color`. */
static inline void weft_timer_init(weft_timer *t, weft_color color, weft_fn *fn, void *arg)
{
	memset(t, 0, sizeof *t);
	weft_event_init(&t->event, color, fn, arg);
}

/* Starts the timer: it fires `delay` nanoseconds from now, or at `when`, and
 * then every t->every if that is not 0. Never fires early; lateness is the
 * wheel's grain (16 us), waking up, and what is queued in the color. A periodic
 * timer whose handler is late skips beats; it never piles up.
 *
 * Borrows:  t, until it fired for the last time or was cancelled.
 * Context:  any thread, never a signal handler. O(1).
 * Misuse:   starting a timer that is started.
 * Returns:  0
 *           -EALREADY   it is started; nothing changed
 *           -EINVAL     as weft_event_post
 *           -ESHUTDOWN  no runtime is running, or it is stopping
 */
WEFT_API int weft_timer_start(weft_timer *t, uint64_t delay);
WEFT_API int weft_timer_start_at(weft_timer *t, uint64_t delay, const char *where);
#define weft_timer_start(...) weft_timer_start_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_timer_start_until(weft_timer *t, uint64_t when);
WEFT_API int weft_timer_start_until_at(weft_timer *t, uint64_t when, const char *where);
#define weft_timer_start_until(...) weft_timer_start_until_at(__VA_ARGS__, WEFT_HERE)

/* Starts the timer, or gives a started one another time: `delay` nanoseconds
 * from now. This is the call for time-outs that are put off again and again: to
 * a later time it costs a fraction of a cancel and a start.
 *
 * Called in the timer's own color, it is exact: the handler does not run before the
 * new time, even if the timer has fired and the handler has not begun. Called from
 * another color, it cannot take back a handler call that is due: for a timer that
 * fires once it changes nothing and returns -EALREADY; a periodic timer makes that
 * call, and continues from the new time.
 *
 * Borrows, Context: as weft_timer_start
 * Returns:  0
 *           -EALREADY   called from another color, for a timer that has fired and
 *                       whose handler has not begun; nothing changed
 *           -EINVAL, -ESHUTDOWN  as weft_timer_start
 */
WEFT_API int weft_timer_restart(weft_timer *t, uint64_t delay);
WEFT_API int weft_timer_restart_at(weft_timer *t, uint64_t delay, const char *where);
#define weft_timer_restart(...) weft_timer_restart_at(__VA_ARGS__, WEFT_HERE)

/* Cancels a timer. Exact: 0 means that its handler will not be called (again) and
 * the timer is yours. In the timer's own color that is so whenever the handler
 * has not begun; from elsewhere, when it has not yet fired. (A call of a
 * periodic handler that has begun already may then still be under way.)
 *
 * Context:  any thread, never a signal handler. O(1).
 * Returns:  0
 *           -EALREADY   it fired: its handler ran, runs now or will run soon
 *                       (called from another color), and that call is the last
 *           -ENOENT     it is not started, and no call is due
 *           -ESHUTDOWN  no runtime is running
 */
WEFT_API int weft_timer_cancel(weft_timer *t);

/* Runs `fn(arg)` once in `color`, `delay` nanoseconds from now: a timer
 * without the struct, which cannot be cancelled.
 *
 * Context:  any thread, never a signal handler.
 * Returns:  as weft_timer_start, and -ENOMEM
 */
WEFT_API int weft_after(uint64_t delay, weft_color color, weft_fn *fn, void *arg);
WEFT_API int weft_after_at(uint64_t delay, weft_color color, weft_fn *fn, void *arg,
			   const char *where);
#define weft_after(...) weft_after_at(__VA_ARGS__, WEFT_HERE)

WEFT_END_DECLS
#endif
