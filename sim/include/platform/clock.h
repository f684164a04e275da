/* clock.h - the pretend machine's clock: ticks are those of the virtual core that
 * runs. Stands in for src/platform/clock.h when the scheduler is compiled for the
 * simulator.
 */
#ifndef WF_CLOCK_H
#define WF_CLOCK_H

#include "base/compiler.h"

/* Ticks are cycles of the machine in Mely's paper. */
#define SIM_GHZ 2.33

static inline void wf_clock_init(void) {}

uint64_t wf_ticks(void);

static inline uint64_t wf_ticks_error(void)
{
	return 0;
}

static inline uint64_t wf_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)((double)ns * SIM_GHZ);
}

static inline uint64_t wf_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)((double)ticks / SIM_GHZ);
}

static inline uint64_t wf_now(void)
{
	return wf_ticks_to_ns(wf_ticks());
}

#endif
