/* handler.h - how long each handler runs: measured, or told by the user.
 *
 * One table for the process, kept across runs: handlers are functions and do
 * not change. Readers take no lock; writers race for averages, which only makes
 * an average a little older.
 */
#ifndef WF_HANDLER_H
#define WF_HANDLER_H

#include <weft/event.h>

#include "base/capacity.h"
#include "base/compiler.h"

struct wf_handler {
	weft_fn *_Atomic fn;
	_Atomic uint32_t ticks;   /* moving average; 0: never measured */
	_Atomic uint32_t told;    /* by the user, in ticks; 0: measured */
	_Atomic uint32_t penalty; /* 0 and 1: none */
	_Atomic uint32_t samples;
};

extern struct wf_handler wf_handlers[WF_HANDLERS];

enum { WF_HANDLER_PROBES = 8 };

static inline unsigned wf_handler_slot(weft_fn *fn, unsigned probe)
{
	uint64_t hash = (uint64_t)(uintptr_t)fn * 0x9E3779B97F4A7C15u;

	return (unsigned)((hash >> 32) + probe) & (WF_HANDLERS - 1);
}

/* The handler's record, or NULL if it has none (yet). */
static inline struct wf_handler *wf_handler_find(weft_fn *fn)
{
	for (unsigned i = 0; i < WF_HANDLER_PROBES; i++) {
		struct wf_handler *h = &wf_handlers[wf_handler_slot(fn, i)];
		weft_fn *there = WF_LOAD(&h->fn);

		if (WF_LIKELY(there == fn))
			return h;
		if (there == NULL)
			break;
	}
	return NULL;
}

/* The same, made if need be; NULL if the table is full around it. */
struct wf_handler *wf_handler_get(weft_fn *fn);

/* When to measure. All zeros is a beginning; belongs to one worker. */
struct wf_sampler {
	uint64_t random;
	uint8_t skips;
};

/* Every so many runs of a handler are measured, once its time is roughly known. */
enum { WF_SAMPLE_EVERY = 8, WF_SAMPLES_FIRST = 16 };

/* Whether this run shall be measured. At random, so that handlers that take turns
 * are measured alike; every WF_SAMPLE_EVERY on average. */
static inline bool wf_sample_now(struct wf_sampler *s)
{
	if (WF_LIKELY(s->skips > 0)) {
		s->skips--;
		return false;
	}
	s->random = s->random * 0x5851F42D4C957F2Du + 0x14057B7EF767814Fu;
	s->skips = (uint8_t)((s->random >> 33) % (2 * WF_SAMPLE_EVERY - 1));
	return true;
}

static inline bool wf_handler_known(const struct wf_handler *h)
{
	return WF_LIKELY(h != NULL && WF_LOAD(&h->samples) >= WF_SAMPLES_FIRST);
}

/* A run of `fn` took so long. `h` is what wf_handler_find gave. */
void wf_handler_ran(struct wf_handler *h, weft_fn *fn, uint64_t ticks);

/* The average in ticks that counts: told, else measured, else 0. */
static inline uint64_t wf_handler_ticks(const struct wf_handler *h)
{
	uint32_t told = WF_LOAD(&h->told);

	return WF_UNLIKELY(told != 0) ? told : WF_LOAD(&h->ticks);
}

#endif
