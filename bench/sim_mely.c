/* sim_mely.c - rounds of events on virtual cores, and what they are compared with. */
#include "sim_mely.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GHZ 2.33
#define ROUNDS 3 /* measured, after one in which handlers are timed first */

/* Colors of the rounds themselves; those of tests begin above. */
#define NEXT_COLOR ((weft_color)1)
#define START_COLOR ((weft_color)2)

enum { THROUGHPUT, STOLEN, STEALS, MISSES, SPEEDUP, SHARE, METRICS };

static struct {
	const struct sim_mely_test *test;
	struct sim *sim;
	int cores, rounds;
	uint64_t left;
	struct sim_stats began, ended;
} now;

static bool starts_on(int core)
{
	int every = now.test->start_every;

	return every > 0 ? core % every == 0 : core == 0;
}

static void start_run(void *arg)
{
	now.test->round(now.sim, (int)(intptr_t)arg);
}

static void next_run(void *arg)
{
	int starts = 0;

	(void)arg;
	if (now.rounds == 1)
		sim_stats(now.sim, &now.began);
	if (now.rounds++ == 1 + ROUNDS) {
		sim_stats(now.sim, &now.ended);
		return;
	}
	for (int i = 0; i < now.cores; i++)
		starts += starts_on(i);
	now.left = (uint64_t)starts * (uint64_t)now.test->events(now.cores);
	for (int i = 0; i < now.cores; i++)
		if (starts_on(i))
			sim_post(now.sim, .color = START_COLOR + (weft_color)i, .run = start_run,
				 .arg = (void *)(intptr_t)i);
}

void sim_mely_done(void)
{
	if (--now.left == 0)
		sim_post(now.sim, .color = NEXT_COLOR, .run = next_run);
}

/* Ticks that the measured rounds took. */
static double run(const struct sim_mely_test *test, int cores, const char *steal)
{
	now.test = test;
	now.cores = cores;
	now.rounds = 0;
	now.sim = sim_start(.workers = cores, .seed = 1, .steal = steal, .jitter = 10,
			    .shape = cores > 8 ? &sim_shape_wide : &sim_shape_mely);
	if (test->prepare != NULL)
		test->prepare();
	sim_pin(now.sim, NEXT_COLOR, 0);
	for (int i = 0; i < cores; i++)
		sim_pin(now.sim, START_COLOR + (weft_color)i, i);
	sim_post(now.sim, .color = NEXT_COLOR, .run = next_run);
	sim_run_until_idle(now.sim);
	sim_stop(now.sim);
	return (double)(now.ended.time - now.began.time);
}

/* The speed-up that no schedule could beat: every core busy all the time, except
 * for what cannot leave the core that it starts on. */
static double ideal(const struct sim_mely_test *test, int cores, double off)
{
	int starts = test->start_every > 0 ? cores / test->start_every : 1;
	double most = (double)cores / starts, stays;

	if (test->only_what_stays == NULL)
		return most;
	*test->only_what_stays = true;
	stays = run(test, cores, "off");
	*test->only_what_stays = false;
	return off / stays < most ? off / stays : most;
}

static const struct sim_mely_test *measured;

static int measure(const void *arg, double *values)
{
	const struct sim_mely_setting *setting = arg;
	double off = run(measured, setting->cores, "off");
	double most = ideal(measured, setting->cores, off);
	double ticks = run(measured, setting->cores, setting->steal);
	double events = (double)(now.ended.events - now.began.events);
	double steals = (double)(now.ended.steals - now.began.steals);
	double stolen = (double)(now.ended.stolen_ticks - now.began.stolen_ticks);

	values[THROUGHPUT] = events / (ticks / GHZ) * 1e6;
	values[STOLEN] = steals > 0 ? stolen / steals : NAN;
	values[STEALS] = steals / ROUNDS;
	values[MISSES] = (double)(now.ended.misses - now.began.misses) / events;
	values[SPEEDUP] = off / ticks;
	values[SHARE] = 100 * off / ticks / most;
	return 0;
}

int sim_mely_bench(const char *name, const char *work, const struct sim_mely_test *test,
		   const struct bench_paper *paper, const char *aim)
{
	static const int cores[] = { 8, 64, 256 };
	static const char *const steals[] = { "off", "base", "locality", "time", "penalty", "all" };
	static struct sim_mely_setting settings[BENCH_COUNT(cores)][BENCH_COUNT(steals)];
	struct bench_row *rows[BENCH_COUNT(cores)];
	struct bench_plan plan = {
		.name = name,
		.work = work,
		.metrics = { [THROUGHPUT] = { "throughput", "KEvents/s", BENCH_HIGHER },
			     [STOLEN] = { "stolen time", "cycles/steal", BENCH_HIGHER },
			     [STEALS] = { "steals", "per round", BENCH_LOWER },
			     [MISSES] = { "L2 misses", "per event", BENCH_LOWER },
			     [SPEEDUP] = { "speed-up", "x off", BENCH_HIGHER },
			     [SHARE] = { "of ideal", "%", BENCH_HIGHER } },
		.metric_count = METRICS,
		.repeats = 1,
		.limit_s = 300,
	};
	char label[64];

	measured = test;
	bench_begin(&plan);
	for (int c = 0; c < BENCH_COUNT(cores); c++) {
		for (int s = 0; s < BENCH_COUNT(steals); s++) {
			settings[c][s] = (struct sim_mely_setting){ cores[c], steals[s] };
			snprintf(label, sizeof label, "%d virtual cores, stealing %s", cores[c],
				 steals[s]);
			rows[c] = bench_add(label, "weft", measure, &settings[c][s]);
		}
	}
	bench_add_papers(paper);
	bench_run();
	for (int c = 0; c < BENCH_COUNT(cores); c++) {
		snprintf(label, sizeof label, "%d virtual cores, share of the ideal speed-up",
			 cores[c]);
		bench_figure(label, rows[c], SHARE, cores[c] <= 64 ? aim : "");
	}
	return bench_end();
}
