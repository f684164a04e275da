/* weft/event.h - the unit of work: a function and a color.
 *
 * Events of one color run one at a time, in the order posted, on whatever
 * core. Events of different colors may run at the same time.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include <string.h>

#include <weft/def.h>

WEFT_BEGIN_DECLS

/* A serial domain. Any value below 2^63 may be chosen freely (a descriptor
 * number, an address); values above come from weft_color_new only. Two values
 * share a queue only if they are equal. A color with nothing queued costs
 * nothing.
 */
typedef uint64_t weft_color;

/* The color of all work that names none. */
#define WEFT_MAIN WEFT_NUMBER_(weft_color, 0)

/* Number of color classes: counters are kept for each (weft/observe.h). */
#define WEFT_CLASSES 16
#define WEFT_CLASS_CHOSEN 0 /* values that the user chose, and WEFT_MAIN */
#define WEFT_CLASS_FRESH 1  /* weft_color_new */

/* How soon an event runs. A hint: higher ones run first where colors allow, and
 * nothing starves.
 */
enum weft_priority {
	WEFT_PRIORITY_NORMAL = 0,
	WEFT_PRIORITY_LOW = 1,
	WEFT_PRIORITY_HIGH = 2,
	WEFT_PRIORITY_URGENT = 3,
};

/* An event: a function to run in a color. Embed it in your own struct; posting
 * allocates nothing. Set the first fields by weft_event_init and by assignment
 * while it is not queued; fields that end in _ are Weft's.
 */
typedef struct weft_event {
	weft_fn *run;
	void *arg;
	weft_color color;
	/* Called instead of run when the color or the machine is overloaded.
	 * NULL: always run. Runs in the color, in order, like run. */
	weft_fn *drop;
	uint8_t priority; /* enum weft_priority */
	bool shared;      /* may run beside other shared events of its color */
	uint8_t state_;
	uint8_t flags_;
	uint32_t cost_;
	struct weft_event *next_, *prev_;
	uint64_t posted_;
	const char *where_;
} weft_event;

/* Fills in an event: exclusive, normal priority, no drop function. */
static inline void weft_event_init(weft_event *ev, weft_color color, weft_fn *run, void *arg)
{
	memset(ev, 0, sizeof *ev);
	ev->run = run;
	ev->arg = arg;
	ev->color = color;
}

/* Makes `ev` run once, soon, in its color, behind what is queued there.
 *
 * Borrows:  ev, until its run (or drop) function is called. Do not move,
 *           change or free it before then; from within, it is yours again.
 * Context:  any thread, never a signal handler. Never blocks, never switches.
 * Misuse:   posting an event that is still queued, or one without a function;
 *           initialising an event again while it is queued (set its fields when
 *           it is yours, and initialise it once).
 * Returns:  0
 *           -ESHUTDOWN  no runtime is running, or it is stopping; ev will not run
 *           -EINVAL     no run function, bad priority, or a color above 2^63
 *                       that weft_color_new never gave
 *           -EALREADY   ev is queued already; it will run once
 *           -ENOMEM     max_colors colors have work queued
 */
WEFT_API int weft_event_post(weft_event *ev);
WEFT_API int weft_event_post_at(weft_event *ev, const char *where);
#define weft_event_post(...) weft_event_post_at(__VA_ARGS__, WEFT_HERE)

/* Takes back a queued event. Exact: 0 means it will not run and is yours.
 *
 * Context:  a handler in the exclusive use of ev's own color.
 * Returns:  0
 *           -ENOENT     it is not queued: it ran, or was never posted
 *           -EPERM      called from outside ev's color; nothing changed
 */
WEFT_API int weft_event_cancel(weft_event *ev);

/* Runs `fn(arg)` once in `color`: an event without the struct.
 *
 * Context, Misuse, Returns: as weft_event_post, and
 *           -ENOMEM     no memory for the event
 */
WEFT_API int weft_post(weft_color color, weft_fn *fn, void *arg);
WEFT_API int weft_post_at(weft_color color, weft_fn *fn, void *arg, const char *where);
#define weft_post(...) weft_post_at(__VA_ARGS__, WEFT_HERE)

/* Runs `fn(arg)` once in `color` as a shared (reader) event: beside other shared
 * events of the color, never beside an exclusive one, in fair order.
 *
 * Context, Misuse, Returns: as weft_post
 */
WEFT_API int weft_post_shared(weft_color color, weft_fn *fn, void *arg);
WEFT_API int weft_post_shared_at(weft_color color, weft_fn *fn, void *arg, const char *where);
#define weft_post_shared(...) weft_post_shared_at(__VA_ARGS__, WEFT_HERE)

/* Gives a color that nobody else has. It is of class WEFT_CLASS_FRESH or of the
 * class given (2 to WEFT_CLASSES - 1 are for the user; see weft_class_name).
 *
 * Context:  any thread.
 * Returns:  the color. weft_color_new_in gives 0, WEFT_MAIN, for a bad class.
 */
WEFT_API weft_color weft_color_new(void);
WEFT_API weft_color weft_color_new_in(int color_class);

/* Tells the color of the handler or thread that runs.
 *
 * Context:  any thread.
 * Returns:  the color, or WEFT_MAIN outside handlers
 */
WEFT_API weft_color weft_color_current(void);

/* Pins a color to a worker: its events run there and are never stolen, not
 * even from a stuck worker. -1 unpins. Takes effect when the color next gets a
 * turn. A pinned color costs memory until it is unpinned.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EINVAL     no such worker, or a color never made
 *           -ENOMEM     no room for another color
 *           -ESHUTDOWN  no runtime is running
 */
WEFT_API int weft_color_pin(weft_color color, int worker);

/* Tells the runtime what it would otherwise measure: how long handler `fn`
 * runs, in nanoseconds (0: measure again), and by what factor its events are
 * less worth stealing than their running time says (1: no penalty), because
 * they use much data that is warm where they were posted.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EINVAL     fn is NULL, or penalty is 0
 *           -ENOSPC     too many handlers are annotated
 */
WEFT_API int weft_handler_time(weft_fn *fn, uint64_t ns);
WEFT_API int weft_handler_penalty(weft_fn *fn, uint32_t penalty);

WEFT_END_DECLS
#endif
