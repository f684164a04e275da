/* histogram.h - durations by size, and what part of them took how long. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <math.h>
#include <stdint.h>

/* Buckets for each power of two nanoseconds. */
#define HISTOGRAM_FINE 32

struct histogram {
	uint64_t buckets[64 * HISTOGRAM_FINE];
};

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	int power = ns < HISTOGRAM_FINE ? 0 : 63 - __builtin_clzll(ns) - 5;

	h->buckets[power * HISTOGRAM_FINE + (int)(ns >> power)]++;
}

/* Nanoseconds that `part` of all took at most; NAN if there were none. */
static inline double histogram_percentile(const struct histogram *h, double part)
{
	uint64_t sum = 0, all = 0;

	for (int i = 0; i < 64 * HISTOGRAM_FINE; i++)
		all += h->buckets[i];
	for (int i = 0; i < 64 * HISTOGRAM_FINE && all > 0; i++) {
		sum += h->buckets[i];
		if ((double)sum >= part * (double)all) {
			int power = i < 2 * HISTOGRAM_FINE ? 0 : i / HISTOGRAM_FINE - 1;

			return (double)((uint64_t)(i - power * HISTOGRAM_FINE) << power);
		}
	}
	return NAN;
}

#endif
