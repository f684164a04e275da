/* spawn.c - what it costs to start a thread and to join it. */
#include "threads.h"

#define PEERS \
	{ \
		&peer_weft, &peer_st, &peer_pth, &peer_fiber, &peer_go, &peer_nptl \
	}

static const struct thread_case cases[] = {
	{ "1 at a time", { .threads = 1, .rounds = 100000, .cores = 1 }, PEERS },
	{ "1,000 at a time", { .threads = 1000, .rounds = 100, .cores = 1 }, PEERS },
	{ "1 at a time, 2 workers",
	  { .threads = 1, .rounds = 100000, .cores = 2 },
	  { &peer_weft } },
	{ "1,000 at a time, a color each",
	  { .threads = 1000, .rounds = 100, .cores = 1, .colors = 1000 },
	  { &peer_weft } },
	{ "1,000 at a time, a color each, 2 workers",
	  { .threads = 1000, .rounds = 100, .cores = 2, .colors = 1000 },
	  { &peer_weft } },
};

static const struct bench_plan plan = {
	.name = "spawn",
	.work = "threads that do nothing are started, then joined (Go: a WaitGroup); on one core\n"
		"in CPU time",
	.metrics = { { "start and join", "ns", BENCH_LOWER } },
	.metric_count = 1,
	.repeats = 5,
};

int bench_spawn_join(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)][THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_add(&cases[i], offsetof(struct thread_peer, spawn), rows[i]);
	bench_run();
	bench_figure("to start and join one", rows[0][0], 0, "below 60");
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_derive(&cases[i], rows[i], 0, BENCH_LOWER, "above 1");
	return bench_end();
}
