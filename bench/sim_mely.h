/* sim_mely.h - Mely's three tests on the pretend machine of sim/: 8, 64 and 256
 * cores, each heuristic alone, all and none.
 *
 * Time is virtual: cycles of the paper's machine, at 2.33 GHz. The scheduler's
 * code is the real one. A row is the same in every run.
 */
#ifndef BENCH_SIM_MELY_H
#define BENCH_SIM_MELY_H

#include <stdint.h>

#include "bench.h"
#include "sim.h"

/* One machine, under one setting. */
struct sim_mely_setting {
	int cores;
	const char *steal;
};

struct sim_mely_test {
	/* Posts what one core starts a round with. */
	void (*round)(struct sim *sim, int core);
	/* Every how many cores one starts; 0: only the first. */
	int start_every;
	/* Events of a round, for each core that starts. */
	int (*events)(int cores);
	/* Before the first round; may be NULL. */
	void (*prepare)(void);
	/* Whether to leave out the work that can be stolen, to learn what cannot;
	 * NULL: all can. */
	bool *only_what_stays;
};

/* Every event calls this last. */
void sim_mely_done(void);

/* Runs all settings; `paper` has the figures of the paper. */
int sim_mely_bench(const char *name, const char *work, const struct sim_mely_test *test,
		   const struct bench_paper *paper, const char *aim);

#endif
