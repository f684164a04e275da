/* clock_x86_64.h - the time stamp counter. */
#ifndef WF_CLOCK_X86_64_H
#define WF_CLOCK_X86_64_H

#include <cpuid.h>

#include "base/compiler.h"

static inline uint64_t wf_counter(void)
{
	return __builtin_ia32_rdtsc();
}

/* Whether it runs at one rate, in all power states (constant_tsc and
 * nonstop_tsc in /proc/cpuinfo). */
static inline bool wf_counter_steady(void)
{
	const unsigned invariant = 1u << 8;
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & invariant);
}

/* Ticks in a second, or 0: must be measured. Some CPUs say it (leaf 0x15), but
 * hypervisors often pass on what is not true for the guest. */
static inline uint64_t wf_counter_rate(void)
{
	return 0;
}

#endif
