/* primitive.c - the life of an operation that is under way for an event. */
#include "tame/primitive.h"

#include <errno.h>
#include <string.h>

#include "tame/hook.h"

enum { AT_ONCE_MAX = 64 };

static void *init(struct wf_primitive *p, size_t size, weft_tame_event *e)
{
	memset(p, 0, size);
	p->event = e;
	p->size = size;
	p->color = weft_color_current();
	return p;
}

void *wf_primitive_new(size_t size, weft_tame_event *e, int *err)
{
	struct wf_primitive *p;

	*err = -EPERM;
	if (!wf_tame_in_color(wf_worker_self(), weft_color_current()))
		return NULL;
	*err = -ENOMEM;
	p = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, size, false);
	return p != NULL ? init(p, size, e) : NULL;
}

void *wf_primitive_new_must(size_t size, weft_tame_event *e)
{
	return init(wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, size, true), size, e);
}

static void stop(void *arg)
{
	struct wf_primitive *p = arg;

	p->stopped = true;
	p->stop(p);
}

bool wf_primitive_goes_on(struct wf_primitive *p)
{
	if (wf_primitive_cancelled(p))
		return false;
	p->stopped = false;
	wf_hook_be_deaf(p->event);
	weft_tame_on_cancel(p->event, stop, p);
	return true;
}

void wf_primitive_begun(struct wf_primitive *p, void (*fn)(struct wf_primitive *p))
{
	p->stop = fn;
	weft_tame_on_cancel(p->event, stop, p);
}

weft_tame_event *wf_primitive_end(struct wf_primitive *p)
{
	weft_tame_event *e = p->event;
	bool cancelled = weft_tame_cancelled(e);

	wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, p->size, p);
	if (!cancelled)
		return e;
	weft_tame_drop(e);
	return NULL;
}

void wf_primitive_end_int(struct wf_primitive *p, int result)
{
	WEFT_EVENT(int) e = (void *)wf_primitive_end(p);

	if (e != NULL)
		weft_trigger(e, result);
}

void wf_primitive_end_size(struct wf_primitive *p, ssize_t result)
{
	WEFT_EVENT(ssize_t) e = (void *)wf_primitive_end(p);

	if (e != NULL)
		weft_trigger(e, result);
}

bool wf_primitive_at_once(void)
{
	static _Thread_local unsigned answers;

	return ++answers % AT_ONCE_MAX != 0;
}

/* Called with whatever values: who calls a function removes its arguments. */
static void tell_nobody(weft_tame_event *e)
{
	(void)e;
}

const void *weft_tame_nobody(void)
{
	static const weft_tame_site site = { .where = "weft/tame_code.h",
					     .text = "weft_tame_nobody()",
					     .function = "nobody",
					     .kind = WEFT_TAME_OF_NOBODY };
	static const weft_tame_event nobody = { (void (*)(void))tell_nobody, &site };

	return &nobody;
}
