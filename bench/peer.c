/* peer.c - what the peers have in common. */
#include "peer.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct bench_row *peer_add(const char *label, const struct peer *peer, bench_measure *fn,
			   const void *arg)
{
	if (peer->missing == NULL)
		return bench_add(label, peer->name, fn, arg);
	bench_add_missing(label, peer->name, peer->missing);
	return NULL;
}

struct timer_step *timer_steps_new(const struct timer_work *work, uint64_t *seed)
{
	struct timer_step *steps = calloc((size_t)work->restarts, sizeof *steps);

	for (int i = 0; steps != NULL && i < work->restarts; i++) {
		steps[i].timer = bench_random(seed) % (uint32_t)work->count;
		steps[i].delay_ms = 1 + bench_random(seed) % (uint32_t)work->span_ms;
		if (work->put_off)
			steps[i].delay_ms = (uint32_t)work->span_ms;
	}
	return steps;
}

void *peer_poster_main(void *arg)
{
	struct peer_poster *p = arg;
	uint64_t begin = bench_now();

	for (int r = 0; r < p->work->rounds; r++) {
		uint64_t due = (uint64_t)(r + 1) * (uint64_t)p->work->batch;
		uint64_t start = bench_now();

		for (int i = 0; i < p->work->batch; i++)
			p->post(i);
		p->post_ns += bench_now() - start;
		/* Looks seldom: the line it looks at is being written by the loop. */
		while (atomic_load_explicit(&p->ran, memory_order_acquire) < due) {
			bench_work(1000);
			sched_yield();
		}
	}
	p->all_ns = bench_now() - begin;
	p->end();
	return NULL;
}

void peer_poster_values(const struct peer_poster *p, double *values)
{
	double posts = (double)p->work->batch * p->work->rounds;

	values[0] = (double)p->post_ns / posts;
	values[1] = (double)p->all_ns / posts;
}
