/* places.c - the places of a server's connections: a table of addresses, and lists of connections
 * that wait for their peers, the longest waiting first.
 *
 * Events that turn connections away use the places, too, and cannot wait as threads do: so the
 * lock is a plain mutex. It is held for a few instructions, and while a connection is shut down.
 *
 * Most requests take no lock. A connection that becomes busy stays in the lists; the search for
 * room removes it when it comes first. Such a connection goes to the end of the lists when it
 * waits again; any other does so at most once a second.
 */
#include "places.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include <weft/time.h>

#include "socket.h"

#define RELIST_TIME WEFT_SEC

/* A peer that has let nothing more be sent for so long does not take what waits for it. */
#define TAKE_TIME WEFT_SEC

/* Pauses before the next try: until a connection that was shut down is closed; and if none can be
 * shut down. */
#define CLOSE_TIME WEFT_MS
#define ROOM_TIME (50 * WEFT_MS)

enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

/* Most connections that have lost their places and are not closed yet: they exceed the server's
 * limit. */
enum { LEAVING_MOST = 128 };

/* Most connections looked at for one newcomer whose peers have said something that the server has
 * not read yet, or take what was sent. */
enum { LOOKS = 16 };

/* States of a place. UNLISTED: busy, and in no list. */
enum { NONE, WAITING, BUSY, UNLISTED, LOST };

enum { ALL, OWN };

struct list {
	struct conn_place *first, *last;
};

/* Taking: whose peers were seen to take what was sent, the first seen first. Nobody looks at them
 * again for TAKE_TIME: however many they are, they hide none that has stopped. */
struct lists {
	struct list waiting, taking;
};

struct address {
	uint64_t key;
	uint64_t count;
	struct lists lists;
	struct address *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	uint64_t most, most_of_address;
	uint64_t count, leaving;
	struct lists lists;
	struct address *buckets[BUCKETS];
} places;

/* Addresses */

/* IPv4 addresses are the same whichever way they are written. */
static uint64_t key_of(const struct sockaddr_storage *peer)
{
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)peer)->sin6_addr;
	uint32_t v4 = 0;
	uint64_t network = 0;

	if (peer->ss_family == AF_INET)
		return ((const struct sockaddr_in *)peer)->sin_addr.s_addr;
	if (peer->ss_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(v6)) {
		memcpy(&v4, &v6->s6_addr[12], sizeof v4);
		return v4;
	}
	memcpy(&network, v6, sizeof network);
	return network ^ UINT64_C(1) << 63; /* ::1 is not 0.0.0.0 */
}

/* Keeps a client with many addresses from choosing ones that all fall into one bucket. */
static uint64_t secret;

static unsigned bucket_of(uint64_t key)
{
	key = (key ^ secret) * 0x9e3779b97f4a7c15;
	key = (key ^ key >> 32 ^ secret) * 0x9e3779b97f4a7c15;
	return (unsigned)(key >> (64 - BUCKET_BITS));
}

static struct address **find(uint64_t key)
{
	struct address **at = &places.buckets[bucket_of(key)];

	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

/* Counts one more connection of the address. NULL: there is no memory. */
static struct address *count_in(uint64_t key)
{
	struct address **at = find(key);

	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		if (*at == NULL)
			return NULL;
		(*at)->key = key;
	}
	places.count++;
	(*at)->count++;
	return *at;
}

static void count_out(struct address *a)
{
	places.count--;
	if (--a->count == 0) {
		*find(a->key) = a->next;
		free(a);
	}
}

void places_init(uint64_t most, uint64_t most_of_address)
{
	places.most = most != 0 ? most : UINT64_MAX;
	places.most_of_address = most_of_address != 0 ? most_of_address : UINT64_MAX;
	if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret)
		secret = weft_now(); /* the machine has just been switched on */
}

/* Lists */

static void append(struct list *list, struct conn_place *p, int which)
{
	p->links[which] = (struct place_link){ .prev = list->last };
	if (list->last != NULL)
		list->last->links[which].next = p;
	else
		list->first = p;
	list->last = p;
}

static void take_out(struct list *list, struct conn_place *p, int which)
{
	struct place_link *link = &p->links[which];

	if (link->prev != NULL)
		link->prev->links[which].next = link->next;
	else
		list->first = link->next;
	if (link->next != NULL)
		link->next->links[which].prev = link->prev;
	else
		list->last = link->prev;
}

static struct list *list_of(struct lists *lists, const struct conn_place *p)
{
	return atomic_load(&p->taking) != 0 ? &lists->taking : &lists->waiting;
}

/* `taking`: until when nobody looks at it, or 0: it waits. */
static void enlist(struct conn_place *p, uint64_t taking)
{
	atomic_store(&p->taking, taking);
	append(list_of(&places.lists, p), p, ALL);
	append(list_of(&p->address->lists, p), p, OWN);
}

static void delist(struct conn_place *p)
{
	take_out(list_of(&places.lists, p), p, ALL);
	take_out(list_of(&p->address->lists, p), p, OWN);
}

/* Places */

static bool change(struct conn_place *p, int from, int to)
{
	return atomic_compare_exchange_strong(&p->state, &from, to);
}

static bool has_spoken(const struct conn_place *p)
{
	int size = 0;

	return !atomic_load(&p->yields) && ioctl(p->fd, FIONREAD, &size) == 0 && size > 0;
}

/* Does the peer take what was sent? While much waits for it the kernel sends some whenever the peer
 * has made room. By HTTP/2 none need wait in the kernel while the peer holds it up: so the server
 * tells when it sent some. */
static bool is_taking(const struct conn_place *p, uint64_t now)
{
	uint64_t sent = atomic_load(&p->sent);
	struct tcp_info info = { 0 };
	socklen_t size = sizeof info;
	int left = 0;

	if (sent != 0 && now < sent + TAKE_TIME)
		return true;
	return ioctl(p->fd, SIOCOUTQ, &left) == 0 && left > SOCKET_LEFT &&
	       getsockopt(p->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
	       info.tcpi_last_data_sent < TAKE_TIME / WEFT_MS;
}

static void evict(struct conn_place *p)
{
	delist(p);
	count_out(p->address);
	places.leaving++;
	shutdown(p->fd, SHUT_RDWR);
}

/* The next to be looked at, of the lists in turn. `kept`: where it comes first in its list, all there
 * have been looked at. */
static struct conn_place *next_of(const struct lists *lists, const struct conn_place *kept,
				  int looks, uint64_t now)
{
	struct conn_place *waiting = lists->waiting.first, *taking = lists->taking.first;

	if (waiting == kept)
		waiting = NULL;
	if (taking != NULL && now < atomic_load(&taking->taking))
		taking = NULL;
	if (waiting == NULL || taking == NULL)
		return waiting != NULL ? waiting : taking;
	return looks % 2 == 0 ? waiting : taking;
}

/* Takes its place from the first connection in the lists that still waits. Busy ones are taken off
 * the list: each has had a request. False: none waits, or too many are leaving already. */
static bool free_first(const struct lists *lists)
{
	struct conn_place *p, *kept = NULL;
	uint64_t now = weft_now();

	for (int looks = 0; looks < LOOKS && places.leaving < LEAVING_MOST;) {
		p = next_of(lists, kept, looks, now);
		if (p == NULL)
			break;
		if (change(p, BUSY, UNLISTED)) {
			delist(p);
		} else if (has_spoken(p)) {
			delist(p);
			enlist(p, 0);
			kept = kept != NULL ? kept : p;
			looks++;
		} else if (is_taking(p, now)) {
			delist(p);
			enlist(p, now + TAKE_TIME);
			looks++;
		} else if (change(p, WAITING, LOST)) {
			evict(p);
			return true;
		}
	}
	return false;
}

/* Has the address as many as it may have? */
static bool has_share(const struct address *a)
{
	return a != NULL && a->count >= places.most_of_address;
}

/* Makes sure that there is room for one more of the address. */
static bool has_room(uint64_t key)
{
	const struct address *a = *find(key);

	if (has_share(a))
		return free_first(&a->lists);
	return places.count < places.most || free_first(&places.lists);
}

bool place_take(struct conn_place *p, int fd, const struct sockaddr_storage *peer)
{
	uint64_t key = key_of(peer);

	pthread_mutex_lock(&lock);
	p->address = has_room(key) ? count_in(key) : NULL;
	if (p->address != NULL) {
		p->fd = fd;
		atomic_store(&p->state, WAITING);
		enlist(p, 0);
	}
	pthread_mutex_unlock(&lock);
	return p->address != NULL;
}

bool place_busy(struct conn_place *p)
{
	return change(p, WAITING, BUSY);
}

void place_wait(struct conn_place *p, uint64_t now)
{
	int state;

	if (now - p->listed < RELIST_TIME && atomic_load(&p->taking) == 0 &&
	    change(p, BUSY, WAITING))
		return;
	pthread_mutex_lock(&lock);
	state = atomic_load(&p->state);
	if (state == WAITING || state == BUSY)
		delist(p);
	if (state != LOST && state != NONE) {
		enlist(p, 0);
		atomic_store(&p->state, WAITING);
	}
	pthread_mutex_unlock(&lock);
	p->listed = now;
}

void place_yield(struct conn_place *p, bool yields)
{
	atomic_store(&p->yields, yields);
}

void place_sent(struct conn_place *p, uint64_t when)
{
	atomic_store(&p->sent, when);
}

void place_leave(struct conn_place *p)
{
	int state;

	pthread_mutex_lock(&lock);
	state = atomic_exchange(&p->state, NONE);
	if (state == WAITING || state == BUSY)
		delist(p);
	if (state == LOST)
		places.leaving--;
	else if (state != NONE)
		count_out(p->address);
	pthread_mutex_unlock(&lock);
}

struct address *place_of_address(const struct sockaddr_storage *peer)
{
	uint64_t key = key_of(peer);
	struct address *a;

	pthread_mutex_lock(&lock);
	a = has_share(*find(key)) ? NULL : count_in(key);
	pthread_mutex_unlock(&lock);
	return a;
}

void place_of_address_leave(struct address *a)
{
	pthread_mutex_lock(&lock);
	count_out(a);
	pthread_mutex_unlock(&lock);
}

uint64_t place_crowd(const struct conn_place *p)
{
	uint64_t count;
	int state;

	pthread_mutex_lock(&lock);
	state = atomic_load(&p->state);
	count = state == NONE || state == LOST ? 0 : p->address->count;
	pthread_mutex_unlock(&lock);
	return count;
}

uint64_t places_make_room(void)
{
	bool soon;

	pthread_mutex_lock(&lock);
	soon = free_first(&places.lists);
	pthread_mutex_unlock(&lock);
	return soon ? CLOSE_TIME : ROOM_TIME;
}
