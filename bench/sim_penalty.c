/* sim_penalty.c - Mely's test of penalty-aware stealing (table V) on virtual cores.
 *
 * Events A, of different colors, are posted on the first core. Each makes an array
 * and starts a chain of 32 events B of its color, each of which reads another piece.
 * A thief should take an A, not a B whose array is warm elsewhere. An event takes
 * 2,000 cycles where its data is warm, as the paper's throughput on one core says,
 * and is worth stealing by its time alone.
 */
#include <math.h>

#include "sim_mely.h"

#define PIECES 32
#define PIECE_LINES 512
#define PIECE_TICKS 1500
#define CHAINS_PER_CORE 12
#define FIRST_COLOR ((weft_color)100000)

static struct sim *machine;
static int pieces[CHAINS_PER_CORE * 256];

static void b_run(void *arg)
{
	int chain = (int)(intptr_t)arg;
	weft_color color = FIRST_COLOR + (weft_color)chain;

	sim_read(machine, color, PIECE_LINES);
	sim_spend(machine, PIECE_TICKS);
	if (--pieces[chain] > 0)
		sim_post(machine, .color = color, .run = b_run, .arg = arg);
	sim_mely_done();
}

static void a_run(void *arg)
{
	int chain = (int)(intptr_t)arg;
	weft_color color = FIRST_COLOR + (weft_color)chain;

	sim_create(machine, color, PIECES * PIECE_LINES);
	sim_spend(machine, PIECE_TICKS);
	pieces[chain] = PIECES;
	sim_post(machine, .color = color, .run = b_run, .arg = arg);
	sim_mely_done();
}

static int chains;

static void post_round(struct sim *sim, int core)
{
	(void)core;
	machine = sim;
	for (int i = 0; i < chains; i++)
		sim_post(sim, .color = FIRST_COLOR + (weft_color)i, .run = a_run,
			 .arg = (void *)(intptr_t)i);
}

static int events(int cores)
{
	chains = CHAINS_PER_CORE * cores;
	return chains * (1 + PIECES);
}

static void prepare(void)
{
	sim_handler_penalty(b_run, 1000);
}

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1103, NAN, NAN, 29, 1, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 190, NAN, NAN, 167000, 190. / 1103, NAN } },
	{ "8 cores, stealing base", "Mely", { 1386, NAN, NAN, 42000, 1386. / 1103, NAN } },
	{ "8 cores, stealing penalty", "Mely", { 2122, NAN, NAN, 2000, 2122. / 1103, NAN } },
	{ 0 },
};

static const struct sim_mely_test test = { .round = post_round,
					   .events = events,
					   .prepare = prepare };

int bench_sim_penalty(void)
{
	return sim_mely_bench("sim-penalty",
			      "rounds of 12 events A for each of N virtual cores, all posted on "
			      "the first;\neach makes 1 MB and starts 32 events B that read it; "
			      "ideal: N",
			      &test, paper, "");
}
