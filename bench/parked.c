/* parked.c - a million threads that wait: what it takes to make them, to keep them and
 * to wake them all.
 *
 * The memory is what the kernel says is resident for the process (VmRSS) and its page
 * tables (VmPTE), after all threads have begun to wait and before they are woken. The
 * first touch of every page is in the time to start. */
#include "threads.h"

#define MILLION 1000000

static const struct thread_case cases[] = {
	{ "1,000,000 threads",
	  { .threads = MILLION, .cores = 1 },
	  { &peer_weft, &peer_fiber, &peer_go } },
	{ "1,000,000 threads, a color each",
	  { .threads = MILLION, .cores = 1, .colors = MILLION },
	  { &peer_weft } },
	{ "1,000,000 threads, a color each, 2 workers",
	  { .threads = MILLION, .cores = 2, .colors = MILLION },
	  { &peer_weft } },
	{ "100,000 threads",
	  { .threads = 100000, .cores = 1 },
	  { &peer_weft, &peer_fiber, &peer_go } },
	{ "10,000 threads",
	  { .threads = 10000, .cores = 1 },
	  { &peer_weft, &peer_st, &peer_fiber, &peer_go, &peer_nptl } },
};

static const struct bench_plan plan = {
	.name = "parked",
	.work = "threads are started and wait for a condition; then all are woken and joined;\n"
		"memory is what is resident, page tables included. With one worker: CPU time",
	.metrics = { { "to start one", "ns", BENCH_LOWER },
		     { "to wake and join one", "ns", BENCH_LOWER },
		     { "memory", "B/thread", BENCH_LOWER } },
	.metric_count = 3,
	.repeats = 3,
	.limit_s = 120,
};

int bench_parked(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)][THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_add(&cases[i], offsetof(struct thread_peer, parked), rows[i]);
	bench_run();
	bench_figure("memory of a parked thread", rows[0][0], 2, "at most 4700");
	return bench_end();
}
