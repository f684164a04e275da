/* event.c - the public face of colors and events. */
#include <errno.h>

#include "base/report.h"
#include "scheduler/runtime.h"

/* Colors given by weft_color_new so far, in the process. */
static _Atomic uint64_t fresh_colors = 1;

weft_color weft_color_new_in(int color_class)
{
	uint64_t n;

	if (color_class < WEFT_CLASS_FRESH || color_class >= WEFT_CLASSES)
		return WEFT_MAIN;
	n = atomic_fetch_add_explicit(&fresh_colors, 1, memory_order_relaxed);
	return (weft_color)1 << 63 | (weft_color)color_class << 59 | n;
}

weft_color weft_color_new(void)
{
	return weft_color_new_in(WEFT_CLASS_FRESH);
}

bool wf_color_valid(weft_color id)
{
	uint64_t n = id & (((weft_color)1 << 59) - 1);

	if (WF_LIKELY(id >> 63 == 0))
		return true;
	return wf_color_class(id) != WEFT_CLASS_CHOSEN && n > 0 && n < WF_LOAD(&fresh_colors);
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
	return ev->run != NULL && ev->priority <= WEFT_PRIORITY_URGENT && wf_color_valid(ev->color)
		       ? 0
		       : -EINVAL;
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
static int post(struct wf_worker *self, weft_event *ev, const char *where)
{
	struct wf_sched *s = &wf_rt->sched;

	if (WF_UNLIKELY(wf_stopping()))
		return -ESHUTDOWN;
	if (WF_LIKELY(self != NULL))
		return wf_sched_post(s, self, self, ev, WF_FROM_CPU, where, false);
	return wf_sched_post(s, NULL, any_worker(s), ev, WF_FROM_IO, where, false);
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
		rc = post(self, ev, where);
	} else {
		rc = wf_enter();
		if (rc < 0)
			return rc;
		rc = post(NULL, ev, where);
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

static int post_pooled(weft_color color, weft_fn *fn, void *arg, bool shared, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	struct wf_pool_cache *cache = self != NULL ? &self->free_events : NULL;
	weft_event *ev, model;
	int rc;

	weft_event_init(&model, color, fn, arg);
	model.shared = shared;
	model.flags_ = WF_EVENT_POOLED;
	if (WF_UNLIKELY(wf_event_check(&model) < 0))
		return bad_event(&model, where);
	rc = wf_enter();
	if (WF_UNLIKELY(rc < 0))
		return rc;
	ev = wf_pool_get(&wf_rt->sched.events, cache, false);
	rc = -ENOMEM;
	if (WF_LIKELY(ev != NULL)) {
		*ev = model;
		rc = post(self, ev, where);
		if (WF_UNLIKELY(rc < 0))
			wf_pool_put(&wf_rt->sched.events, cache, ev);
	}
	wf_leave();
	return rc;
}

int weft_post_at(weft_color color, weft_fn *fn, void *arg, const char *where)
{
	return post_pooled(color, fn, arg, false, where);
}

int weft_post_shared_at(weft_color color, weft_fn *fn, void *arg, const char *where)
{
	return post_pooled(color, fn, arg, true, where);
}

void wf_event_deliver(struct wf_worker *at, weft_event *ev)
{
	struct wf_worker *self = wf_worker_self();
	struct wf_sched *s = &wf_rt->sched;

	if (at == NULL || WF_UNLIKELY(WF_LOAD(&at->stuck)))
		at = self != NULL ? self : any_worker(s);
	if (self != NULL)
		wf_worker_unpark(self);
	if (wf_sched_post(s, self, at, ev, WF_FROM_IO, NULL, true) < 0)
		(void)wf_misuse(ev->where_, -EALREADY,
				"the event of a timer or an operation was posted by hand: it "
				"runs once, and the timer's or operation's call is lost");
}
