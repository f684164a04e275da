/* fiber.c - the peer Boost.Fiber: its program (peers/fiber.cc) is run as a child. */
#include "threads.h"

#define PROGRAM "fiber"

PROGRAM_MEASURES(PROGRAM, yield, "yield")
PROGRAM_MEASURES(PROGRAM, spawn, "spawn")
PROGRAM_MEASURES(PROGRAM, mutex, "mutex")
PROGRAM_MEASURES(PROGRAM, ping_pong, "ping-pong")
PROGRAM_MEASURES(PROGRAM, stream, "stream")
PROGRAM_MEASURES(PROGRAM, produce, "produce")
PROGRAM_MEASURES(PROGRAM, parked, "parked")

const struct thread_peer peer_fiber = {
	.name = "Boost.Fiber",
	.program = PROGRAM,
	.missing = "Boost.Fiber was not found when weft-bench was built "
		   "(Debian: libboost-fiber-dev)",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
};
