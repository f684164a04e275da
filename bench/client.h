/* client.h - load for echo servers: many connections, one message under way on each. */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include "server.h"

#define CLIENT_MESSAGE 64

/* A slow connection sends a message in two halves, with a pause in between, and
 * pauses again when it was answered. */
#define CLIENT_PAUSE_S 1.0

struct client_load {
	int connections;
	int slow; /* of them */
	double warm_s, seconds;
};

struct client_result {
	double requests_per_s;
	double p50_us, p99_us;
	double slow_p99_us; /* from the second half to its echo; NAN: there was none */
	double cpu_us;      /* of the server, a request */
};

/* Makes a connection to a port of the loopback; it is closed by a reset, as thousands of
 * ports must not wait for their end. Returns the descriptor or -Exxx. */
int client_connect(int port);

/* Loads the server for a while, from the calling thread. Returns 0 or -Exxx. */
int client_run(const struct server *server, const struct client_load *load,
	       struct client_result *result);

/* Opens connections, and has one message echoed on each. Returns 0 or -Exxx. */
int client_connect_idle(const struct server *server, int connections);

#endif
