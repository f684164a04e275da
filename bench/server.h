/* server.h - echo servers in processes of their own. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include "peer.h"

/* An echo server of Weft; the argument is a struct echo_server. Serves until it
 * is killed. */
void server_weft(const void *echo_server);

/* The same with a thread for each connection: what weft_run runs then. */
int server_threads_app(void *echo_server);

/* Adds a row for a server of Weft on the backend `io`, or says that this system
 * does not have it. */
struct bench_row *server_add_weft(const char *label, const char *io, bench_measure *fn,
				  const void *arg);

struct server {
	int pid;
	int port;
};

/* Starts `serve` in a child, on a free port of the loopback. `pin` is the CPU
 * that it is kept on (the nth that may be used), or -1. Returns 0 or -Exxx. */
int server_start(struct server *server, struct echo_server settings,
		 void (*serve)(const void *echo_server), int pin);
/* Runs a program of Weft as a server, which listens on a free port and prints it first: `told`
 * is a format of scanf for that. Returns 0 or -Exxx. */
struct server_program {
	const char *const *arguments; /* the first is its path; NULL at the end */
	const char *told;
	const char *io;
	int workers; /* 0: one for each CPU */
};
int server_start_program(struct server *server, const struct server_program *program);
/* Ends it. `result` is what the client got; if the server had ended by itself,
 * that is the reason to give. Returns the result. */
int server_stop(const struct server *server, int result);

#endif
