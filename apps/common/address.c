/* address.c - a table of addresses in shards, each under a lock.
 *
 * Events that turn connections away use it too, and cannot wait as threads do: so these are
 * plain mutexes. They are held for a few instructions only, never across a wait.
 */
#include "address.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <weft/time.h>

enum { SHARD_BITS = 12, SHARDS = 1 << SHARD_BITS };

struct address {
	uint64_t key;
	uint64_t count;
	struct address *next;
};

static uint64_t most; /* connections of one address */

static struct {
	pthread_mutex_t lock;
	struct address *first;
} shards[SHARDS] = { [0 ... SHARDS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER } };

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

/* Who has many addresses must not be able to choose ones that are all in one shard. */
static uint64_t secret;

void address_init(uint64_t limit)
{
	most = limit;
	if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != (ssize_t)sizeof secret)
		secret = weft_now(); /* the machine has just been switched on */
}

static unsigned shard_of(uint64_t key)
{
	key = (key ^ secret) * 0x9e3779b97f4a7c15;
	key = (key ^ key >> 32 ^ secret) * 0x9e3779b97f4a7c15;
	return (unsigned)(key >> (64 - SHARD_BITS));
}

static struct address **find(unsigned shard, uint64_t key)
{
	struct address **at = &shards[shard].first;

	while (*at != NULL && (*at)->key != key)
		at = &(*at)->next;
	return at;
}

static bool add(struct address **at, uint64_t key)
{
	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		if (*at == NULL)
			return false;
		(*at)->key = key;
	}
	if ((*at)->count >= most)
		return false;
	(*at)->count++;
	return true;
}

bool address_add(const struct sockaddr_storage *peer)
{
	uint64_t key = key_of(peer);
	unsigned shard = shard_of(key);
	bool added;

	if (most == 0)
		return true;
	pthread_mutex_lock(&shards[shard].lock);
	added = add(find(shard, key), key);
	pthread_mutex_unlock(&shards[shard].lock);
	return added;
}

void address_remove(const struct sockaddr_storage *peer)
{
	uint64_t key = key_of(peer);
	unsigned shard = shard_of(key);
	struct address **at, *gone;

	if (most == 0)
		return;
	pthread_mutex_lock(&shards[shard].lock);
	at = find(shard, key);
	gone = *at;
	if (gone != NULL && --gone->count == 0) {
		*at = gone->next;
		free(gone);
	}
	pthread_mutex_unlock(&shards[shard].lock);
}
