/* hook.h - how the holder of an event, who is to trigger it, is told that the event shall end soon.
 *
 * Terms. The waiter is the closure that the event was made for; the holder is whoever is to trigger
 * the event, and may have set a hook in his own color. Two things call the hook. A cancel, of a
 * rendezvous: nobody waits any more. A request, of a thread that was cancelled while it waits: it
 * still waits, and the holder ends the event as ever, by its value or an error. So no value is
 * lost, and no slot is written to when the thread has gone on (X1).
 *
 * Events of rendezvous have a hook, and so have events of blocks of threaded functions. Events of
 * blocks of tamed functions have none: they stay as small as they are.
 *
 * What the two agree by is `state_`, for a cancel (rendezvous.c), and `ask_`, for a request:
 *
 *	UNASKED    no request was made.
 *	ASKED      the waiter has made a request, and no hook was called for it.
 *	ASKING     the word of it is on its way to the holder's color.
 *	ANSWERED   the hook was called, or the holder had let go of the event before.
 *	DEAF       the holder cannot end early; only a cancel calls its hook.
 *	LEFT       the event is gone, and its memory is left to the word that is on its way.
 */
#ifndef WF_TAME_HOOK_H
#define WF_TAME_HOOK_H

#include "tame/tame.h"

/* Of an event of a rendezvous: see rendezvous.c. One of a block is ARMED, HOOKED or GIVEN_BACK. */
enum wf_event_state {
	WF_ARMED,
	WF_HOOKED,
	WF_POSTED,
	WF_DROPPED,
	WF_GIVEN_BACK,
	WF_FIRED,
	WF_CANCELLED,
	WF_TOLD,
};

enum wf_event_request {
	WF_UNASKED,
	WF_ASKED,
	WF_ASKING,
	WF_ANSWERED,
	WF_DEAF,
	WF_LEFT,
};

/* What lies behind an event of a block of a threaded function. */
struct wf_block_tail {
	weft_tame_event_apart *next, **at; /* of t->events_; and where that is told of it */
	weft_tame_hook hook;
};

static inline size_t wf_block_tail_offset(const weft_tame_site *site)
{
	return (site->size + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
}

static inline size_t wf_block_event_size(const weft_tame_site *site)
{
	return wf_block_tail_offset(site) + sizeof(struct wf_block_tail);
}

static inline struct wf_block_tail *wf_block_tail(weft_tame_event *e)
{
	return (struct wf_block_tail *)(void *)((char *)e + wf_block_tail_offset(e->site_));
}

/* Whether e, which is not dead, is of a block of a threaded function. */
static inline bool wf_is_of_thread_block(weft_tame_event *e)
{
	return e->site_->kind == WEFT_TAME_APART &&
	       wf_tame_is_threaded(((weft_tame_event_apart *)e)->closure_);
}

static inline uint32_t wf_hook_state(const weft_tame_hook *h)
{
	return __atomic_load_n(&h->state_, __ATOMIC_ACQUIRE);
}

/* From one state to another; false, and the state that was found, from any other. */
static inline bool wf_hook_change(weft_tame_hook *h, uint32_t *from, uint32_t to)
{
	return __atomic_compare_exchange_n(&h->state_, from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

static inline bool wf_hook_was_asked(const weft_tame_hook *h)
{
	return __atomic_load_n(&h->ask_, __ATOMIC_RELAXED) != WF_UNASKED;
}

/* The waiter asks for an end of the event, in its color. False: it has done so before. */
bool wf_hook_ask(weft_tame_event *e, weft_tame_hook *h);

/* The holder, whose hook is being called for a request, cannot end early. */
void wf_hook_be_deaf(weft_tame_event *e);

/* The holder lets the event go: its hook is not called any more. */
void wf_hook_remove(weft_tame_event *e, weft_tame_hook *h);

/* The event ends. False: its memory is not to be freed yet, and will be. */
static inline bool wf_hook_fini(weft_tame_hook *h)
{
	return WF_LIKELY(__atomic_load_n(&h->ask_, __ATOMIC_ACQUIRE) != WF_ASKING) ||
	       __atomic_exchange_n(&h->ask_, WF_LEFT, __ATOMIC_ACQ_REL) != WF_ASKING;
}

/* In the holder's color: nobody waits any more. False: the holder had let the event go. */
bool wf_hook_tell(weft_tame_hook *h);

/* The word of a cancel goes to the holder's color. */
void wf_hook_post_cancel(weft_tame_event *e, weft_tame_hook *h);

#endif
