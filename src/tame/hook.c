/* hook.c - hooks of events: set and removed in the holder's color, and called there. */
#include "tame/hook.h"

/* The hook of weft_tell_cancel: triggers the note. */
static void tell_note(void *note)
{
	weft_trigger((WEFT_EVENT())note);
}

static void forget(weft_fn *run, void *arg)
{
	if (run == tell_note)
		weft_tame_drop(arg);
}

static inline weft_color color_of(const weft_tame_hook *h)
{
	return __atomic_load_n(&h->color_, __ATOMIC_RELAXED);
}

void wf_hook_remove(weft_tame_event *e, weft_tame_hook *h)
{
	weft_fn *run = h->run_;

	if (!wf_tame_in_color(wf_self_worker, color_of(h)))
		wf_tame_report(e->site_->where,
			       "%s of %s() is used in another color than the one that is told if "
			       "it is cancelled",
			       e->site_->text, e->site_->function);
	h->run_ = NULL;
	forget(run, h->arg_);
}

static bool change_ask(weft_tame_hook *h, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&h->ask_, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* The word of a request, in the hook's color. */
static void tell_of_request(void *event)
{
	weft_tame_event *e = event;
	bool of_rendezvous = e->site_->kind == WEFT_TAME_OF_RENDEZVOUS;
	weft_tame_hook *h = of_rendezvous ? &((weft_tame_event_of_rendezvous *)e)->hook_
					  : &wf_block_tail(e)->hook;
	uint32_t state = WF_HOOKED;
	weft_fn *run = h->run_;

	if (!change_ask(h, WF_ASKING, WF_ANSWERED)) {
		wf_tame_put_event(wf_self_worker,
				  of_rendezvous ? e->site_->size : wf_block_event_size(e->site_),
				  e);
	} else if (run != NULL && wf_hook_change(h, &state, WF_ARMED)) {
		h->run_ = NULL;
		run(h->arg_);
	} /* else the event was let go, or it is cancelled, and the word of that follows */
}

static void post_request(weft_tame_event *e, weft_tame_hook *h, uint32_t from)
{
	if (change_ask(h, from, WF_ASKING))
		wf_post(color_of(h), tell_of_request, e, e->site_->where);
}

bool wf_hook_ask(weft_tame_event *e, weft_tame_hook *h)
{
	if (!change_ask(h, WF_UNASKED, WF_ASKED))
		return false;
	/* A holder that sets a hook at this moment sees the request, or its hook is seen here. */
	if (__atomic_load_n(&h->state_, __ATOMIC_SEQ_CST) == WF_HOOKED)
		post_request(e, h, WF_ASKED);
	return true;
}

static weft_tame_hook *hook_of(weft_tame_event *e)
{
	if (e->site_->kind == WEFT_TAME_OF_RENDEZVOUS)
		return &((weft_tame_event_of_rendezvous *)e)->hook_;
	return !wf_tame_is_dead(e) && wf_is_of_thread_block(e) ? &wf_block_tail(e)->hook : NULL;
}

void wf_hook_be_deaf(weft_tame_event *e)
{
	weft_tame_hook *h = hook_of(e);

	if (h != NULL)
		(void)change_ask(h, WF_ANSWERED, WF_DEAF);
}

bool wf_hook_tell(weft_tame_hook *h)
{
	weft_fn *run = h->run_;

	if (run == NULL)
		return false;
	h->run_ = NULL;
	__atomic_store_n(&h->state_, WF_CANCELLED, __ATOMIC_RELEASE);
	run(h->arg_);
	return true;
}

static void tell_of_cancel(void *event)
{
	weft_tame_event_of_rendezvous *e = event;

	if (!wf_hook_tell(&e->hook_))
		wf_tame_free_of_rendezvous(e);
}

void wf_hook_post_cancel(weft_tame_event *e, weft_tame_hook *h)
{
	wf_post(color_of(h), tell_of_cancel, e, e->site_->where);
}

/* Only in HOOKED and TOLD others look at the hook's color. */
static void hook_again(weft_tame_event *e, weft_tame_hook *h)
{
	uint32_t state = WF_HOOKED;

	if (h->run_ == NULL)
		return;
	wf_hook_remove(e, h);
	(void)wf_hook_change(h, &state, WF_ARMED);
}

/* Sends the word of a request that was made when there was no hook. */
static void hooked(weft_tame_event *e, weft_tame_hook *h)
{
	uint32_t ask = __atomic_load_n(&h->ask_, __ATOMIC_SEQ_CST);

	if (WF_UNLIKELY(ask == WF_ASKED || ask == WF_ANSWERED))
		post_request(e, h, ask);
}

static void set(weft_tame_event *e, weft_tame_hook *h, weft_fn *run, void *arg)
{
	uint32_t state = WF_ARMED;

	hook_again(e, h);
	h->run_ = run;
	h->arg_ = arg;
	if (wf_hook_state(h) == WF_TOLD)
		return;
	__atomic_store_n(&h->color_, weft_color_current(), __ATOMIC_RELAXED);
	if (wf_hook_change(h, &state, WF_HOOKED)) {
		hooked(e, h);
	} else if (state == WF_CANCELLED) {
		__atomic_store_n(&h->state_, WF_TOLD, __ATOMIC_RELEASE);
		wf_hook_post_cancel(e, h);
	} else {
		wf_hook_remove(e, h);
		wf_tame_dead(e);
	}
}

void weft_tame_on_cancel(weft_tame_event *e, weft_fn *run, void *arg)
{
	weft_tame_hook *h;

	if (e->site_->kind == WEFT_TAME_OF_NOBODY) {
		run(arg);
		return;
	}
	h = hook_of(e);
	if (h != NULL) {
		set(e, h, run, arg);
		return;
	}
	forget(run, arg);
	if (wf_tame_is_dead(e))
		wf_tame_dead(e);
}

void weft_tame_tell_cancel(weft_tame_event *e, WEFT_EVENT() note)
{
	weft_tame_on_cancel(e, tell_note, (void *)(uintptr_t)note);
}
