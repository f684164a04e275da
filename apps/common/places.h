/* places.h - the places of a server's connections, and which connection goes when all are taken.
 *
 * The places are limited, in all and for each address. While a connection waits for its peer, it
 * can lose its place to a newcomer; the connection that has waited longest loses it first. A
 * connection that is busy, or has input that is not read yet, keeps its place, unless it yields. So
 * does a connection whose peer has taken some of what is to be sent within the last second.
 */
#ifndef COMMON_PLACES_H
#define COMMON_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <weft/def.h>

struct conn_place;
struct address;

/* Neighbors in a list of places. */
struct place_link {
	struct conn_place *next, *prev;
};

/* All zeros: no place is held. */
struct conn_place {
	struct place_link links[2]; /* in the list of all, and in that of its address */
	struct address *address;
	uint64_t listed; /* when it last went to the end of both lists; 0: not since taken */
	int fd;
	_Atomic int state;
	_Atomic bool yields;
	_Atomic uint64_t taking; /* in the lists of those that take: until when; else 0 */
	_Atomic uint64_t sent;   /* as place_sent told */
};

/* Sets the limits (0: none), before the first connection. One IPv6 network of 64 bits counts as one
 * address. */
void places_init(uint64_t most, uint64_t most_of_address);

/* Takes a place for the connection `fd`, which waits for its peer from now on. If no place is free,
 * takes that of the connection that has waited longest, and shuts that connection down: its owner
 * then reads the end of its input. False: all others are busy. */
WEFT_NO_WAIT bool place_take(struct conn_place *p, int fd, const struct sockaddr_storage *peer);

/* The connection is busy from now on. False: it has lost its place, and must end. */
WEFT_NO_WAIT bool place_busy(struct conn_place *p);

/* The connection waits for its peer again. Waiting connections are ordered to the second. */
WEFT_NO_WAIT void place_wait(struct conn_place *p, uint64_t now);

/* While a waiting connection yields, input that is not read yet does not protect its place: for one
 * that waits until the server has time for what the peer has said, or until the peer has taken what
 * was sent. */
WEFT_NO_WAIT void place_yield(struct conn_place *p, bool yields);

/* For a server that holds bytes back until the peer lets it send them: when it last sent some, or 0:
 * it holds none back. Of bytes in the kernel the places know themselves. */
WEFT_NO_WAIT void place_sent(struct conn_place *p, uint64_t when);

/* Gives the place back, if one is held: before `fd` is closed. */
WEFT_NO_WAIT void place_leave(struct conn_place *p);

/* For connections that never wait for their peers, and so keep their places: counts one more of the
 * address. NULL: it has as many as it may. */
WEFT_NO_WAIT struct address *place_of_address(const struct sockaddr_storage *peer);
WEFT_NO_WAIT void place_of_address_leave(struct address *a);

/* How many places the address of a connection has; 0 where the connection itself has none. */
WEFT_NO_WAIT uint64_t place_crowd(const struct conn_place *p);

/* For a shortage of descriptors or memory: shuts down the connection that has waited longest.
 * Returns how long to sleep before the next try. */
WEFT_NO_WAIT uint64_t places_make_room(void);

#endif
