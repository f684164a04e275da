/* clock.h - two clocks: one to tell the time, one to measure short spans.
 *
 * wf_now is the kernel's. wf_ticks is the CPU's counter where that one is
 * steady: it costs a third of wf_now. Its rate is measured once, to about
 * 1 in 10,000: good for running times, not for deadlines.
 */
#ifndef WF_CLOCK_H
#define WF_CLOCK_H

#include "base/compiler.h"

#if defined(__x86_64__)
#include "platform/clock_x86_64.h"
#elif defined(__aarch64__)
#include "platform/clock_aarch64.h"
#else
#include "platform/clock_generic.h"
#endif

struct wf_clock_rate {
	bool counter;         /* ticks are wf_counter's, else wf_now's */
	uint64_t ns_per_tick; /* both with 32 bits behind the point */
	uint64_t ticks_per_ns;
	uint64_t reading; /* ticks between two readings at the least: their error */
};

/* Constant after wf_clock_init; before, ticks are nanoseconds. */
extern struct wf_clock_rate wf_clock_rate;

/* Measures the counter's rate, the first time it is called: about 2 ms. Any
 * thread. Call it before there are threads that use ticks. */
void wf_clock_init(void);

/* Monotonic nanoseconds. */
uint64_t wf_now(void);

/* How many of them until `then`; 0 if that is past. */
static inline uint64_t wf_now_until(uint64_t then)
{
	uint64_t now = wf_now();

	return then > now ? then - now : 0;
}

/* A steady count of something that is at most a few nanoseconds long. */
static inline uint64_t wf_ticks(void)
{
	return WF_LIKELY(wf_clock_rate.counter) ? wf_counter() : wf_now();
}

/* By how much a reading may be behind. */
static inline uint64_t wf_ticks_error(void)
{
	return wf_clock_rate.reading;
}

static inline uint64_t wf_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * wf_clock_rate.ns_per_tick) >> 32);
}

static inline uint64_t wf_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * wf_clock_rate.ticks_per_ns) >> 32);
}

#endif
