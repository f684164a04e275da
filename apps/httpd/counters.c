/* counters.c - counters without a shared cache line. */
#include "counters.h"

#include <weft/run.h>

/* Workers beyond share a place, which is right, as the counters are atomic, only slower. */
enum { PLACES = 64 };

struct place {
	_Alignas(64) _Atomic uint64_t counters[COUNTERS];
	_Atomic uint64_t latencies[LATENCIES];
};

static struct place places[PLACES];
_Atomic uint64_t open_connections;

static struct place *mine(void)
{
	return &places[(unsigned)weft_worker_current() % PLACES];
}

void count(enum counter what, uint64_t n)
{
	atomic_fetch_add_explicit(&mine()->counters[what], n, memory_order_relaxed);
}

void count_latency(uint64_t ns)
{
	uint64_t us = ns / 1000;
	unsigned bucket = us == 0 ? 0 : 64 - (unsigned)__builtin_clzll(us);

	if (bucket >= LATENCIES)
		bucket = LATENCIES - 1;
	atomic_fetch_add_explicit(&mine()->latencies[bucket], 1, memory_order_relaxed);
}

uint64_t counter_sum(enum counter what)
{
	uint64_t sum = 0;

	for (int i = 0; i < PLACES; i++)
		sum += atomic_load_explicit(&places[i].counters[what], memory_order_relaxed);
	return sum;
}

void latency_sums(uint64_t out[LATENCIES])
{
	for (int b = 0; b < LATENCIES; b++) {
		out[b] = 0;
		for (int i = 0; i < PLACES; i++)
			out[b] +=
				atomic_load_explicit(&places[i].latencies[b], memory_order_relaxed);
	}
}
