/* event.c - events of twait blocks: triggered once, from anywhere. */
#include "tame/hook.h"

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

static inline uint32_t *join_of(weft_tame_event *e)
{
	return (uint32_t *)(void *)((char *)closure_of(e) + e->site_->join);
}

/* Events of a thread's blocks are in a list, so that their end can be asked for. */

static void list(weft_tame_thread_closure *t, weft_tame_event_apart *e)
{
	struct wf_block_tail *tail = wf_block_tail(&e->event);

	tail->next = t->events_;
	tail->at = &t->events_;
	wf_hook_init(&tail->hook);
	if (tail->next != NULL)
		wf_block_tail(&tail->next->event)->at = &tail->next;
	t->events_ = e;
}

static void unlist(struct wf_block_tail *tail)
{
	*tail->at = tail->next;
	if (tail->next != NULL)
		wf_block_tail(&tail->next->event)->at = tail->at;
}

static WF_NOINLINE void end_of_thread(struct wf_worker *w, weft_tame_event_apart *e)
{
	struct wf_block_tail *tail = wf_block_tail(&e->event);

	unlist(tail);
	if (WF_UNLIKELY(tail->hook.run_ != NULL))
		wf_hook_remove(&e->event, &tail->hook);
	if (wf_hook_fini(&tail->hook))
		wf_tame_put_event(w, wf_block_event_size(e->event.site_), e);
}

/* Ends an event whose values are in their slots, in the closure's color. */
static WF_INLINE void end(struct wf_worker *w, weft_tame_event *e)
{
	weft_tame_closure *c = closure_of(e);
	uint32_t *join = join_of(e);

	if (e->site_->kind == WEFT_TAME_APART) {
		if (wf_tame_is_threaded(c))
			end_of_thread(w, (weft_tame_event_apart *)e);
		else
			wf_tame_put_event(w, e->site_->size, e);
	}
	if (--*join == 0)
		wf_tame_resume(c);
}

static WF_INLINE void deliver(struct wf_worker *w, weft_tame_event *e)
{
	if (e->site_->deliver != NULL)
		e->site_->deliver(e);
	end(w, e);
}

static void arrive(void *event)
{
	deliver(wf_self_worker, event);
}

static inline bool is_hooked(weft_tame_event *e)
{
	return wf_is_of_thread_block(e) && wf_block_tail(e)->hook.run_ != NULL;
}

/* Of two that let it go at once, one is told. */
static void let_go_exactly(weft_tame_event *e, weft_fn *then)
{
	trigger_fn dead = (trigger_fn)wf_tame_dead;
	weft_color color = closure_of(e)->color_;

	if (__atomic_exchange_n(&e->trigger_, dead, __ATOMIC_ACQ_REL) == dead) {
		wf_tame_dead(e);
		return;
	}
	if (is_hooked(e))
		wf_hook_remove(e, &wf_block_tail(e)->hook);
	if (wf_tame_in_color(wf_self_worker, color))
		then(e);
	else
		wf_post(color, then, e, e->site_->where);
}

static void trigger_slowly(weft_tame_event *e)
{
	if (e->site_->kind == WEFT_TAME_OF_RENDEZVOUS)
		wf_tame_trigger_of_rendezvous((weft_tame_event_of_rendezvous *)e);
	else
		let_go_exactly(e, arrive);
}

static void tell_of_loss(const weft_tame_event *e)
{
	wf_tame_report(e->site_->where,
		       "%s was given back and not triggered: %s() waits for it forever",
		       e->site_->text, e->site_->function);
}

/* The holder gives the event back, and a thread waits for it in a block. The event ends without values
 * if its end was asked for, now or later; else the thread waits forever. */
static void give_back(void *event)
{
	weft_tame_event *e = event;
	weft_tame_hook *h = &wf_block_tail(e)->hook;

	if (wf_hook_was_asked(h)) {
		end(wf_self_worker, e);
		return;
	}
	h->state_ = WF_GIVEN_BACK;
	tell_of_loss(e);
}

static void ask(weft_tame_event *e)
{
	weft_tame_hook *h = &wf_block_tail(e)->hook;

	if (wf_hook_ask(e, h) && wf_hook_state(h) == WF_GIVEN_BACK)
		end(wf_self_worker, e);
}

void wf_tame_block_ask(weft_tame_thread_closure *t, const uint32_t *counter)
{
	weft_tame_event_apart *e = t->events_, *next;

	for (; e != NULL; e = next) {
		next = wf_block_tail(&e->event)->next;
		if (join_of(&e->event) == counter)
			ask(&e->event);
	}
}

static void drop(weft_tame_event *e)
{
	if (wf_tame_is_dead(e))
		wf_tame_dead(e);
	else if (e->site_->kind == WEFT_TAME_OF_RENDEZVOUS)
		wf_tame_drop_of_rendezvous((weft_tame_event_of_rendezvous *)e);
	else if (wf_is_of_thread_block(e))
		let_go_exactly(e, give_back);
	else if (e->site_->kind != WEFT_TAME_OF_NOBODY)
		tell_of_loss(e);
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
	bool threaded = wf_tame_is_threaded(c);
	size_t size = threaded ? wf_block_event_size(site) : site->size;
	weft_tame_event_apart *e = wf_tame_get_event(wf_self_worker, size);
	weft_color back = wf_tame_go_home(c);

	weft_tame_event_init(&e->event, fn, site);
	e->closure_ = c;
	if (threaded)
		list((weft_tame_thread_closure *)c, e);
	++*(uint32_t *)(void *)((char *)c + site->join);
	wf_tame_go_back(c, back);
	return e;
}
