/* listen.h - listening sockets, and how many connections there may be. */
#ifndef HTTPD_LISTEN_H
#define HTTPD_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

/* What connections by a socket were like. */
struct listen_habit {
	_Atomic int ahead; /* by how many more had one request only, within bounds */
	_Atomic bool late; /* they are accepted with their first bytes */
};

/* As the settings say. If no address was given and its port is taken, one of the next will
 * do. The descriptor, or -Exxx, which was told on standard error. */
int listen_plain(void);
int listen_tls(void);

/* A connection by the socket `fd` has ended, and had one request only, or several. Where most have
 * but one they are accepted together with it: one thing to wake up for, not two. Where they are
 * kept they are accepted at once, so that all is made ready when the first request comes. */
void listen_learn(struct listen_habit *h, int fd, bool one_request);

/* Asks for as many descriptors as we may have. *numbers is how many that are; *most, how
 * many connections there may be: some are for files. 0 or -Exxx. */
int listen_room(uint64_t *numbers, uint64_t *most);

#endif
