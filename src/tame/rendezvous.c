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
#include "tame/tame.h"

typedef weft_tame_event_of_rendezvous revent;

enum { ARMED, HOOKED, POSTED, DROPPED, GIVEN_BACK, FIRED, CANCELLED, TOLD };

static inline uint32_t state_of(const revent *e)
{
	return __atomic_load_n(&e->state_, __ATOMIC_ACQUIRE);
}

static inline void set_state(revent *e, uint32_t state)
{
	__atomic_store_n(&e->state_, state, __ATOMIC_RELEASE);
}

/* From ARMED or HOOKED to a new state; false, and the state that was found, from any other. */
static bool move(revent *e, uint32_t from_armed, uint32_t from_hooked, uint32_t *found)
{
	*found = ARMED;
	for (;;) {
		uint32_t to = *found == ARMED ? from_armed : from_hooked;

		if (*found != ARMED && *found != HOOKED)
			return false;
		if (__atomic_compare_exchange_n(&e->state_, found, to, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return true;
	}
}

static void free_event(revent *e)
{
	e->event.trigger_ = (void (*)(void))wf_tame_dead;
	wf_tame_put_event(wf_self_worker, e->event.site_->size, e);
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
		e->state_ = CANCELLED;
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
	e->hook_ = NULL;
	e->state_ = ARMED;
	arm_if_here(r, c, e);
	wf_tame_go_back(c, back);
	return e;
}

/* In the rendezvous' color. */
static void fire(revent *e)
{
	weft_tame_rendezvous *r = e->rendezvous_;
	weft_tame_closure *waiter = r->waiter_;

	if (e->event.site_->deliver != NULL)
		e->event.site_->deliver(e);
	disarm(r, e);
	set_state(e, FIRED); /* one who triggers it again may look */
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

/* Whose last event was given back or cancelled, while somebody waits. */
static void tell_of_vain_wait(const weft_tame_rendezvous *r, const char *why)
{
	if (r->waiter_ != NULL && r->armed_ == NULL)
		wf_tame_report(r->site_->where, "%s() waits forever for rendezvous '%s': %s",
			       r->waiter_->function_->name, r->site_->name, why);
}

static void give_back(revent *e)
{
	disarm(e->rendezvous_, e);
	tell_of_vain_wait(e->rendezvous_, "its last event was given back");
	free_event(e);
}

/* It came from another color. */
static void arrive(void *event)
{
	revent *e = event;
	uint32_t state = state_of(e);

	if (state == DROPPED)
		free_event(e);
	else if (state == GIVEN_BACK)
		give_back(e);
	else if (state == POSTED)
		fire(e);
	else
		wf_tame_dead(&e->event);
}

/* Who was to trigger it tells the one that asked to be told that there is nothing to be told. */
static void tell_note(void *note)
{
	weft_trigger((WEFT_EVENT())note);
}

static void unhook(revent *e)
{
	weft_fn *hook = e->hook_;

	if (!wf_tame_in_color(wf_self_worker, e->hook_color_))
		wf_tame_report(e->event.site_->where,
			       "%s of %s() is used in another color than the one that is told if "
			       "it is cancelled",
			       e->event.site_->text, e->event.site_->function);
	e->hook_ = NULL;
	if (hook == tell_note)
		weft_tame_drop(e->hook_arg_);
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
	} else if (state == CANCELLED) {
		free_event(e);
	} else if (state != TOLD) { /* tell will free it */
		wf_tame_dead(&e->event);
	}
}

/* It was let go by who was to trigger it: here, or from another color. */
static void let_go(revent *e, void (*here)(revent *e), uint32_t elsewhere)
{
	uint32_t state = state_of(e);

	if (WF_UNLIKELY(e->hook_ != NULL))
		unhook(e);
	if (wf_tame_in_color(wf_self_worker, e->color_) && (state == ARMED || state == HOOKED) &&
	    !WF_LOAD(&wf_tame_checks))
		here(e);
	else
		let_go_exactly(e, elsewhere);
}

void wf_tame_trigger_of_rendezvous(revent *e)
{
	let_go(e, fire, POSTED);
}

void wf_tame_drop_of_rendezvous(revent *e)
{
	let_go(e, give_back, GIVEN_BACK);
}

/* In the color of who is to trigger it. */
static void tell(void *event)
{
	revent *e = event;
	weft_fn *hook = e->hook_;

	if (hook == NULL) {
		free_event(e);
		return;
	}
	e->hook_ = NULL;
	set_state(e, CANCELLED);
	hook(e->hook_arg_);
}

/* From one state to another; false, and the state that was found, from any other. */
static bool change(revent *e, uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(&e->state_, from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* Only in HOOKED and TOLD others look at the hook's color. */
static void hook_again(revent *e)
{
	uint32_t state = HOOKED;

	if (e->hook_ != NULL)
		unhook(e);
	change(e, &state, ARMED);
}

void weft_tame_on_cancel(weft_tame_event *event, weft_fn *fn, void *arg)
{
	revent *e = (revent *)event;
	uint32_t state = ARMED;

	if (event->site_->kind == WEFT_TAME_OF_NOBODY)
		fn(arg);
	if (event->site_->kind != WEFT_TAME_OF_RENDEZVOUS)
		return;
	hook_again(e);
	e->hook_ = fn;
	e->hook_arg_ = arg;
	if (state_of(e) == TOLD)
		return;
	e->hook_color_ = weft_color_current();
	if (change(e, &state, HOOKED))
		return;
	if (state == CANCELLED) {
		set_state(e, TOLD);
		wf_post(e->hook_color_, tell, e, event->site_->where);
	} else {
		unhook(e);
		wf_tame_dead(event);
	}
}

void weft_tame_tell_cancel(weft_tame_event *e, WEFT_EVENT() note)
{
	if (e->site_->kind == WEFT_TAME_INSIDE || e->site_->kind == WEFT_TAME_APART)
		weft_event_drop(note);
	else
		weft_tame_on_cancel(e, tell_note, (void *)(uintptr_t)note);
}

static void cancel(revent *e)
{
	uint32_t state;

	disarm(e->rendezvous_, e);
	if (!move(e, CANCELLED, TOLD, &state))
		set_state(e, DROPPED);
	else if (state == HOOKED)
		wf_post(e->hook_color_, tell, e, e->event.site_->where);
}

bool weft_tame_cancelled(const weft_tame_event *e)
{
	uint32_t state;

	if (e->site_->kind != WEFT_TAME_OF_RENDEZVOUS)
		return e->site_->kind == WEFT_TAME_OF_NOBODY;
	state = state_of((const revent *)e);
	return state == CANCELLED || state == TOLD;
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
	unsigned count = 0;

	do {
		count++;
		e = e->next_;
	} while (e != r->armed_);
	wf_tame_report(
		r->site_->where,
		"%s() ends with %u event%s of rendezvous '%s' not triggered, the first of %s: "
		"%s; cancelled",
		r->closure_->function_->name, count, count > 1 ? "s" : "", r->site_->name,
		e->event.site_->where, e->event.site_->text);
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
