/* clock.c - reads the kernel's clock, and measures the CPU's against it. */
#include "platform/clock.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define SECOND ((uint64_t)1000000000)
#define ONE ((uint64_t)1 << 32)

enum { MEASURE_NS = 2000000, TRIES = 8 };

struct wf_clock_rate wf_clock_rate = { .ns_per_tick = ONE, .ticks_per_ns = ONE };

WF_HOT uint64_t wf_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* One moment on both clocks. */
struct moment {
	uint64_t ns, ticks;
};

/* The kernel may take the CPU away between the two readings: the try with the
 * shortest way between counter readings is the best. */
static struct moment moment_read(void)
{
	struct moment best = { 0, 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = wf_counter(), ns = wf_now(), after = wf_counter();

		if (after - before < shortest) {
			shortest = after - before;
			best = (struct moment){ ns, before + shortest / 2 };
		}
	}
	return best;
}

static uint64_t measure_rate(void)
{
	struct moment begin = moment_read(), end;
	uint64_t ns = begin.ns + MEASURE_NS;
	struct timespec until = { (time_t)(ns / SECOND), (long)(ns % SECOND) };

	/* Cut short by a signal, it goes on until then; signals without end only
	 * make the time longer. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	end = moment_read();
	ns = end.ns - begin.ns;
	return (uint64_t)((unsigned __int128)(end.ticks - begin.ticks) * SECOND / ns);
}

/* The shortest way between two readings that differ: what a reading costs, or the
 * counter's step where that is longer (emulated ones may go in microseconds). */
static uint64_t measure_reading(void)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 8 * TRIES; i++) {
		uint64_t before = wf_counter(), after;

		do
			after = wf_counter();
		while (after == before);
		if (after - before < shortest)
			shortest = after - before;
	}
	return shortest;
}

static void init(void)
{
	uint64_t rate;

	if (!wf_counter_steady())
		return;
	rate = wf_counter_rate();
	if (rate == 0)
		rate = measure_rate();
	/* Slower than 1 MHz or faster than 1 THz is no counter to trust. */
	if (rate < SECOND / 1000 || rate > SECOND * 1000)
		return;
	wf_clock_rate.ns_per_tick = (uint64_t)((unsigned __int128)SECOND * ONE / rate);
	wf_clock_rate.ticks_per_ns = (uint64_t)((unsigned __int128)rate * ONE / SECOND);
	wf_clock_rate.reading = measure_reading();
	wf_clock_rate.counter = true;
}

void wf_clock_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init);
}
