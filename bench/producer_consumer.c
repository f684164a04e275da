/* producer_consumer.c - Capriccio's figure 1: producers and consumers share a buffer,
 * and there may be any number of them.
 *
 * Half of the threads produce, half consume, and consuming takes a random while. All
 * have one buffer, one mutex and two conditions. What is to be seen is that the
 * number of threads does not matter.
 */
#include "threads.h"

#define ITEMS 1000000
#define ROOM 128

/* Where there are many threads there are more items, so that what is measured is passing
 * them on and not, as in spawn and parked, how threads begin and end.
 * Left out because one run would take half a minute and more: State Threads with 10,000
 * threads or more, GNU Pth with 100. NPTL stops at 10,000. */
static const struct thread_case cases[] = {
	{ "2 threads",
	  { .threads = 2, .rounds = ITEMS, .cores = 1, .depth = ROOM },
	  { &peer_weft, &peer_st, &peer_pth, &peer_fiber, &peer_go, &peer_nptl } },
	{ "100 threads",
	  { .threads = 100, .rounds = ITEMS, .cores = 1, .depth = ROOM },
	  { &peer_weft, &peer_st, &peer_fiber, &peer_go, &peer_nptl } },
	{ "10,000 threads",
	  { .threads = 10000, .rounds = ITEMS, .cores = 1, .depth = ROOM },
	  { &peer_weft, &peer_fiber, &peer_go, &peer_nptl } },
	{ "100,000 threads",
	  { .threads = 100000, .rounds = 10 * ITEMS, .cores = 1, .depth = ROOM },
	  { &peer_weft, &peer_fiber, &peer_go } },
	{ "1,000,000 threads",
	  { .threads = 1000000, .rounds = 32 * ITEMS, .cores = 1, .depth = ROOM },
	  { &peer_weft, &peer_fiber, &peer_go } },
	{ "10,000 threads, 2 colors, 2 cores",
	  { .threads = 10000, .rounds = ITEMS, .cores = 2, .depth = ROOM, .colors = 2 },
	  { &peer_weft, &peer_go, &peer_nptl } },
};
#define FLAT_LAST 4

static const struct bench_plan plan = {
	.name = "producer-consumer",
	.work = "half of the threads put items into a buffer of 128, half take them out and\n"
		"work for up to 200 cycles; one mutex, two conditions; on one core a second is\n"
		"one of CPU time (Capriccio, figure 1)",
	.metrics = { { "items", "K/s", BENCH_HIGHER } },
	.metric_count = 1,
	.repeats = 3,
	.limit_s = 120,
};

int bench_producer_consumer(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)][THREAD_PEERS] = { 0 };
	struct bench_row *flat[FLAT_LAST + 1];

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_add(&cases[i], offsetof(struct thread_peer, produce), rows[i]);
	bench_run();
	for (int i = 0; i <= FLAT_LAST; i++)
		flat[i] = rows[i][0];
	bench_ratio("weft from 2 to 1,000,000 threads, least / most",
		    flat[bench_pick(flat, FLAT_LAST + 1, 0, BENCH_LOWER)],
		    flat[bench_pick(flat, FLAT_LAST + 1, 0, BENCH_HIGHER)], 0, BENCH_HIGHER,
		    "1: flat");
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		thread_case_derive(&cases[i], rows[i], 0, BENCH_HIGHER, "above 1");
	return bench_end();
}
