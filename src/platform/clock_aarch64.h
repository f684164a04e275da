/* clock_aarch64.h - the generic timer's virtual count. */
#ifndef WF_CLOCK_AARCH64_H
#define WF_CLOCK_AARCH64_H

#include "base/compiler.h"

static inline uint64_t wf_counter(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
}

/* The architecture promises it. */
static inline bool wf_counter_steady(void)
{
	return true;
}

/* Ticks in a second, or 0: must be measured. */
static inline uint64_t wf_counter_rate(void)
{
	uint64_t rate;

	__asm__("mrs %0, cntfrq_el0" : "=r"(rate));
	return rate;
}

#endif
