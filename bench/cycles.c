/* cycles.c - short things in cycles of the core: many samples beside a known chain. */
#include "cycles.h"

#include <stdlib.h>

#include <weft/weft.h>

#define SAMPLES 2000
#define WARM 200
/* Long beside the fences and the reading of the counter, which are no part of it. */
#define CHAIN 10000

/* Ticks, with all that was begun before ended, and nothing begun that comes behind. */
static uint64_t ticks(void)
{
	uint64_t t;

#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
	t = bench_ticks();
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
	t = bench_ticks();
	__asm__ volatile("isb" ::: "memory");
#else
	t = bench_ticks();
#endif
	return t;
}

/* Additions that wait for each other. Of two registers: some cores add small constants
 * without taking time for it. */
static double chain_ticks(void)
{
	uint64_t start = ticks(), sum = 1, step = 3;

	for (int i = 0; i < CHAIN / 100; i++)
#if defined(__x86_64__)
		__asm__ volatile(".rept 100\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(step));
#elif defined(__aarch64__)
		__asm__ volatile(".rept 100\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(step));
#else
		for (int k = 0; k < 100; k++) {
			sum += step;
			__asm__ volatile("" : "+r"(sum));
		}
#endif
	return (double)(ticks() - start);
}

/* One sample: ticks a time, and the chain's meanwhile. */
static int sample(const struct cycles_case *c, double *took, double *chain)
{
	double before = chain_ticks();
	uint64_t start = ticks();
	int err = c->run(c->rounds);

	*took = (double)(ticks() - start) / (double)(c->rounds * c->per_round);
	/* The longer of the two was interrupted, or the core changed its speed. */
	*chain = fmin(before, chain_ticks());
	return err;
}

struct job {
	const struct cycles_case *c;
	double *values;
};

static int app(void *arg)
{
	static double in_cycles[SAMPLES], in_ticks[SAMPLES];
	struct job *job = arg;

	for (int i = -WARM; i < SAMPLES; i++) {
		double took, chain;
		int err = sample(job->c, &took, &chain);

		if (err < 0)
			return err;
		if (i < 0)
			continue;
		in_ticks[i] = took;
		in_cycles[i] = took * CHAIN / chain;
	}
	job->values[CYCLES_NS] = bench_median(in_ticks, SAMPLES) * bench_tick_ns();
	job->values[CYCLES_MEDIAN] = bench_median(in_cycles, SAMPLES);
	job->values[CYCLES_BEST] = in_cycles[SAMPLES / 20];
	return 0;
}

int cycles_measure(const void *arg, double *values)
{
	struct job job = { arg, values };
	/* Samples are long for a worker that looks for stalls. */
	weft_options opt = { .workers = 1, .stall_ms = -1 };

	bench_pin(0);
	return weft_run(app, &job, &opt);
}
