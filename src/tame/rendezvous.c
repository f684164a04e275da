/* rendezvous.c - events that are waited for one at a time, and that can be cancelled.
 *
 * An event has two owners: who is to trigger it, and its rendezvous. The second to let it go
 * frees it. What they agree by is the event's state (R3):
 *
 *	ARMED      not triggered. HOOKED: the same, and who is to trigger it wants to know if
 *	           nobody waits any more.
 *	POSTED     triggered elsewhere, on its way to the rendezvous' color. DROPPED: cancelled on the
 *	           way; given back: its owner let it go without triggering it.
 *	FIRED      triggered: in the rendezvous' list, until somebody waits for it.
 *	CANCELLED  the rendezvous does not know it any more. TOLD: the same, and that is on its way to
 *	           who is to trigger it.
 *
 * From ARMED and HOOKED it goes to POSTED by who triggers it, or to CANCELLED and TOLD by the
 * rendezvous, whichever comes first. Nobody waits for the other, and after a cancel no slot
 * changes.
 */
#include "base/report.h"
#include "tame/hook.h"

typedef weft_tame_event_of_rendezvous revent;

static inline uint32_t state_of(const revent *e)
{
	return wf_hook_state(&e->hook_);
}

static inline void set_state(revent *e, uint32_t state)
{
	__atomic_store_n(&e->hook_.state_, state, __ATOMIC_RELEASE);
}

/* From ARMED or HOOKED to a new state; false, and the state that was found, from any other. */
static bool move(revent *e, uint32_t from_armed, uint32_t from_hooked, uint32_t *found)
{
	*found = WF_ARMED;
	for (;;) {
		uint32_t to = *found == WF_ARMED ? from_armed : from_hooked;

		if (*found != WF_ARMED && *found != WF_HOOKED)
			return false;
		if (__atomic_compare_exchange_n(&e->hook_.state_, found, to, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
	}
}

static void free_event(revent *e)
{
	e->event.trigger_ = (void (*)(void))wf_tame_dead;
	if (wf_hook_fini(&e->hook_))
		wf_tame_put_event(wf_self_worker, e->event.site_->size, e);
}

void wf_tame_free_of_rendezvous(revent *e)
{
	free_event(e);
}

/* The ring of armed events. */

static void arm(weft_tame_rendezvous *r, revent *e)
{
	revent *first = r->armed_;

	if (first == NULL) {
		e->next_ = e->prev_ = e;
		r->armed_ = e;
		return;
	}
	e->next_ = first;
	e->prev_ = first->prev_;
	e->prev_->next_ = first->prev_ = e;
}

/* Off the ring; and what holds the closure of its slots lets go. */
static void disarm(weft_tame_rendezvous *r, revent *e)
{
	e->next_->prev_ = e->prev_;
	e->prev_->next_ = e->next_;
	if (r->armed_ == e)
		r->armed_ = e->next_ != e ? e->next_ : NULL;
	if (e->closure_ != NULL)
		wf_tame_release(e->closure_);
}

static void tell_of_other_color(const weft_tame_rendezvous *r, const char *where, const char *what)
{
	wf_tame_report(where, "%s: rendezvous '%s' belongs to another color", what, r->site_->name);
}

/* Its slots lie in a closure that is not the one of the rendezvous. */
static void hold(revent *e, weft_tame_closure *c)
{
	c->holds_++;
	e->closure_ = c;
	if (wf_tame_is_threaded(c))
		c->state_++; /* from now on it belongs to this color */
}

/* What belongs to another color cannot be touched: then it is as if it were cancelled. */
static void arm_if_here(weft_tame_rendezvous *r, weft_tame_closure *c, revent *e)
{
	if (WF_UNLIKELY(!wf_tame_in_color(wf_worker_self(), e->color_))) {
		tell_of_other_color(r, e->event.site_->where, e->event.site_->text);
		e->hook_.state_ = WF_CANCELLED;
		return;
	}
	if (WF_UNLIKELY(c != r->closure_))
		hold(e, c);
	arm(r, e);
}

void *weft_tame_rendezvous_event(weft_tame_rendezvous *r, weft_tame_closure *c,
				 const weft_tame_site *site, void (*fn)(void))
{
	revent *e = wf_tame_get_event(wf_self_worker, site->size);
	weft_color back = wf_tame_go_home(c);

	weft_tame_event_init(&e->event, fn, site);
	e->rendezvous_ = r;
	e->closure_ = NULL;
	e->color_ = r->closure_->color_;
	wf_hook_init(&e->hook_);
	arm_if_here(r, c, e);
	wf_tame_go_back(c, back);
	return e;
}

/* Lists the event as triggered, so that twait finds it. The caller is in the rendezvous' color. */
static WF_INLINE void list_fired(revent *e)
{
	weft_tame_rendezvous *r = e->rendezvous_;
	weft_tame_closure *waiter = r->waiter_;

	disarm(r, e);
	set_state(e, WF_FIRED); /* one who triggers it again may look */
	e->next_ = e;
	if (r->fired_ != NULL) {
		e->next_ = r->fired_->next_;
		r->fired_->next_ = e;
	}
	r->fired_ = e;
	if (waiter != NULL) {
		r->waiter_ = NULL;
		wf_tame_resume(waiter);
	}
}

static void fire(revent *e)
{
	if (e->event.site_->deliver != NULL)
		e->event.site_->deliver(e);
	list_fired(e);
}

/* Whose last event was given back or cancelled, while somebody waits. */
static void tell_of_vain_wait(const weft_tame_rendezvous *r, const char *why)
{
	if (r->waiter_ != NULL && r->armed_ == NULL)
		wf_tame_report(r->site_->where, "%s() waits forever for rendezvous '%s': %s",
			       r->waiter_->function_->name, r->site_->name, why);
}

/* If the end of the event was asked for, it ends by this, without values. */
static void give_back(revent *e)
{
	if (wf_hook_was_asked(&e->hook_)) {
		list_fired(e);
		return;
	}
	disarm(e->rendezvous_, e);
	tell_of_vain_wait(e->rendezvous_, "its last event was given back");
	free_event(e);
}

/* It came from another color. */
static void arrive(void *event)
{
	revent *e = event;
	uint32_t state = state_of(e);

	if (state == WF_DROPPED)
		free_event(e);
	else if (state == WF_GIVEN_BACK)
		give_back(e);
	else if (state == WF_POSTED)
		fire(e);
	else
		wf_tame_dead(&e->event);
}

/* Of two that trigger it at once, one is told. */
static void let_go_exactly(revent *e, uint32_t to)
{
	uint32_t state;

	if (move(e, to, to, &state)) {
		if (wf_tame_in_color(wf_self_worker, e->color_))
			arrive(e);
		else
			wf_post(e->color_, arrive, e, e->event.site_->where);
	} else if (state == WF_CANCELLED) {
		free_event(e);
	} else if (state != WF_TOLD) { /* tell will free it */
		wf_tame_dead(&e->event);
	}
}

/* It was let go by who was to trigger it: here, or from another color. */
static void let_go(revent *e, void (*here)(revent *e), uint32_t elsewhere)
{
	uint32_t state = state_of(e);

	if (WF_UNLIKELY(e->hook_.run_ != NULL))
		wf_hook_remove(&e->event, &e->hook_);
	if (wf_tame_in_color(wf_self_worker, e->color_) &&
	    (state == WF_ARMED || state == WF_HOOKED) && !WF_LOAD(&wf_tame_checks))
		here(e);
	else
		let_go_exactly(e, elsewhere);
}

void wf_tame_trigger_of_rendezvous(revent *e)
{
	let_go(e, fire, WF_POSTED);
}

void wf_tame_drop_of_rendezvous(revent *e)
{
	let_go(e, give_back, WF_GIVEN_BACK);
}

static void cancel(revent *e)
{
	uint32_t state;

	disarm(e->rendezvous_, e);
	if (!move(e, WF_CANCELLED, WF_TOLD, &state))
		set_state(e, WF_DROPPED);
	else if (state == WF_HOOKED)
		wf_hook_post_cancel(&e->event, &e->hook_);
}

bool weft_tame_cancelled(const weft_tame_event *e)
{
	uint32_t state;

	if (e->site_->kind != WEFT_TAME_OF_RENDEZVOUS)
		return e->site_->kind == WEFT_TAME_OF_NOBODY;
	state = state_of((const revent *)e);
	return state == WF_CANCELLED || state == WF_TOLD;
}

static revent *take_fired(weft_tame_rendezvous *r)
{
	revent *e = r->fired_->next_;

	if (e == r->fired_)
		r->fired_ = NULL;
	else
		r->fired_->next_ = e->next_;
	return e;
}

static void cancel_all(weft_tame_rendezvous *r)
{
	while (r->armed_ != NULL)
		cancel(r->armed_);
	while (r->fired_ != NULL)
		free_event(take_fired(r));
	tell_of_vain_wait(r, "its events were cancelled");
}

/* The newest event first: all events that are older than one that was asked were asked too. */
void wf_tame_rendezvous_ask(weft_tame_rendezvous *r)
{
	revent *e = r->armed_ != NULL ? r->armed_->prev_ : NULL;

	if (e == NULL || !wf_tame_in_color(wf_self_worker, r->closure_->color_))
		return;
	while (wf_hook_ask(&e->event, &e->hook_) && e != r->armed_)
		e = e->prev_;
}

void weft_tame_rendezvous_stop(weft_tame_rendezvous *r)
{
	weft_color back = wf_tame_go_home(r->closure_);

	if (WF_LIKELY(wf_tame_in_color(wf_self_worker, r->closure_->color_)))
		wf_tame_rendezvous_ask(r);
	else
		tell_of_other_color(r, r->site_->where, "rv_stop");
	wf_tame_go_back(r->closure_, back);
}

void weft_tame_rendezvous_cancel(weft_tame_rendezvous *r)
{
	weft_color back = wf_tame_go_home(r->closure_);

	if (WF_LIKELY(wf_tame_in_color(wf_self_worker, r->closure_->color_)))
		cancel_all(r);
	else
		tell_of_other_color(r, r->site_->where, "rv_cancel");
	wf_tame_go_back(r->closure_, back);
}

static void tell_of_leak(const weft_tame_rendezvous *r)
{
	const revent *e = r->armed_;
	const weft_tame_site *first = e->event.site_;
	unsigned count = 0;

	do {
		count++;
		e = e->next_;
	} while (e != r->armed_);
	wf_tame_report(
		r->site_->where,
		"%s() ends with %u event%s of rendezvous '%s' not triggered, the first of %s: "
		"%s%s%s%s; cancelled",
		r->closure_->function_->name, count, count > 1 ? "s" : "", r->site_->name,
		first->where, first->text, first->given != NULL ? ", given to " : "",
		first->given != NULL ? first->given : "", first->given != NULL ? "()" : "");
}

static void fini(weft_tame_rendezvous *r)
{
	if (WF_UNLIKELY(r->armed_ != NULL))
		tell_of_leak(r);
	cancel_all(r);
}

void wf_tame_rendezvous_fini(weft_tame_rendezvous *r)
{
	fini(r);
	r->closure_->rendezvous_ = r->next_;
}

/* Control may come here again: by a loop, and not by a way that the compiler sees. */
void weft_tame_rendezvous_init(weft_tame_rendezvous *r, weft_tame_closure *c,
			       const weft_tame_rendezvous_site *site)
{
	weft_tame_rendezvous *other = c->rendezvous_;
	weft_color back = wf_tame_go_home(c);

	while (other != NULL && other != r)
		other = other->next_;
	if (other == r) {
		fini(r);
		r->waiter_ = NULL;
	} else {
		*r = (weft_tame_rendezvous){ c, .next_ = c->rendezvous_, .site_ = site };
		c->rendezvous_ = r;
	}
	wf_tame_go_back(c, back);
}

static void wait_for_next(weft_tame_rendezvous *r, weft_tame_closure *c)
{
	if (WF_UNLIKELY(!wf_tame_in_color(wf_self_worker, r->closure_->color_))) {
		tell_of_other_color(r, r->site_->where, "twait");
		return;
	}
	if (WF_UNLIKELY(r->waiter_ != NULL && r->waiter_ != c))
		wf_tame_report(r->site_->where,
			       "%s() and %s() wait for rendezvous '%s': one of them forever",
			       r->waiter_->function_->name, c->function_->name, r->site_->name);
	r->waiter_ = c;
	tell_of_vain_wait(r, "it has no events");
}

bool weft_tame_next(weft_tame_rendezvous *r, weft_tame_closure *c, void *id, size_t size)
{
	revent *e;

	if (r->fired_ == NULL) {
		wait_for_next(r, c);
		return false;
	}
	e = take_fired(r);
	if (id != NULL && size > 0)
		__builtin_memcpy(id, (char *)e + e->event.site_->id, size);
	free_event(e);
	return true;
}
