/* sim_unbalanced.c - Mely's test of base and time-left stealing (tables III and IV)
 * on virtual cores: 50,000 events of as many colors are posted on the first core,
 * 98% of 100 cycles, the others of 10,000 to 50,000.
 *
 * The ideal is not the number of cores. Posting is the first core's work, and a
 * short event costs less than to move it: only the long ones can go elsewhere.
 */
#include <math.h>

#include "sim_mely.h"

#define EVENTS 50000
#define FIRST_COLOR ((weft_color)100000)

static struct sim *machine;
static bool no_long_ones;

static void short_run(void *arg)
{
	(void)arg;
	sim_spend(machine, 100);
	sim_mely_done();
}

static void long_run(void *arg)
{
	sim_spend(machine, no_long_ones ? 0 : (uint64_t)(uintptr_t)arg);
	sim_mely_done();
}

static void post_round(struct sim *sim, int core)
{
	uint64_t seed = 1;

	(void)core;
	machine = sim;
	for (int i = 0; i < EVENTS; i++)
		sim_post(sim, .color = FIRST_COLOR + (weft_color)i,
			 .run = i % 50 == 0 ? long_run : short_run,
			 .arg = (void *)(uintptr_t)(10000 + bench_random(&seed) % 40001));
}

static int events(int cores)
{
	(void)cores;
	return EVENTS;
}

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1310, NAN, NAN, NAN, 1, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 122, 484, NAN, NAN, 122. / 1310, NAN } },
	{ "8 cores, stealing off", "Mely", { 1265, NAN, NAN, NAN, 1, NAN } },
	{ "8 cores, stealing base", "Mely", { 1195, 445, NAN, NAN, 1195. / 1265, NAN } },
	{ "8 cores, stealing time", "Mely", { 2042, 49987, NAN, NAN, 2042. / 1265, NAN } },
	{ 0 },
};

static const struct sim_mely_test test = { .round = post_round,
					   .events = events,
					   .only_what_stays = &no_long_ones };

int bench_sim_unbalanced(void)
{
	return sim_mely_bench("sim-unbalanced",
			      "rounds of 50,000 events of as many colors on the first of N "
			      "virtual cores,\n98% of 100 cycles, 2% of 10,000 to 50,000 cycles; "
			      "ideal: all long ones run elsewhere",
			      &test, paper, "at least 85%");
}
