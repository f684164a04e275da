/* sim_cache_efficient.c - Mely's test of locality-aware stealing (table VI) on
 * virtual cores.
 *
 * One core of each pair starts with 100 events A. Each makes an array of 16 KB and
 * posts two events B, of different colors, which sort a half each and post an event
 * C in the color of the array; the second C merges the halves.
 */
#include <math.h>

#include "sim_mely.h"

#define ARRAYS 100
#define HALF_LINES 128
#define FILL_TICKS 4000
#define SORT_TICKS 12000
#define MERGE_TICKS 4000
#define FIRST_COLOR ((weft_color)100000)

static struct sim *machine;
static uint8_t sorted[128 * ARRAYS];

/* The colors of array n: itself, and its halves. */
static weft_color color_of(int n, int part)
{
	return FIRST_COLOR + (weft_color)n * 3 + (weft_color)part;
}

static void c_run(void *arg)
{
	int n = (int)(intptr_t)arg;

	if (++sorted[n] == 2) {
		sim_read(machine, color_of(n, 1), HALF_LINES);
		sim_read(machine, color_of(n, 2), HALF_LINES);
		sim_spend(machine, MERGE_TICKS);
	}
	sim_mely_done();
}

static void b_run(void *arg)
{
	int n = (int)(intptr_t)arg / 2, part = 1 + (int)(intptr_t)arg % 2;

	sim_write(machine, color_of(n, part), HALF_LINES);
	sim_spend(machine, SORT_TICKS);
	sim_post(machine, .color = color_of(n, 0), .run = c_run, .arg = (void *)(intptr_t)n);
	sim_mely_done();
}

static void a_run(void *arg)
{
	int n = (int)(intptr_t)arg;

	sorted[n] = 0;
	sim_spend(machine, FILL_TICKS);
	for (int i = 0; i < 2; i++) {
		sim_create(machine, color_of(n, 1 + i), HALF_LINES);
		sim_post(machine, .color = color_of(n, 1 + i), .run = b_run,
			 .arg = (void *)(intptr_t)(n * 2 + i));
	}
	sim_mely_done();
}

static void post_round(struct sim *sim, int core)
{
	machine = sim;
	for (int i = core / 2 * ARRAYS; i < (core / 2 + 1) * ARRAYS; i++)
		sim_post(sim, .color = color_of(i, 0), .run = a_run, .arg = (void *)(intptr_t)i);
}

static int events(int cores)
{
	(void)cores;
	return ARRAYS * 5;
}

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1156, NAN, NAN, 0, 1, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 1497, NAN, NAN, 13, 1497. / 1156, NAN } },
	{ "8 cores, stealing base", "Mely", { 1426, NAN, NAN, 12, 1426. / 1156, NAN } },
	{ "8 cores, stealing locality", "Mely", { 1869, NAN, NAN, 2, 1869. / 1156, NAN } },
	{ 0 },
};

static const struct sim_mely_test test = { .round = post_round,
					   .start_every = 2,
					   .events = events };

int bench_sim_cache_efficient(void)
{
	return sim_mely_bench("sim-cache-efficient",
			      "rounds of 100 arrays on one virtual core of each pair: make, sort "
			      "two halves in two\ncolors, merge (5 events); ideal: 2",
			      &test, paper, "");
}
