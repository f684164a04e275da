/* clock_generic.h - a CPU without a counter that programs may read. */
#ifndef WF_CLOCK_GENERIC_H
#define WF_CLOCK_GENERIC_H

#include "base/compiler.h"

static inline uint64_t wf_counter(void)
{
	return 0;
}

static inline bool wf_counter_steady(void)
{
	return false;
}

static inline uint64_t wf_counter_rate(void)
{
	return 0;
}

#endif
