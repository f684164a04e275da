/* turn.h - from one flow of a color straight to the next, without the worker's loop.
 *
 * All of it is for the worker's own thread, while an exclusive event of the color
 * runs: the color is w's, and its local list nobody else's. Each call that succeeds
 * counts as one event of the turn (S3).
 */
#ifndef WF_TURN_H
#define WF_TURN_H

#include "base/report.h"
#include "scheduler/runtime.h"

bool wf_turn_extend(struct wf_worker *w);

/* Whether its batch is not yet over. */
static WF_INLINE bool wf_turn_goes_on(const struct wf_worker *w)
{
	return WF_LOAD(&w->beat) < w->turn_end;
}

/* One that was stuck must come back to its loop and say that it is well. */
static WF_INLINE bool wf_turn_has_room(struct wf_worker *w)
{
	struct wf_runtime *rt = WF_CONTAINER(w->sched, struct wf_runtime, sched);

	return (WF_LIKELY(wf_turn_goes_on(w)) || wf_turn_extend(w)) &&
	       WF_LIKELY(!WF_LOAD(&rt->stopping)) && WF_LIKELY(!WF_LOAD(&w->stuck));
}

static WF_INLINE void wf_turn_count(struct wf_worker *w, const weft_event *ev)
{
	WF_ADD_OWN(&w->beat, 1u);
	WF_STORE(&w->running_where, ev->where_);
}

/* Whether nothing else is ready on w, as far as it knows. */
static inline bool wf_turn_alone(const struct wf_worker *w)
{
	const struct wf_color *c = w->current;

	return w->flow.young == NULL && c->local.head == NULL && WF_LOAD(&c->inbox_count) == 0 &&
	       WF_LOAD(&w->queue.colors) == 0;
}

/* A flow of w's color that the one that runs has just made or woken: it stands by until
 * that waits, or ends. */
static inline void wf_turn_stand_by(struct wf_worker *w, weft_event *ev)
{
	struct wf_flow *f = &w->flow;

	WF_ASSERT(__atomic_load_n(&ev->state_, __ATOMIC_RELAXED) == 0);
	ev->cost_ = f->young_cost;
	__atomic_store_n(&ev->state_, 1, __ATOMIC_RELAXED);
	ev->next_ = NULL;
	ev->prev_ = f->youngest;
	if (f->youngest != NULL)
		f->youngest->next_ = ev;
	else
		f->young = ev;
	f->youngest = ev;
	f->young_count++;
	WF_ADD_OWN(&w->counters.posted, 1u);
}

/* Queues those. Before the flow that started them leaves its stack or its color. */
static inline void wf_turn_leaving(struct wf_worker *w)
{
	if (w->flow.young != NULL)
		wf_turn_queue_young(w);
}

/* wf_color.overtaken counts in so many ticks, as a power of two, of which 32 bits are
 * minutes. */
enum { WF_OVERTAKE_UNIT = 8 };

/* Whether young flows may go ahead of what is queued. Depth first, a tree of flows has
 * few at a time, and the newest are the warmest; but flows that start or wake each
 * other must starve nobody (S3): not for longer than some looks at the kernel. */
static WF_INLINE bool wf_turn_may_overtake(const struct wf_worker *w)
{
	struct wf_color *c = w->current;
	uint32_t now = (uint32_t)(w->last_poll >> WF_OVERTAKE_UNIT) | 1;

	if (c->local.head == NULL)
		c->overtaken = 0;
	else if (c->overtaken == 0)
		c->overtaken = now;
	else if (now - c->overtaken >= WF_OVERTAKE * w->poll_ticks >> WF_OVERTAKE_UNIT)
		return false;
	return true;
}

/* If there is just one of those it need not be queued: the caller, who leaves, runs it.
 * NULL if it cannot: then nothing is done. */
static WF_INLINE weft_event *wf_turn_take_young(struct wf_worker *w, weft_fn *fn)
{
	struct wf_flow *f = &w->flow;
	weft_event *ev = f->young;

	if (ev != f->youngest || ev->run != fn || !wf_turn_has_room(w) || !wf_turn_may_overtake(w))
		return NULL;
	f->young = f->youngest = NULL;
	f->young_count = 0;
	__atomic_store_n(&ev->state_, 0, __ATOMIC_RELEASE);
	wf_turn_count(w, ev);
	return ev;
}

/* Whether the caller may run one more event, which was never posted. */
static WF_INLINE bool wf_turn_more(struct wf_worker *w, const weft_event *ev)
{
	if (!wf_turn_has_room(w))
		return false;
	WF_ADD_OWN(&w->counters.posted, 1u);
	wf_turn_count(w, ev);
	return true;
}

/* The next event, if it is to run `fn`: the caller runs it. */
static WF_INLINE weft_event *wf_turn_next(struct wf_worker *w, weft_fn *fn)
{
	struct wf_color *c = w->current;
	weft_event *ev = c->local.head;

	if (ev == NULL || ev->run != fn || ev->shared || ev->drop != NULL || !wf_turn_has_room(w))
		return NULL;
	c->local.head = ev->next_;
	if (ev->next_ != NULL)
		ev->next_->prev_ = NULL;
	else
		WF_STORE(&c->local.tail, NULL);
	WF_ADD_OWN(&c->local_count, -1u);
	WF_ADD_OWN(&c->local_cost, -(uint64_t)ev->cost_);
	__atomic_store_n(&ev->state_, 0, __ATOMIC_RELEASE);
	wf_turn_count(w, ev);
	return ev;
}

/* Posts `ev`, which ran before, behind what is queued. False if it cannot: then nothing is
 * done. */
static WF_INLINE bool wf_turn_post(struct wf_worker *w, weft_event *ev)
{
	struct wf_color *c = w->current;
	weft_event *tail = WF_LOAD(&c->local.tail);

	/* What is in the inbox was posted before. And what an event costs is known once it
	 * was posted. */
	if (atomic_load_explicit(&c->inbox_count, memory_order_acquire) != 0 ||
	    WF_UNLIKELY(ev->cost_ == 0))
		return false;
	ev->next_ = NULL;
	ev->prev_ = tail;
	if (tail != NULL)
		tail->next_ = ev;
	else
		c->local.head = ev;
	WF_STORE(&c->local.tail, ev);
	WF_ADD_OWN(&c->local_count, 1u);
	WF_ADD_OWN(&c->local_cost, (uint64_t)ev->cost_);
	__atomic_store_n(&ev->state_, 1, __ATOMIC_RELAXED);
	WF_ADD_OWN(&w->counters.posted, 1u);
	return true;
}

/* Posts `ev`, which ran before, and takes the next in one step. NULL if it cannot: then
 * nothing is done. */
static WF_INLINE weft_event *wf_turn_swap(struct wf_worker *w, weft_event *ev, weft_fn *fn)
{
	struct wf_color *c = w->current;
	weft_event *next = c->local.head, *tail;

	/* What is in the inbox was posted before. */
	if (next == NULL || next->run != fn || next->shared || next->drop != NULL ||
	    atomic_load_explicit(&c->inbox_count, memory_order_acquire) != 0 ||
	    !wf_turn_has_room(w))
		return NULL;
	tail = WF_LOAD(&c->local.tail);
	ev->next_ = NULL;
	ev->prev_ = tail;
	tail->next_ = ev;
	WF_STORE(&c->local.tail, ev);
	c->local.head = next->next_;
	next->next_->prev_ = NULL;
	WF_ADD_OWN(&c->local_cost, (uint64_t)ev->cost_ - next->cost_);
	__atomic_store_n(&ev->state_, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&next->state_, 0, __ATOMIC_RELEASE);
	WF_ADD_OWN(&w->counters.posted, 1u);
	wf_turn_count(w, next);
	return next;
}

#endif
