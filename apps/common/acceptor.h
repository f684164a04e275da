/* acceptor.h - what a server does when no connection can be accepted. */
#ifndef COMMON_ACCEPTOR_H
#define COMMON_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

/* One for each thread that accepts; all zeros before the first. */
struct acceptor {
	int error;     /* of the last failure */
	uint64_t last; /* when that was */
	unsigned row;  /* refusals since a connection was accepted */
};

/* Takes what weft_accept gave. An error is printed once, with the name of the call, until it stays
 * away for a while. False: it will always fail (a sandbox denies it, or it is no listening socket),
 * so that the server should end. After any other error but -ECONNABORTED wait a little. */
bool acceptor_goes_on(struct acceptor *a, const char *program, int result);

#endif
