/* event.c - events of twait blocks: triggered once, from anywhere. */
#include "tame/tame.h"

typedef void (*trigger_fn)(void);

void wf_tame_dead(weft_tame_event *e)
{
	wf_tame_report(e->site_->where, "%s of %s() is triggered a second time", e->site_->text,
		       e->site_->function);
}

static inline weft_tame_closure *closure_of(weft_tame_event *e)
{
	if (e->site_->kind == WEFT_TAME_INSIDE)
		return (weft_tame_closure *)(void *)((char *)e - e->site_->offset);
	return ((weft_tame_event_apart *)e)->closure_;
}

/* In the closure's color. */
static WF_INLINE void deliver(struct wf_worker *w, weft_tame_event *e)
{
	const weft_tame_site *site = e->site_;
	weft_tame_closure *c = closure_of(e);
	uint32_t *join = (uint32_t *)(void *)((char *)c + site->join);

	if (site->deliver != NULL)
		site->deliver(e);
	if (site->kind == WEFT_TAME_APART)
		wf_tame_put_event(w, site->size, e);
	if (--*join == 0)
		wf_tame_resume(c);
}

static void arrive(void *event)
{
	deliver(wf_self_worker, event);
}

/* Of two that trigger it at once, one is told. */
static void trigger_exactly(weft_tame_event *e, weft_color color)
{
	trigger_fn dead = (trigger_fn)wf_tame_dead;

	if (__atomic_exchange_n(&e->trigger_, dead, __ATOMIC_ACQ_REL) == dead)
		wf_tame_dead(e);
	else if (wf_tame_in_color(wf_self_worker, color))
		arrive(e);
	else
		wf_post(color, arrive, e, e->site_->where);
}

static void trigger_slowly(weft_tame_event *e)
{
	if (e->site_->kind == WEFT_TAME_OF_RENDEZVOUS)
		wf_tame_trigger_of_rendezvous((weft_tame_event_of_rendezvous *)e);
	else
		trigger_exactly(e, closure_of(e)->color_);
}

static void drop(weft_tame_event *e)
{
	if (wf_tame_is_dead(e))
		wf_tame_dead(e);
	else if (e->site_->kind == WEFT_TAME_OF_RENDEZVOUS)
		wf_tame_drop_of_rendezvous((weft_tame_event_of_rendezvous *)e);
	else if (e->site_->kind != WEFT_TAME_OF_NOBODY)
		wf_tame_report(e->site_->where,
			       "%s was given back and not triggered: %s() waits for it forever",
			       e->site_->text, e->site_->function);
}

/* Foreign threads may still do so when the run has ended. */
static WF_NOINLINE void guarded(void (*fn)(weft_tame_event *e), weft_tame_event *e)
{
	if (wf_enter() < 0)
		return;
	fn(e);
	wf_leave();
}

/* In the closure's color an exchange would cost more than all else. So only there, and unless checks
 * are asked for, one who triggers it within the same few instructions elsewhere is not seen. */
void weft_tame_trigger(weft_tame_event *e)
{
	struct wf_worker *w = wf_self_worker;

	if (WF_LIKELY(w != NULL && e->site_->kind != WEFT_TAME_OF_RENDEZVOUS &&
		      wf_tame_in_color(w, closure_of(e)->color_) && !WF_LOAD(&wf_tame_checks))) {
		e->trigger_ = (trigger_fn)wf_tame_dead;
		deliver(w, e);
	} else {
		guarded(trigger_slowly, e);
	}
}

void weft_tame_drop(weft_tame_event *e)
{
	guarded(drop, e);
}

void *weft_tame_event_new(weft_tame_closure *c, const weft_tame_site *site, void (*fn)(void))
{
	weft_tame_event_apart *e = wf_tame_get_event(wf_self_worker, site->size);
	weft_color back = wf_tame_go_home(c);

	weft_tame_event_init(&e->event, fn, site);
	e->closure_ = c;
	++*(uint32_t *)(void *)((char *)c + site->join);
	wf_tame_go_back(c, back);
	return e;
}
