/* leave.h - leaving a stack, and what comes first on the next.
 *
 * The processor foresees returns by the calls before them, on whatever stack. So what
 * leads to a switch is one function with everything inlined, and a thread that ends has
 * made no call that did not return: else each return of who runs next is mispredicted.
 */
#ifndef WF_LEAVE_H
#define WF_LEAVE_H

#include "base/probe.h"
#include "base/report.h"
#include "scheduler/turn.h"
#include "threads/body.h"
#include "threads/thread.h"
#include "threads/trim.h"

/* Does for a thread whose stack was left what it wants done. */
void wf_thread_errand(struct wf_worker *w, weft_thread *left);

/* What everyone does first who comes to run on w. */
static WF_INLINE void wf_thread_arrived(struct wf_worker *w)
{
	weft_thread *left = w->flow.left;

	if (WF_UNLIKELY(left != NULL))
		wf_thread_errand(w, left);
}

/* Notes on w that t runs there now. */
static WF_INLINE void wf_thread_enter(struct wf_worker *w, weft_thread *t)
{
	t->worker = w;
	WF_STORE(&t->state, WF_THREAD_RUNNING);
	WF_STORE(&w->context, &t->context);
	wf_thread_current = t;
}

/* The modes of calculation stay with the kernel thread: others would get ours. */
static inline void wf_thread_check_rounding(weft_thread *t)
{
#ifdef WEFT_DEBUG
	if (!wf_fp_mode_is_default())
		(void)wf_misuse(
			t->event.where_, 0,
			"thread %s waits or ends with a rounding mode of its own: set it back "
			"before",
			t->name);
#else
	(void)t;
#endif
}

/* From one flow on w to another. */
static WF_INLINE void wf_thread_switch(struct wf_worker *w, struct wf_context *from,
				       struct wf_context *to, bool ends)
{
	wf_exceptions_exchange(w->flow.exceptions, from, to);
	wf_context_switch(from, to, ends);
}

/* Leaves t's stack for another thread of its color, or for the worker. */
static WF_INLINE void wf_thread_leave_for(struct wf_worker *w, weft_thread *t, weft_thread *next)
{
	bool ends = t->errand == WF_ERRAND_END;

	wf_thread_check_rounding(t);
	if (next != NULL) {
		wf_thread_enter(w, next);
		wf_thread_switch(w, &t->context, &next->context, ends);
	} else {
		wf_thread_switch(w, &t->context, &w->flow.own, ends);
	}
	wf_thread_arrived(t->worker);
}

/* The same where t ends, for a thread of its color. */
static WF_INLINE _Noreturn void wf_thread_leave_last(struct wf_worker *w, weft_thread *t,
						     weft_thread *next)
{
	wf_thread_check_rounding(t);
	wf_thread_enter(w, next);
	wf_exceptions_exchange(w->flow.exceptions, &t->context, &next->context);
	wf_context_leave(&t->context, &next->context);
}

/* Leaves the stack of a body for who lies under it, or for the worker: to the world it has
 * not stopped. */
static WF_INLINE void wf_thread_leave_under(weft_thread *t, weft_thread *under)
{
	struct wf_worker *w = t->worker;
	bool ends = t->errand == WF_ERRAND_END;

	wf_thread_check_rounding(t);
	if (under != NULL) {
		wf_thread_current = under;
		wf_thread_switch(w, &t->context, &under->context, ends);
	} else {
		wf_thread_switch(w, &t->context, &w->flow.own, ends);
	}
	wf_thread_arrived(t->worker);
}

/* The same for a function that then returns 0: wf_body_leave does that for it. */
static WF_INLINE int wf_thread_leave_under_last(weft_thread *t, weft_thread *under)
{
#ifdef WF_BODY_JUMPS
	struct wf_worker *w = wf_self_worker;
	struct wf_context *to = under != NULL ? &under->context : &w->flow.own;

	wf_thread_check_rounding(t);
	if (under != NULL)
		wf_thread_current = under;
	wf_exceptions_exchange(w->flow.exceptions, &t->context, to);
	return wf_body_leave(&t->context.sp, to->sp);
#else
	wf_thread_leave_under(t, under);
	return 0;
#endif
}

/* The thread that an event resumes: mostly that whose own event it is, which is known without
 * a load that the switch would wait for. */
static WF_INLINE weft_thread *wf_thread_of(weft_event *ev)
{
	weft_thread *own = WF_CONTAINER(ev, weft_thread, event);

	if (WF_UNLIKELY(ev->arg != own))
		return ev->arg;
	__asm__("" : "+r"(own)); /* or the compiler takes the one for the other */
	return own;
}

/* The worker is found by its own variable, as in body_x86_64.S. */
static WF_INLINE WF_WAITS void wf_thread_leave(weft_thread *t)
{
	struct wf_worker *w = wf_self_worker;
	weft_event *ev = NULL;
	weft_thread *next;

	if (WF_UNLIKELY(t->under != &wf_nobody)) {
		wf_thread_leave_under(t, wf_body_part(t));
		return;
	}
	if (w->flow.young != NULL) {
		ev = wf_turn_take_young(w, wf_thread_resume);
		if (ev == NULL)
			wf_turn_queue_young(w);
	}
	if (ev == NULL)
		ev = wf_turn_next(w, wf_thread_resume);
	next = ev != NULL ? wf_thread_of(ev) : NULL;
	if (WF_LIKELY(next != t))
		wf_thread_leave_for(w, t, next);
	else
		WF_STORE(&t->state, WF_THREAD_RUNNING);
}

/* Posts the event of a thread, which is ready. */
void wf_thread_post(weft_thread *t);

/* The running thread is ready, behind the others of its color. */
static WF_INLINE void wf_thread_go_behind(weft_thread *t)
{
	WF_STORE(&t->state, WF_THREAD_READY);
	if (!wf_turn_post(wf_self_worker, &t->event))
		wf_thread_post(t);
}

/* wf_park. */
static WF_INLINE void wf_thread_park(weft_thread *t, struct wf_wait *wait)
{
	WF_STORE(&t->wait, wait);
	WF_STORE(&t->state, WF_THREAD_PARKED);
	WF_ADD_OWN(&t->parkings, 1u);
	if (WF_UNLIKELY(!WF_LOAD(&wf_trim_armed)))
		wf_trim_arm();
	WF_PROBE2(park_thread, t, wait->what);
	wf_thread_leave(t);
}

#endif
