/* go.c - the peer Go: its program (peers/go.go) is run as a child. */
#include "threads.h"

#define PROGRAM "go"

#define MEASURE(name, word) \
	static int name(const void *arg, double *values) \
	{ \
		return program_work(PROGRAM, values, word, arg); \
	}

MEASURE(yield, "yield")
MEASURE(spawn, "spawn")
MEASURE(mutex, "mutex")
MEASURE(ping_pong, "ping-pong")
MEASURE(stream, "stream")
MEASURE(produce, "produce")
MEASURE(parked, "parked")
MEASURE(skynet_channels, "skynet-channels")
MEASURE(skynet_joins, "skynet-joins")

const struct thread_peer peer_go = {
	.name = "Go",
	.program = PROGRAM,
	.missing = "Go was not found when weft-bench was built (Debian: golang-go)",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
	.skynet_channels = skynet_channels,
	.skynet_joins = skynet_joins,
};
