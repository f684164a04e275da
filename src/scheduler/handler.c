/* handler.c - the table of handlers and their running times. */
#include "scheduler/handler.h"

#include <errno.h>

#include "platform/clock.h"

struct wf_handler wf_handlers[WF_HANDLERS];

struct wf_handler *wf_handler_get(weft_fn *fn)
{
	for (unsigned i = 0; i < WF_HANDLER_PROBES; i++) {
		struct wf_handler *h = &wf_handlers[wf_handler_slot(fn, i)];
		weft_fn *there = NULL;

		if (atomic_compare_exchange_strong(&h->fn, &there, fn) || there == fn)
			return h;
	}
	return NULL;
}

void wf_handler_ran(struct wf_handler *h, weft_fn *fn, uint64_t ticks)
{
	uint32_t sample = ticks < UINT32_MAX / 2 ? (uint32_t)ticks : UINT32_MAX / 2;
	uint32_t old;

	if (h == NULL)
		h = wf_handler_get(fn);
	if (h == NULL)
		return;
	old = WF_LOAD(&h->ticks);
	/* An eighth of the new one: a handler that changes is believed in about
	 * eight runs, one preempted run is forgotten as fast. */
	WF_STORE(&h->ticks, old ? old - old / 8 + sample / 8 + 1 : sample + 1);
	WF_ADD_OWN(&h->samples, 1u);
}

int weft_handler_time(weft_fn *fn, uint64_t ns)
{
	struct wf_handler *h;
	uint64_t ticks;

	if (fn == NULL)
		return -EINVAL;
	h = wf_handler_get(fn);
	if (h == NULL)
		return -ENOSPC;
	wf_clock_init();
	ticks = wf_ns_to_ticks(ns);
	WF_STORE(&h->told, ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX);
	return 0;
}

int weft_handler_penalty(weft_fn *fn, uint32_t penalty)
{
	struct wf_handler *h;

	if (fn == NULL || penalty == 0)
		return -EINVAL;
	h = wf_handler_get(fn);
	if (h == NULL)
		return -ENOSPC;
	WF_STORE(&h->penalty, penalty);
	return 0;
}
