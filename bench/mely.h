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

/* The columns; the last is for tests that have events B. */
enum { MELY_RATE, MELY_STOLEN, MELY_STEALS, MELY_COST, MELY_AWAY };
#define MELY_METRICS \
	{ \
		[MELY_RATE] = { "throughput", "KEvents/s", BENCH_HIGHER }, \
		[MELY_STOLEN] = { "stolen time", "cycles/steal", BENCH_HIGHER }, \
		[MELY_STEALS] = { "steals", "per round", BENCH_LOWER }, \
		[MELY_COST] = { "steal cost", "cycles", BENCH_LOWER }, \
		[MELY_AWAY] = { "B away", "%", BENCH_LOWER }, \
	}

/* Each event calls this last: it had about `cycles` of work. */
void mely_event_done(uint64_t cycles);

/* An event B calls this too: the data that it uses was written on that worker. */
void mely_data_of(int worker);

/* Posts, or ends the run with the error. */
void mely_post(weft_event *ev);

/* Adds a row for each setting, runs all, and derives the speed-up over no
 * stealing. `paper` has the figures of the paper. */
int mely_bench(const struct bench_plan *plan, const struct mely_test *test,
	       const struct bench_paper *paper, const char *aim);

#endif
