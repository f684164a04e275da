/* go.c - the peer Go: its program (peers/go.go) is run as a child. */
#include "threads.h"

#define PROGRAM "go"

PROGRAM_MEASURES(PROGRAM, yield, "yield")
PROGRAM_MEASURES(PROGRAM, spawn, "spawn")
PROGRAM_MEASURES(PROGRAM, mutex, "mutex")
PROGRAM_MEASURES(PROGRAM, ping_pong, "ping-pong")
PROGRAM_MEASURES(PROGRAM, stream, "stream")
PROGRAM_MEASURES(PROGRAM, produce, "produce")
PROGRAM_MEASURES(PROGRAM, parked, "parked")
PROGRAM_MEASURES(PROGRAM, skynet_channels, "skynet-channels")
PROGRAM_MEASURES(PROGRAM, skynet_joins, "skynet-joins")

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
