/* event.c - the public face of colors and events. */
#include <errno.h>

#include "base/report.h"
#include "scheduler/runtime.h"
#include "scheduler/turn.h"

_Atomic uint64_t wf_fresh_colors = 1;

weft_color weft_color_new_in(int color_class)
{
	uint64_t n;

	if (color_class < WEFT_CLASS_FRESH || color_class >= WEFT_CLASSES)
		return WEFT_MAIN;
	n = atomic_fetch_add_explicit(&wf_fresh_colors, 1, memory_order_relaxed);
	return (weft_color)1 << 63 | (weft_color)color_class << 59 | n;
}

weft_color weft_color_new(void)
{
	return weft_color_new_in(WEFT_CLASS_FRESH);
}

weft_color weft_color_current(void)
{
	struct wf_worker *w = wf_worker_self();

	return w != NULL && w->current != NULL ? w->current->id : WEFT_MAIN;
}

int weft_color_pin(weft_color color, int worker)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	if (worker < -1 || worker >= wf_rt->sched.workers || !wf_color_valid(color))
		rc = -EINVAL;
	else
		rc = wf_sched_pin(&wf_rt->sched, wf_worker_self(), color, worker);
	wf_leave();
	return rc;
}

int wf_event_check(const weft_event *ev)
{
	return wf_event_valid(ev) ? 0 : -EINVAL;
}

static WF_COLD int bad_event(const weft_event *ev, const char *where)
{
	if (ev->run == NULL)
		return wf_misuse(where, -EINVAL, "posted event has no function");
	if (ev->priority > WEFT_PRIORITY_URGENT)
		return wf_misuse(where, -EINVAL, "posted event has priority %d", ev->priority);
	return wf_misuse(where, -EINVAL, "color %#llx was never given by weft_color_new",
			 (unsigned long long)ev->color);
}

/* The worker where a foreign thread's event starts: each in turn. */
static struct wf_worker *any_worker(struct wf_sched *s)
{
	static _Atomic unsigned turn;
	unsigned n = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	return wf_sched_worker(s, (int)(n % (unsigned)s->workers));
}

/* Posts a checked event. The caller is a worker, or inside the gate. */
static int post(struct wf_worker *self, weft_event *ev, bool must, const char *where)
{
	struct wf_sched *s = &wf_rt->sched;

	if (WF_UNLIKELY(wf_stopping()))
		return -ESHUTDOWN;
	if (WF_LIKELY(self != NULL))
		return wf_sched_post(s, self, self, ev, WF_FROM_CPU, where, must);
	return wf_sched_post(s, NULL, any_worker(s), ev, WF_FROM_IO, where, must);
}

int weft_event_post_at(weft_event *ev, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	int rc;

	if (WF_UNLIKELY(ev == NULL))
		return wf_misuse(where, -EINVAL, "no event to post");
	if (WF_UNLIKELY(wf_event_check(ev) < 0))
		return bad_event(ev, where);
	if (WF_LIKELY(self != NULL)) {
		rc = post(self, ev, false, where);
	} else {
		rc = wf_enter();
		if (rc < 0)
			return rc;
		rc = post(NULL, ev, false, where);
		wf_leave();
	}
	if (WF_UNLIKELY(rc == -EALREADY))
		return wf_misuse(where, rc, "event is queued already, since %s",
				 ev->where_ != NULL ? ev->where_ : "an unknown place");
	return rc;
}

int weft_event_cancel(weft_event *ev)
{
	struct wf_worker *self = wf_worker_self();

	return self != NULL ? wf_sched_cancel(self, ev) : -EPERM;
}

/* The caller is a worker, or inside the gate. */
static WF_INLINE int post_pooled(struct wf_worker *self, weft_color color, weft_fn *fn, void *arg,
				 bool shared, bool must, const char *where)
{
	struct wf_pool_cache *cache = self != NULL ? &self->free_events : NULL;
	weft_event *ev = wf_pool_get(&wf_rt->sched.events, cache, must);
	int rc;

	if (WF_UNLIKELY(ev == NULL))
		return -ENOMEM;
	weft_event_init(ev, color, fn, arg);
	ev->shared = shared;
	ev->flags_ = WF_EVENT_POOLED;
	/* What must be posted is our own, and known to be good. */
	if (must || WF_LIKELY(wf_event_check(ev) == 0))
		rc = post(self, ev, must, where);
	else
		rc = bad_event(ev, where);
	if (WF_UNLIKELY(rc < 0))
		wf_pool_put(&wf_rt->sched.events, cache, ev);
	return rc;
}

static WF_NOINLINE int post_from_outside(weft_color color, weft_fn *fn, void *arg, bool shared,
					 bool must, const char *where)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	rc = post_pooled(NULL, color, fn, arg, shared, must, where);
	wf_leave();
	return rc;
}

int weft_post_at(weft_color color, weft_fn *fn, void *arg, const char *where)
{
	struct wf_worker *self = wf_worker_self();

	if (WF_UNLIKELY(self == NULL))
		return post_from_outside(color, fn, arg, false, false, where);
	return post_pooled(self, color, fn, arg, false, false, where);
}

int weft_post_shared_at(weft_color color, weft_fn *fn, void *arg, const char *where)
{
	struct wf_worker *self = wf_worker_self();

	if (self == NULL)
		return post_from_outside(color, fn, arg, true, false, where);
	return post_pooled(self, color, fn, arg, true, false, where);
}

void wf_post_here(struct wf_worker *w, weft_fn *fn, void *arg, const char *where)
{
	weft_event *ev = wf_pool_pop(&w->free_events);

	if (WF_UNLIKELY(ev == NULL)) {
		wf_post(w->current->id, fn, arg, where);
		return;
	}
	weft_event_init(ev, w->current->id, fn, arg);
	ev->flags_ = WF_EVENT_POOLED;
	wf_sched_post_here(w, ev, where);
}

int wf_post(weft_color color, weft_fn *fn, void *arg, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	int rc;

	if (WF_LIKELY(self != NULL))
		rc = post_pooled(self, color, fn, arg, false, true, where);
	else
		rc = post_from_outside(color, fn, arg, false, true, where);
	if (WF_UNLIKELY(rc == -ENOMEM))
		wf_bug("%s: more is queued than there is address space for", where);
	return rc;
}

WF_HOT void wf_event_deliver_some(struct wf_worker *at, weft_event **evs, int n)
{
	struct wf_worker *self = wf_worker_self();
	struct wf_sched *s = &wf_rt->sched;

	if (at == NULL || WF_UNLIKELY(WF_LOAD(&at->stuck)))
		at = self != NULL ? self : any_worker(s);
	if (self != NULL)
		wf_worker_unpark(self);
	wf_sched_post_io(s, self, at, evs, n);
	for (int i = 0; i < n; i++)
		if (WF_UNLIKELY(evs[i] != NULL))
			(void)wf_misuse(
				evs[i]->where_, -EALREADY,
				"the event of a timer or an operation was posted by hand: "
				"it runs once, and the timer's or operation's call is lost");
}

bool wf_event_stand_by(weft_event *ev, weft_fn *run)
{
	struct wf_worker *w = wf_self_worker;

	if (ev->run != run || ev->priority != 0 || ev->color != w->current->id ||
	    __atomic_load_n(&ev->state_, __ATOMIC_RELAXED) != 0)
		return false;
	wf_turn_stand_by(w, ev);
	return true;
}

void wf_event_deliver(struct wf_worker *at, weft_event *ev)
{
	wf_event_deliver_some(at, &ev, 1);
}
