/* state.h - how far a promised call has come: works, children and lookups keep
 * it in their `state_`.
 *
 *	FRESH -> ASKED -> BEGUN -> TOLD        the usual way
 *	         ASKED -> CANCELLED -> TOLD    somebody cancelled in time
 *
 * Whoever moves it out of ASKED decides the outcome, and nobody else may (X1).
 */
#ifndef WF_STATE_H
#define WF_STATE_H

#include <weft/event.h>

#include "base/compiler.h"

enum wf_state {
	WF_FRESH,     /* never started */
	WF_ASKED,     /* started; may still be cancelled */
	WF_BEGUN,     /* too late to cancel */
	WF_CANCELLED, /* cancelled; its event will say so */
	WF_TOLD,      /* its event was posted */
};

static inline enum wf_state wf_state_get(const uint32_t *state)
{
	return (enum wf_state)__atomic_load_n(state, __ATOMIC_ACQUIRE);
}

static inline void wf_state_set(uint32_t *state, enum wf_state value)
{
	__atomic_store_n(state, value, __ATOMIC_RELEASE);
}

/* Moves ASKED to `value`; false if somebody else decided already. */
static inline bool wf_state_decide(uint32_t *state, enum wf_state value)
{
	uint32_t asked = WF_ASKED;

	return __atomic_compare_exchange_n(state, &asked, value, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* Whether a thing may not be started, because it is under way or its event has
 * not run yet. */
static inline bool wf_state_busy(const uint32_t *state, const weft_event *ev)
{
	switch (wf_state_get(state)) {
	case WF_FRESH:
		return false;
	case WF_TOLD:
		return __atomic_load_n(&ev->state_, __ATOMIC_ACQUIRE) != 0;
	default:
		return true;
	}
}

#endif
