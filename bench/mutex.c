/* mutex.c - what it costs to lock and unlock a mutex. */
#include "threads.h"

#define PEERS \
	{ \
		&peer_weft, &peer_st, &peer_pth, &peer_fiber, &peer_go, &peer_nptl \
	}

enum { ONE_COLOR, SHARED };

static const struct thread_case cases[] = {
	[ONE_COLOR] = { "uncontended", { .threads = 1, .rounds = 3000000, .cores = 1 }, PEERS },
	/* The main thread has used it before, in another color: it is shared for good. */
	[SHARED] = { "uncontended, shared by 2 colors",
		     { .threads = 1, .rounds = 3000000, .cores = 1, .colors = 1 },
		     { &peer_weft } },
	/* For long enough that the kernel has put them on two CPUs. */
	{ "2 threads, 2 cores",
	  { .threads = 2, .rounds = 20000000, .cores = 2, .colors = 2, .apart = true },
	  { &peer_weft, &peer_fiber, &peer_go, &peer_nptl } },
};

static const struct bench_plan plan = {
	.name = "mutex",
	.work = "a mutex locked, a number counted up, unlocked; on one core in CPU time;\n"
		"2 cores: nothing is done in between, and needs a quiet machine",
	.metrics = { { "a pair", "ns", BENCH_LOWER } },
	.metric_count = 1,
	.repeats = 5,
};

int bench_mutex(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)][THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_add(&cases[i], offsetof(struct thread_peer, mutex), rows[i]);
	bench_run();
	bench_figure("a pair in one color", rows[ONE_COLOR][0], 0, "below 5");
	bench_figure("a pair across colors", rows[SHARED][0], 0, "below 19");
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_derive(&cases[i], rows[i], 0, BENCH_LOWER, "above 1");
	return bench_end();
}
