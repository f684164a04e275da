/* switch.c - what it costs to let another thread run. */
#include "threads.h"

#define PEERS \
	{ \
		&peer_weft, &peer_st, &peer_pth, &peer_fiber, &peer_go, &peer_nptl \
	}

static const struct thread_case cases[] = {
	{ "2 threads", { .threads = 2, .rounds = 500000, .cores = 1 }, PEERS },
	{ "1,000 threads", { .threads = 1000, .rounds = 1000, .cores = 1 }, PEERS },
	{ "2 threads, 2 workers", { .threads = 2, .rounds = 500000, .cores = 2 }, { &peer_weft } },
	{ "2 threads, a color each",
	  { .threads = 2, .rounds = 500000, .cores = 1, .colors = 2 },
	  { &peer_weft } },
};

static const struct bench_plan plan = {
	.name = "switch",
	.work = "threads that yield to each other; on one core in CPU time;\n"
		"State Threads has no yield: each signals the next and waits for its turn",
	.metrics = { { "a switch", "ns", BENCH_LOWER } },
	.metric_count = 1,
	.repeats = 5,
};

int bench_switch(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)][THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_add(&cases[i], offsetof(struct thread_peer, yield), rows[i]);
	bench_run();
	bench_figure("a switch between two threads", rows[0][0], 0, "below 20");
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_derive(&cases[i], rows[i], 0, BENCH_LOWER, "above 1");
	return bench_end();
}
