/* places.h - the places of a server's connections, and which connection goes when all are taken.
 *
 * There are so many places in all, and so many for each address. While a connection waits for its
 * peer, it can lose its place: a newcomer takes that of the connection which has waited longest.
 * A busy connection keeps its place, and so does one whose peer has said something that is not
 * read yet.
 */
#ifndef COMMON_PLACES_H
#define COMMON_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

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
	uint64_t listed; /* when it was last put at the end of both; 0: when it was taken */
	int fd;
	_Atomic int state;
};

/* Before the first connection; 0: any number. One IPv6 network of 64 bits counts as one address. */
void places_init(uint64_t most, uint64_t most_of_address);

/* Takes a place for the connection `fd`, which waits for its peer from now on. If there is none,
 * it takes that of the connection which has waited longest, and shuts that connection down: its
 * owner finds the input at its end. False: all others are busy. */
bool place_take(struct conn_place *p, int fd, const struct sockaddr_storage *peer);

/* The connection is busy from now on. False: it has lost its place, and must end. */
bool place_busy(struct conn_place *p);

/* The connection waits for its peer again. The order of those that wait is right to the second. */
void place_wait(struct conn_place *p, uint64_t now);

/* Gives the place back, if one is held: before `fd` is closed. */
void place_leave(struct conn_place *p);

/* For connections that never wait for their peers, and so keep their places: counts one more of the
 * address. NULL: it has as many as it may. */
struct address *place_of_address(const struct sockaddr_storage *peer);
void place_of_address_leave(struct address *a);

/* How many places the address of a connection has; 0 where the connection itself has none. */
uint64_t place_crowd(const struct conn_place *p);

/* Shuts the connection down that has waited longest: descriptors or memory have run out. Gives how
 * long to wait before a new try. */
uint64_t places_make_room(void);

#endif
