/* conn.h - one connection, from its first byte to its last. */
#ifndef HTTPD_CONN_H
#define HTTPD_CONN_H

#include <sys/socket.h>

#include "stream.h"

struct desk;

struct conn {
	struct stream stream;
	struct desk *desk; /* while something is answered, or NULL */
	struct sockaddr_storage peer;
	uint64_t requests;    /* that were answered */
	uint64_t idle_until;  /* then it is closed, if no request begins */
	uint64_t pause_until; /* then it gives its memory back until one does */
	bool busy;            /* with a request: the connection keeps its place */
	bool politely;        /* the peer may still be sending when we close */
};

/* Answers requests until one side has enough; then all is as before, but for stream_close.
 * In a thread of a color of its own. */
void conn_serve(struct conn *c);

#endif
