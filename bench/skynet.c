/* skynet.c - a tree of 1,111,111 threads: each starts ten below it and adds up what they
 * send, down to a million leaves. */
#include "threads.h"

static const struct thread_case channels[] = {
	{ "channels, 1 core", { .cores = 1 }, { &peer_weft, &peer_go } },
	{ "channels, 2 cores", { .cores = 2 }, { &peer_weft, &peer_go } },
};
static const struct thread_case joins[] = {
	{ "joins, 1 core", { .cores = 1 }, { &peer_weft, &peer_go } },
	{ "joins, 2 cores", { .cores = 2 }, { &peer_weft, &peer_go } },
};

static const struct bench_plan plan = {
	.name = "skynet",
	.work = "a tree of 1,111,111 threads, ten below each but the leaves; sums go up by\n"
		"channels without room, or by joining (Go: a WaitGroup). On one core: CPU time",
	.metrics = { { "all", "ms", BENCH_LOWER } },
	.metric_count = 1,
	.repeats = 3,
};

int bench_skynet(void)
{
	struct bench_row *by_channel[BENCH_COUNT(channels)][THREAD_PEERS] = { 0 };
	struct bench_row *by_join[BENCH_COUNT(joins)][THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(channels); i++)
		thread_case_add(&channels[i], offsetof(struct thread_peer, skynet_channels),
				by_channel[i]);
	for (int i = 0; i < BENCH_COUNT(joins); i++)
		thread_case_add(&joins[i], offsetof(struct thread_peer, skynet_joins), by_join[i]);
	bench_run();
	for (int i = 0; i < BENCH_COUNT(channels); i++)
		thread_case_derive(&channels[i], by_channel[i], 0, BENCH_LOWER, "at least 3");
	for (int i = 0; i < BENCH_COUNT(joins); i++)
		thread_case_derive(&joins[i], by_join[i], 0, BENCH_LOWER, "at least 3");
	return bench_end();
}
