/* closure.c - the life of a closure: it lives as long as control or an event needs it (T1).
 *
 * Control holds it from the call to the end of the function (R1). Events of a twait block need
 * not hold it, as control cannot leave the block before them; nor those of its own
 * rendezvous, which end first (R4). Events of others' rendezvous, with slots in here, do (R2).
 */
#include <errno.h>

#include "tame/tame.h"

/* The next call of `f` from this kernel thread is for `color`: weft_ton. */
static _Thread_local struct {
	void (*f)(void);
	weft_color color;
	int refusal;
} mine __attribute__((tls_model("initial-exec")));

void weft_tame_aim(weft_color color, void (*f)(void))
{
	mine.f = f;
	mine.color = color;
}

static inline weft_tame_closure *fill_in(weft_tame_closure *c, const weft_tame_function *f,
					 weft_color color, bool here)
{
	c->color_ = color;
	c->rendezvous_ = NULL;
	c->function_ = f;
	c->state_ = here ? 0 : WEFT_TAME_ELSEWHERE;
	__asm__ volatile("" : : : "memory"); /* one store of both would be slow to read in parts */
	c->holds_ = 1;
	return c;
}

static weft_tame_closure *make(struct wf_worker *w, const weft_tame_function *f, weft_color color,
			       bool here)
{
	weft_tame_closure *c;

	WF_ASSERT(f->size >= sizeof(weft_tame_closure));
	c = wf_tame_get(w, WF_TAME_CLOSURES, f->size, false);
	if (WF_UNLIKELY(c == NULL)) {
		mine.refusal = -ENOMEM;
		return NULL;
	}
	return fill_in(c, f, color, here);
}

/* Outside of workers the gate keeps the run, and its memory, from ending: from here until the
 * closure, with its parameters, was posted. */
static WF_COLD weft_tame_closure *enter_from_outside(const weft_tame_function *f, weft_color color)
{
	weft_tame_closure *c;

	mine.refusal = wf_enter();
	if (mine.refusal < 0)
		return NULL;
	c = make(NULL, f, color, false);
	if (c == NULL)
		wf_leave();
	return c;
}

/* It was aimed at a color, or not called in exclusive use of one; or there is no memory at hand. */
static WF_NOINLINE weft_tame_closure *enter_slowly(struct wf_worker *w, const weft_tame_function *f)
{
	weft_color color = weft_color_current();

	if (mine.f == f->entry) {
		mine.f = NULL;
		color = mine.color;
	}
	if (w == NULL)
		return enter_from_outside(f, color);
	return make(w, f, color, wf_tame_in_color(w, color));
}

weft_tame_closure *weft_tame_enter(const weft_tame_function *f)
{
	struct wf_worker *w = wf_self_worker;

	weft_tame_closure *c;
	void **last;

	if (WF_UNLIKELY(w == NULL || w->current == NULL || w->shared || mine.f == f->entry))
		return enter_slowly(w, f);
	last = wf_tame_last(w, WF_TAME_CLOSURES, f->size);
	if (WF_UNLIKELY(last == NULL || *last == NULL))
		return enter_slowly(w, f);
	c = *last;
	*last = NULL;
	return fill_in(c, f, w->current->id, true);
}

int weft_tame_refusal(const weft_tame_function *f, bool handled)
{
	if (!handled && mine.refusal == -ENOMEM)
		wf_tame_report(f->where,
			       "no memory for a call of %s(), which has no trefused block: its "
			       "events will not be triggered",
			       f->name);
	return mine.refusal;
}

void weft_tame_begin_elsewhere(weft_tame_closure *c)
{
	c->state_ = 0;
	wf_post(c->color_, c->function_->body, c, c->function_->where);
	wf_leave();
}

void wf_tame_resume(weft_tame_closure *c)
{
	const weft_tame_function *f = c->function_;

	if (WF_LIKELY(f->body != NULL))
		wf_post_here(wf_self_worker, f->body, c, f->waits[c->state_ - 1].where);
	else
		weft_schedule(&((weft_tame_thread_closure *)c)->wait_);
}

static WF_NOINLINE void release_slowly(struct wf_worker *w, weft_tame_closure *c,
				       const weft_tame_function *f)
{
	if (f->body == NULL) {
		wf_tame_resume(c);
	} else {
		c->function_ = NULL;
		wf_tame_put(w, WF_TAME_CLOSURES, f->size, c);
	}
}

static WF_INLINE void release(weft_tame_closure *c)
{
	const weft_tame_function *f = c->function_;
	struct wf_worker *w = wf_self_worker;
	void **last;

	if (--c->holds_ > 0)
		return;
	last = f->body != NULL ? wf_tame_last(w, WF_TAME_CLOSURES, f->size) : NULL;
	if (WF_UNLIKELY(last == NULL || *last != NULL)) {
		release_slowly(w, c, f);
		return;
	}
	c->function_ = NULL;
	*last = c;
}

void wf_tame_release(weft_tame_closure *c)
{
	release(c);
}

void weft_tame_leave(weft_tame_closure *c)
{
	while (WF_UNLIKELY(c->rendezvous_ != NULL))
		wf_tame_rendezvous_fini(c->rendezvous_);
	release(c);
}
