/* spare.h - the stacks that a worker keeps ready for bodies. */
#ifndef WF_SPARE_H
#define WF_SPARE_H

#include "scheduler/turn.h"
#include "threads/stats.h"

/* So many. */
enum { WF_SPARES = 64 };

/* Sanitizers want to hear of each switch: then there are none. */
#if defined(WF_ASAN) || defined(WF_TSAN)
enum { WF_SPARE_STACKS = false };
#else
enum { WF_SPARE_STACKS = true };
#endif

/* Where the next is for what `self` starts, which runs on w; NULL: the worker itself does. A
 * body that has not waited is still in the list, and the next is the one behind it: so one
 * that returns leaves the list as it was. */
static WF_INLINE weft_thread **wf_spares(struct wf_worker *w, weft_thread *self)
{
	if (self != NULL && WF_UNLIKELY(self->under != &wf_nobody))
		return &self->next_spare;
	return &w->flow.spare;
}

static WF_INLINE void wf_spare_push(struct wf_worker *w, weft_thread *self, weft_thread *t)
{
	weft_thread **next = wf_spares(w, self);

	WF_STORE(&t->state, WF_THREAD_SPARE);
	t->next_spare = *next;
	*next = t;
	w->flow.spares++;
}

/* What a body may have changed, and its end has not put right. That its parkings go on
 * being counted does no harm. Most have changed little, and a look costs less than a store. */
static WF_INLINE void wf_spare_renew(weft_thread *t)
{
	t->body = 0;
	t->errand = WF_ERRAND_NONE;
	t->answers = 0;
	if (WF_UNLIKELY(t->items != NULL))
		t->items = NULL;
	if (WF_UNLIKELY(t->name[0] != '\0'))
		t->name[0] = '\0';
	if (WF_UNLIKELY(WF_LOAD(&t->in_vain) != 0))
		WF_STORE(&t->in_vain, 0);
}

/* One that has ended may be kept. False: free it. */
static WF_INLINE bool wf_spare_keep(struct wf_worker *w, weft_thread *self, weft_thread *t)
{
	if (!(t->body & WF_BODY_PARTED) || w->flow.spares >= WF_SPARES || !WF_SPARE_STACKS ||
	    t->stack_class != wf_thread_stacks.usual)
		return false;
	wf_thread_count_freed(&w->flow, t);
	wf_spare_renew(t);
	wf_spare_push(w, self, t);
	return true;
}

#endif
