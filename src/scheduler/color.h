/* color.h - colors: their queues, the table that finds them, and the rules by
 * which one worker at a time may run them.
 *
 * Terms. A color is active while it stands in a worker's queue, is owned by a
 * worker that runs it, dozes, or waits for its readers. An active color is owned by at
 * most one worker (S1). The owner takes events from `local`; everybody else
 * appends to `inbox` under the lock of the color's shard. Only the event that
 * makes a color active, or ends its doze, goes straight to `local`: it has no owner yet.
 *
 * Order (S2). `local` is always older than `inbox`. The owner may append to
 * `local` itself, without a lock, but only when it has seen the inbox empty:
 * else an event that somebody posted before could be overtaken.
 *
 * Life. A color's record is made by the first post and removed when its owner
 * finds both lists empty, under the shard's lock. Pinned colors stay, and those that doze.
 *
 * Dozing. A color that has run out of events, and whose worker has no other, stays active and
 * in that worker's hand, if the kernel's events for it are found there: the next is often the next
 * of all, and then it needs neither the table nor the queue. Whoever else posts to it takes it away
 * from there, as if it were inactive; and at the end of its next turn the worker lets it go.
 *
 * Readers. To run a shared event the owner counts itself into `readers` and
 * gives the color up before it runs, so that others can take the next shared
 * one. An owner that finds an exclusive event while readers run sets WAITING
 * and goes away; the last reader then owns the color and queues it again.
 *
 * Rejected: one lock-free list per color (its record could not be freed while a
 * poster looks at it, without hazard pointers on every post), and keeping the
 * record inside the first event (it would move at every turn).
 */
#ifndef WF_COLOR_H
#define WF_COLOR_H

#include <weft/event.h>

#include "base/capacity.h"
#include "base/lock.h"
#include "base/pool.h"
#include "scheduler/runq.h"
#include "scheduler/table.h"

struct wf_worker;
struct wf_sched;

struct wf_events {
	weft_event *head;
	weft_event *_Atomic tail; /* also read by others, as a hint */
};

#define WF_READERS_WAITING 0x8000u

/* Two cache lines: with many colors, and when one is stolen, lines are what it costs. */
struct WF_ALIGNED wf_color {
	struct wf_place place;
	/* The owner's. Count and costs are also read by others, as hints. */
	struct wf_events local;
	_Atomic uint64_t local_cost; /* ticks, by estimate */
	/* Guarded by the shard's lock; the count is also read without it. */
	_Atomic uint64_t inbox_cost;
	struct wf_events inbox;
	struct wf_color *chain; /* where the table has no slot for it */
	weft_color id;
	_Atomic uint32_t inbox_count;
	_Atomic uint32_t local_count;
	uint32_t overtaken; /* since when others go ahead of the first (turn.h); 0: not */
	_Atomic uint16_t readers;
	/* Guarded by the shard's lock. */
	bool active;
	bool found; /* what made it active was found by the worker that it was queued at */
	/* Or NULL: a hint, what counts is that worker's `dozing`. Set under the shard's lock. */
	struct wf_worker *_Atomic dozes_with;
};

_Static_assert(sizeof(struct wf_color) == 128, "two cache lines");

/* Flags in weft_event.flags_. */
enum {
	WF_EVENT_POOLED = 1,  /* made by weft_post: goes back to the pool */
	WF_EVENT_DROPPED = 2, /* queued too deep: drop it */
	WF_EVENT_IO = 4,      /* brought by the kernel or a foreign thread */
};

static inline unsigned wf_color_class(weft_color id)
{
	return id >> 63 ? (unsigned)(id >> 59) & (WEFT_CLASSES - 1) : WEFT_CLASS_CHOSEN;
}

/* Colors given by weft_color_new so far, in the process. */
extern _Atomic uint64_t wf_fresh_colors;

/* Whether the user may name this color: chosen, or given by weft_color_new. */
static inline bool wf_color_valid(weft_color id)
{
	uint64_t n = id & (((weft_color)1 << 59) - 1);

	if (WF_LIKELY(id >> 63 == 0))
		return true;
	return wf_color_class(id) != WEFT_CLASS_CHOSEN && n > 0 && n < WF_LOAD(&wf_fresh_colors);
}

/* Whether what the user wrote into the event makes sense. */
static inline bool wf_event_valid(const weft_event *ev)
{
	return ev->run != NULL && ev->priority <= WEFT_PRIORITY_URGENT && wf_color_valid(ev->color);
}

/* Posts a new event in the color that w is in exclusive use of. */
void wf_sched_post_here(struct wf_worker *w, weft_event *ev, const char *where);

/* Posts `ev`, whose fields were checked, from worker `self` (NULL: a foreign
 * thread), to be queued at worker `at` if its color is not active. `where` is the
 * caller's place; NULL leaves the event's as it is. Returns 0, -EALREADY if it is
 * queued, or -ENOMEM, which cannot happen with `must`. */
int wf_sched_post(struct wf_sched *s, struct wf_worker *self, struct wf_worker *at, weft_event *ev,
		  enum wf_source from, const char *where, bool must);

/* Posts events that the kernel has brought, all of one color, with one look for it. Those
 * that are queued already stay in `evs`, the others become NULL. */
void wf_sched_post_io(struct wf_sched *s, struct wf_worker *self, struct wf_worker *at,
		      weft_event **evs, int n);

/* Takes the next color, from w's hand or its queue, and makes w its owner. */
bool wf_sched_next(struct wf_worker *w);

/* Takes a color from another worker's queue and makes w its owner. */
bool wf_sched_steal(struct wf_worker *w);

/* Moves all that can be moved from a stuck worker's queue to w's: a thief that
 * took one color at a time could be kept busy by the first for ever (S3). */
void wf_sched_rescue(struct wf_worker *w, struct wf_worker *stuck);

/* The next event of the color that w owns; the caller runs it and then calls
 * wf_sched_ran. NULL: no more for now, call wf_sched_turn_end. */
weft_event *wf_sched_take(struct wf_worker *w);
void wf_sched_ran(struct wf_worker *w);

/* turn.h: flows that the running one started, of w's color, get their place. */
void wf_turn_queue_young(struct wf_worker *w);

/* Gives the color up: to the end of the queue if it has work left. */
void wf_sched_turn_end(struct wf_worker *w);

/* Now and then between turns: if w was not idle for long it is swamped, and others may have what
 * it keeps. */
void wf_sched_busy(struct wf_worker *w, uint64_t now);

/* Takes an event back from the color that w owns. */
int wf_sched_cancel(struct wf_worker *w, weft_event *ev);

/* Pins a color to a worker, -1 for none. */
int wf_sched_pin(struct wf_sched *s, struct wf_worker *self, weft_color id, int worker);

/* After a run: the events that a color still holds are the user's again. */
void wf_sched_discard(struct wf_color *c);

#endif
