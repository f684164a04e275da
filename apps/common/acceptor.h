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

/* Takes the result of weft_accept. Prints an error with the name of the call: once, and again only
 * if it comes back after a while. False: accepting always fails (a sandbox denies it, or the socket
 * does not listen), so the server should end. After errors other than -ECONNABORTED
 * sleep a little. */
bool acceptor_goes_on(struct acceptor *a, const char *program, int result);

#endif
