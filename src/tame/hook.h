/* hook.h - how the holder of an event learns that the event shall end soon.
 *
 * Terms. The waiter is the closure that the event was made for. The holder is the code that is to
 * trigger the event; it may set a hook, which is called in the color where it was set. Two things
 * call the hook:
 *
 *	cancel     The rendezvous is cancelled, or has ended: nobody waits for the event any more.
 *	request    The waiter asks for an end of the event, and still waits for it: a thread that was
 *	           cancelled, or rv_stop. The holder triggers the event as ever, with its value or
 *	           an error. So no value is lost, and no slot is written to after the wait (X1).
 *
 * Events of rendezvous can have a hook, and so can events of blocks of threaded functions. Events of
 * blocks of tamed functions cannot: they stay as small as they are.
 *
 * Waiter and holder agree by two words: by `state_` for a cancel (see rendezvous.c), and by `ask_`
 * for a request:
 *
 *	UNASKED    The waiter has made no request.
 *	ASKED      The waiter has made a request, and no hook was called for it yet.
 *	ASKING     The word of the request is on its way to the hook's color.
 *	ANSWERED   The word has come: the hook was called, unless the event had been let go.
 *	DEAF       The holder cannot end early; only a cancel calls its hook.
 *	LEFT       The event is gone. The word that is on its way frees its memory.
 */
#ifndef WF_TAME_HOOK_H
#define WF_TAME_HOOK_H

#include "tame/tame.h"

/* States of an event of a rendezvous (see rendezvous.c). An event of a block has three of them: ARMED,
 * HOOKED and GIVEN_BACK. */
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

/* The record behind each event of a threaded function's twait block. */
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

static inline void wf_hook_init(weft_tame_hook *h)
{
	h->state_ = WF_ARMED;
	__asm__ volatile("" : : : "memory"); /* one store of both would be slow to read in parts */
	h->ask_ = WF_UNASKED;
	h->run_ = NULL;
}

static inline bool wf_hook_was_asked(const weft_tame_hook *h)
{
	return __atomic_load_n(&h->ask_, __ATOMIC_RELAXED) != WF_UNASKED;
}

/* Makes a request, in the waiter's color. Returns false if there was one before. */
bool wf_hook_ask(weft_tame_event *e, weft_tame_hook *h);

/* Says, in a hook that was called for a request, that the holder cannot end early. */
void wf_hook_be_deaf(weft_tame_event *e);

/* Removes the hook, in its color: the holder lets the event go. */
void wf_hook_remove(weft_tame_event *e, weft_tame_hook *h);

/* Ends the event. Returns false if a word on its way will free the memory. */
static inline bool wf_hook_fini(weft_tame_hook *h)
{
	return WF_LIKELY(__atomic_load_n(&h->ask_, __ATOMIC_ACQUIRE) != WF_ASKING) ||
	       __atomic_exchange_n(&h->ask_, WF_LEFT, __ATOMIC_ACQ_REL) != WF_ASKING;
}

/* Calls the hook for a cancel, in its color. Returns false if the event had been let go. */
bool wf_hook_tell(weft_tame_hook *h);

/* Sends the word of a cancel to the hook's color. */
void wf_hook_post_cancel(weft_tame_event *e, weft_tame_hook *h);

#endif
