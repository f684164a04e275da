/* fiber.c - the peer Boost.Fiber: its program (peers/fiber.cc) is run as a child. */
#include "threads.h"

#define PROGRAM "fiber"

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
