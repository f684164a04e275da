/* channel.c - what it costs to send a message to another thread.
 *
 * Between cores two limits are measured beside: a word between two spinning kernel
 * threads, which is what the caches allow, and MPI over shared memory, which spins
 * too. All others sleep when they have to wait for long.
 */
#include "spin.h"

#define PEERS \
	{ \
		&peer_weft, &peer_st, &peer_pth, &peer_fiber, &peer_go, &peer_nptl \
	}
#define PEERS_CORES \
	{ \
		&peer_weft, &peer_fiber, &peer_go, &peer_nptl \
	}

static int mpi_ping_pong(const void *arg, double *values)
{
	return program_work("mpi", values, "ping-pong", arg);
}

static const struct thread_peer peer_mpi = {
	.name = "OpenMPI",
	.program = "mpi",
	.missing = "MPI was not found when weft-bench was built "
		   "(Debian: libopenmpi-dev openmpi-bin)",
	.ping_pong = mpi_ping_pong,
};
static const struct thread_peer peer_spin = { .name = "spinning", .ping_pong = spin_ping_pong };

/* Left to themselves, the runtimes run two threads that talk on one core. */
static const struct thread_case ping_pongs[] = {
	{ "to and fro, room for 1",
	  { .threads = 2, .rounds = 300000, .cores = 1, .depth = 1 },
	  PEERS },
	{ "to and fro, no room",
	  { .threads = 2, .rounds = 300000, .cores = 1 },
	  { &peer_weft, &peer_fiber, &peer_go } },
	{ "to and fro, 2 cores to choose from",
	  { .threads = 2, .rounds = 300000, .cores = 2, .colors = 2, .depth = 1 },
	  { &peer_weft, &peer_go } },
	{ "to and fro between 2 cores",
	  { .threads = 2, .rounds = 100000, .cores = 2, .colors = 2, .depth = 1, .apart = true },
	  { &peer_weft, &peer_fiber, &peer_nptl } },
};
#define BETWEEN 3
static const struct thread_case limits = { "to and fro between 2 cores",
					   { .rounds = 300000 },
					   { &peer_spin, &peer_mpi } };
static const struct thread_case streams[] = {
	{ "one way, room for 128",
	  { .threads = 2, .rounds = 1000000, .cores = 1, .depth = 128 },
	  PEERS },
	{ "one way, room for 128, 2 cores to choose from",
	  { .threads = 2, .rounds = 1000000, .cores = 2, .depth = 128, .colors = 2 },
	  { &peer_weft, &peer_go } },
	{ "one way, room for 128, between 2 cores",
	  { .threads = 2, .rounds = 1000000, .cores = 2, .depth = 128, .colors = 2, .apart = true },
	  { &peer_weft, &peer_fiber, &peer_nptl } },
};

static const struct bench_plan plan = {
	.name = "channel",
	.work = "messages of 8 bytes: to and fro between two threads over two channels, or many\n"
		"one way; a ring, mutex and conditions where there are no channels. On one core:\n"
		"CPU time. 2 cores: the time, which on a noisy machine says more about the noise",
	.metrics = { { "a message", "ns", BENCH_LOWER } },
	.metric_count = 1,
	.repeats = 5,
};

int bench_channel(void)
{
	struct bench_row *pings[BENCH_COUNT(ping_pongs)][THREAD_PEERS] = { 0 };
	struct bench_row *flows[BENCH_COUNT(streams)][THREAD_PEERS] = { 0 };
	struct bench_row *limit[THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(ping_pongs); i++)
		thread_case_add(&ping_pongs[i], offsetof(struct thread_peer, ping_pong), pings[i]);
	thread_case_add(&limits, offsetof(struct thread_peer, ping_pong), limit);
	for (int i = 0; i < BENCH_COUNT(streams); i++)
		thread_case_add(&streams[i], offsetof(struct thread_peer, stream), flows[i]);
	bench_run();
	for (int i = 0; i < BENCH_COUNT(ping_pongs); i++)
		thread_case_derive(&ping_pongs[i], pings[i], 0, BENCH_LOWER, "above 1");
	for (int i = 0; i < BENCH_COUNT(streams); i++)
		thread_case_derive(&streams[i], flows[i], 0, BENCH_LOWER, "above 1");
	bench_ratio("between cores: weft / spinning kernel threads", pings[BETWEEN][0], limit[0], 0,
		    BENCH_LOWER, "");
	bench_ratio("between cores: weft / OpenMPI", pings[BETWEEN][0], limit[1], 0, BENCH_LOWER,
		    "");
	return bench_end();
}
