/* tame.h - what the files of this folder share: memory, closures, reports.
 *
 * Terms. A closure is what a tamed function keeps while it waits. It belongs to a color, and
 * with its rendezvous and the slots of its events it is touched only there; so nothing here is
 * atomic but the state of an event of a rendezvous, which those who trigger it from elsewhere and
 * a cancel agree by. An event that is triggered elsewhere is itself posted to the closure's
 * color. (Atomic counters and lists instead were tried: three times the cost of a step.)
 */
#ifndef WF_TAME_H
#define WF_TAME_H

#include <weft/tame_code.h>

#include "base/capacity.h"
#include "base/pool.h"
#include "scheduler/turn.h"

/* Memory, of two kinds, in sizes: 32, 64 ... 512, and a few larger ones. What is freed keeps its
 * content, so that a second trigger finds what it says. Everything is free again when the run
 * ends. */
enum wf_tame_kind { WF_TAME_CLOSURES, WF_TAME_EVENTS, WF_TAME_KINDS };
enum {
	WF_TAME_STEP = 32,
	WF_TAME_STEPS = 16, /* sizes that are multiples of it */
	WF_TAME_SIZES = WF_TAME_STEPS + 8,
};

/* What a worker has ready: w->top, unless checks are asked for. `last` was freed last: mostly a
 * closure is freed before another is made, and this spares the search for its cache. */
struct wf_tame_cache {
	void *last[WF_TAME_KINDS][WF_TAME_STEPS];
	struct wf_pool_cache of[WF_TAME_KINDS][WF_TAME_SIZES];
};

/* How many pieces of memory for events are in use, for tests. */
#ifdef WEFT_DEBUG
extern atomic_long wf_tame_events_in_use;
#define WF_TAME_COUNT(kind, n) \
	atomic_fetch_add(&wf_tame_events_in_use, (kind) == WF_TAME_EVENTS ? (n) : 0)
#else
#define WF_TAME_COUNT(kind, n) ((void)0)
#endif

/* `size` bytes with undefined content, or NULL. `must`: from what is kept for those who cannot take
 * a no; the end of that is the end of the process. `w` is the worker that runs the caller; NULL: a
 * foreign thread, inside the gate. */
void *wf_tame_get(struct wf_worker *w, enum wf_tame_kind kind, size_t size, bool must);
void wf_tame_put(struct wf_worker *w, enum wf_tame_kind kind, size_t size, void *at);

/* The place of what was freed last, of that size; NULL: only wf_tame_get and wf_tame_put know. */
static WF_INLINE void **wf_tame_last(const struct wf_worker *w, enum wf_tame_kind kind, size_t size)
{
	size_t index = (size + WF_TAME_STEP - 1) / WF_TAME_STEP - 1;
	struct wf_tame_cache *cache = w->top;

	return WF_LIKELY(cache != NULL && index < WF_TAME_STEPS) ? &cache->last[kind][index] : NULL;
}

/* The same for events, which must be had. */
static WF_INLINE void *wf_tame_get_event(struct wf_worker *w, size_t size)
{
	void **last = WF_LIKELY(w != NULL) ? wf_tame_last(w, WF_TAME_EVENTS, size) : NULL;
	void *at;

	if (WF_UNLIKELY(last == NULL || *last == NULL))
		return wf_tame_get(w, WF_TAME_EVENTS, size, true);
	at = *last;
	*last = NULL;
	WF_TAME_COUNT(WF_TAME_EVENTS, 1);
	return at;
}

static WF_INLINE void wf_tame_put_event(struct wf_worker *w, size_t size, void *at)
{
	void **last = WF_LIKELY(w != NULL) ? wf_tame_last(w, WF_TAME_EVENTS, size) : NULL;

	if (WF_UNLIKELY(last == NULL || *last != NULL)) {
		wf_tame_put(w, WF_TAME_EVENTS, size, at);
	} else {
		*last = at;
		WF_TAME_COUNT(WF_TAME_EVENTS, -1);
	}
}

/* Whether the caller, whom `w` runs, is in exclusive use of the color. */
static inline bool wf_tame_in_color(const struct wf_worker *w, weft_color color)
{
	return w != NULL && w->current != NULL && w->current->id == color && !w->shared;
}

/* Whether misuse is looked for: memory that was freed is kept for a while, and events are triggered
 * by an atomic exchange in the color of their closure too. */
extern _Atomic bool wf_tame_checks;

/* Calls fn for each closure that there is, with what was seen of it. Any thread inside the gate. */
struct wf_tame_glimpse {
	const weft_tame_function *function;
	uint32_t state;
};
void wf_tame_each_closure(void (*fn)(struct wf_tame_glimpse g, void *arg), void *arg);
void wf_tame_free_all(void);

/* Lets who waits in c go on, soon. In its color. */
void wf_tame_resume(weft_tame_closure *c);

/* One that holds it does no more. In its color. */
void wf_tame_release(weft_tame_closure *c);

/* The event of a rendezvous: its part of weft_tame_trigger and weft_tame_drop; and its end. */
void wf_tame_trigger_of_rendezvous(weft_tame_event_of_rendezvous *e);
void wf_tame_drop_of_rendezvous(weft_tame_event_of_rendezvous *e);
void wf_tame_free_of_rendezvous(weft_tame_event_of_rendezvous *e);

/* The thread that waits is cancelled: asks for the end of the events that are out. In its color. */
void wf_tame_rendezvous_ask(weft_tame_rendezvous *r);
void wf_tame_block_ask(weft_tame_thread_closure *t, const uint32_t *counter);

/* The function ends while r is in use. */
void wf_tame_rendezvous_fini(weft_tame_rendezvous *r);

/* What stands in place of the trigger function of an event that was triggered. */
void wf_tame_dead(weft_tame_event *e);
static inline bool wf_tame_is_dead(const weft_tame_event *e)
{
	return __atomic_load_n(&e->trigger_, __ATOMIC_RELAXED) == (void (*)(void))wf_tame_dead;
}

/* Events and rendezvous are touched in the color of their closure only: a thread that hopped away
 * comes back for that, and goes on where it was. Returns where that is, for wf_tame_go_back. */
weft_color wf_tame_thread_home(weft_tame_closure *c);
static inline bool wf_tame_is_threaded(const weft_tame_closure *c)
{
	return WF_UNLIKELY(c->function_->body == NULL);
}
static inline weft_color wf_tame_go_home(weft_tame_closure *c)
{
	return wf_tame_is_threaded(c) ? wf_tame_thread_home(c) : c->color_;
}
static inline void wf_tame_go_back(const weft_tame_closure *c, weft_color where)
{
	if (WF_UNLIKELY(where != c->color_))
		weft_hop(where);
}

/* A report that begins with the user's file and line; fatal if WEFT_TAME=abort. */
WF_COLD void wf_tame_report(const char *where, const char *fmt, ...) WF_PRINTF(2, 3);

#endif
