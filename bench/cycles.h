/* cycles.h - what takes some cycles, measured in cycles of the core.
 *
 * Virtual machines seldom let one count cycles, and the time stamp counter ticks at a
 * rate of its own. So a chain of additions, one a cycle, is timed before and after
 * each sample, and the sample is divided by that.
 */
#ifndef BENCH_CYCLES_H
#define BENCH_CYCLES_H

#include <math.h>

#include "bench.h"

/* The columns; a bench of cycles has these. The best is that of the fastest twentieth
 * of all samples: where a neighbour shares the core, most are slower than need be. */
#define CYCLES_METRICS \
	{ \
		{ "time", "ns", BENCH_LOWER }, { "median", "cycles", BENCH_LOWER }, \
			{ "best", "cycles", BENCH_LOWER }, \
	}
enum { CYCLES_NS, CYCLES_MEDIAN, CYCLES_BEST, CYCLES_METRIC_COUNT };

/* Something to measure. */
struct cycles_case {
	const char *label;
	const char *who;
	int (*run)(long rounds); /* does it so many times; returns 0 or -Exxx */
	long rounds;             /* in a sample */
	int per_round;           /* how often a round does it */
};

/* Measures it in a thread of Weft, alone on one worker; the argument is a struct
 * cycles_case. Values: the columns. */
int cycles_measure(const void *cycles_case, double *values);

static inline struct bench_row *cycles_add(const struct cycles_case *c)
{
	return bench_add(c->label, c->who, cycles_measure, c);
}

/* What others published. */
static inline void cycles_add_paper(const char *label, const char *who, double cycles)
{
	const double values[CYCLES_METRIC_COUNT] = { NAN, cycles, NAN };

	bench_add_paper(label, who, values);
}

#endif
