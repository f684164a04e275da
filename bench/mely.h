/* mely.h - what Mely's three tests (section V-B of the paper) have in common.
 *
 * A test is rounds of events. A round begins on the first worker (one worker of
 * each pair in cache-efficient) and the next one begins when all its events ran.
 * Each heuristic of stealing is measured alone, all together, and none. The
 * simulated machines of sim/ are further rows of the same tables.
 */
#ifndef BENCH_MELY_H
#define BENCH_MELY_H

#include <stdint.h>

#include <weft/weft.h>

#include "bench.h"

#define MELY_WORKERS_MAX 256

struct mely_test {
	/* Posts the events of a round; runs on worker `start`. */
	void (*round)(int start);
	/* Every how many workers a round starts on one; 0: on the first only. */
	int start_every;
	/* Events that a round has for each worker that it starts on. */
	int events;
	/* Once, before the first round. */
	int (*prepare)(int workers);
};

struct mely_result {
	double kevents_per_s;
	double steals_per_round;
	double stolen_cycles; /* work in an average steal; NAN if none */
	double steal_cost_cycles;
};

/* A setting under test, the argument of measurements. */
struct mely_setting {
	const char *steal;
	int workers;
};

/* Runs rounds for a while. Returns 0 or -Exxx. */
int mely_run(const struct mely_test *test, const struct mely_setting *setting,
	     struct mely_result *result);

/* Each event calls this last: it had about `cycles` of work. */
void mely_event_done(uint64_t cycles);

/* Posts, or ends the run with the error. */
void mely_post(weft_event *ev);

/* Adds a row for each setting, runs all, and derives the speed-up over no
 * stealing. `paper` has the figures of the paper. */
int mely_bench(const struct bench_plan *plan, bench_measure *measure,
	       const struct bench_paper *paper, const char *aim);

#endif
