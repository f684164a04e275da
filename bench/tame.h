/* tame.h - tamed functions for the benchmarks. They are in a file that weft-tame translates; where
 * it could not, another says so.
 */
#ifndef BENCH_TAME_H
#define BENCH_TAME_H

#include <stddef.h>

#include "cycles.h"

/* Each does it so many times, in a thread of Weft. */
struct tame_bench {
	int (*nullfn)(long rounds);    /* tamed calls that do not wait */
	int (*satisfied)(long rounds); /* twait blocks whose events are triggered inside */
	int (*benchfn)(long rounds);   /* Tame's benchfn, with an event loop's hop for its timer */
	int (*benchfn_rendezvous)(long rounds);
	int (*timer)(long rounds); /* benchfn as it is in the paper: a timer of 0 */
	int (*timer_rendezvous)(long rounds);
	int (*child)(long rounds);        /* tamed calls that wait for a hop, waited for */
	int (*fork_thread)(long rounds);  /* tfork of a threaded function, waited for */
	int (*fork_offload)(long rounds); /* tfork of one that blocks */
	/* Makes closures that wait for one event each, and lets them all go on. */
	void (*wait_all)(long count);
	void (*wake_all)(void);
};
extern const struct tame_bench tame_bench;

/* NULL, or why they are not measured. */
extern const char *const tame_missing;

/* A row for one of these, or what says that it is not there. */
static inline struct bench_row *tame_add(const struct cycles_case *c)
{
	if (tame_missing == NULL)
		return cycles_add(c);
	bench_add_missing(c->label, c->who, tame_missing);
	return NULL;
}

#endif
