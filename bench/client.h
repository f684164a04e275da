/* client.h - load for servers: many connections, one request under way on each. Echo servers
 * are sent messages, web servers are asked for files.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include "server.h"

#define CLIENT_MESSAGE 64

/* A slow connection sends a message in two halves, with a pause in between, and
 * pauses again when it was answered. */
#define CLIENT_PAUSE_S 1.0

/* Clients of web servers come at such a rate. */
#define CLIENT_CONNECTS_PER_S 16e3

/* A request for a file, and the size of the file. */
struct client_question {
	char text[120];
	int size, body;
};

struct client_load {
	int connections;
	int slow; /* of them; echo servers only */
	double warm_s, seconds;

	/* For web servers: gives the next request, at random; NULL: messages are echoed. */
	const struct client_question *(*choose)(uint64_t *random);
	int per_connection;                    /* requests, then a new one is made; 0: no end */
	double pause_s;                        /* between requests of a connection */
	int ports[ECHO_LOOPS_MAX], port_count; /* of the servers */
};

struct client_result {
	double requests_per_s;
	double p50_us, p99_us;
	double slow_p99_us; /* from the second half to its echo; NAN: there was none */
	double cpu_us;      /* of the server, a request; not by client_go */
	double resident;    /* bytes of the server in the end; as cpu_us, for echo servers */
	double bytes_per_s; /* of bodies */
	double failed;      /* part of the requests that had no good answer */
};

/* Makes a connection to a port of the loopback; it is closed by a reset, as thousands of
 * ports must not wait for their end. Returns the descriptor or -Exxx. */
int client_connect(int port);

/* Loads web servers for load->warm_s, which does not count. Then client_go loads them for
 * load->seconds and tells what it saw. Both return 0 or -Exxx. */
int client_begin(const struct client_load *load);
int client_go(struct client_result *result);

/* Starts an echo server, of a peer or of weft (NULL), loads it for a while from the calling
 * thread, and ends it. With one loop, server and client have a CPU each. Returns 0 or -Exxx. */
int client_measure(const struct peer *peer, struct echo_server settings,
		   const struct client_load *load, struct client_result *result);

/* Opens connections, and has one message echoed on each. Returns 0 or -Exxx. */
int client_connect_idle(const struct server *server, int connections);

#endif
