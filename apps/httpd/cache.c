/* cache.c - a table of files in shards, each under a lock for many readers.
 *
 * A file never changes once it is in the table: a newer one takes its place. So a reader
 * holds the lock for a few instructions only, until it has counted itself as a holder of
 * the file. A color for the cache, as libasync-mp had one, would be as safe, but cost each
 * request two switches; here hits of all workers go on at the same time.
 */
#include "cache.h"

#include <stdlib.h>

#include <weft/weft.h>

#include "counters.h"
#include "settings.h"

/* Each shard has its part of the memory that the settings allow, and of descriptors. */
enum { SHARDS = 16, BUCKETS = 256, DESCRIPTORS = 16 };

struct shard {
	_Alignas(64) weft_rwlock lock;
	struct file *buckets[BUCKETS];
	struct file *newest, *oldest;
	size_t bytes;
	unsigned descriptors;
};

static struct shard shards[SHARDS];

static uint64_t hash_of(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *path != '\0'; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	return hash ^ hash >> 32;
}

static struct shard *shard_of(uint64_t hash)
{
	return &shards[hash % SHARDS];
}

static struct file **find(struct shard *s, uint64_t hash, const char *path)
{
	struct file **at = &s->buckets[hash / SHARDS % BUCKETS];

	while (*at != NULL && ((*at)->hash != hash || strcmp((*at)->path, path) != 0))
		at = &(*at)->next;
	return at;
}

static size_t cost_of(const struct file *f)
{
	return sizeof *f + f->path_size + (f->body != NULL ? f->size : 0);
}

/* The order of age */

static void add_newest(struct shard *s, struct file *f)
{
	f->newer = NULL;
	f->older = s->newest;
	if (s->newest != NULL)
		s->newest->newer = f;
	else
		s->oldest = f;
	s->newest = f;
}

static void take_out(struct shard *s, struct file *f)
{
	if (f->newer != NULL)
		f->newer->older = f->older;
	else
		s->newest = f->older;
	if (f->older != NULL)
		f->older->newer = f->newer;
	else
		s->oldest = f->newer;
}

/* Adding and forgetting, under the lock */

static void forget(struct shard *s, struct file *f)
{
	*find(s, f->hash, f->path) = f->next;
	take_out(s, f);
	s->bytes -= cost_of(f);
	s->descriptors -= f->fd >= 0;
	f->cached = false;
	file_drop(f);
}

/* Those that were used since the last look get another round. */
static void make_room(struct shard *s)
{
	while (s->bytes > settings.cache_size / SHARDS || s->descriptors > DESCRIPTORS) {
		struct file *f = s->oldest;

		if (!atomic_exchange(&f->used, false)) {
			forget(s, f);
			continue;
		}
		take_out(s, f);
		add_newest(s, f);
	}
}

static void add(struct shard *s, struct file *f)
{
	struct file **at = find(s, f->hash, f->path);

	if (*at != NULL)
		forget(s, *at);
	at = find(s, f->hash, f->path);
	f->next = *at;
	*at = f;
	f->cached = true;
	atomic_fetch_add(&f->holders, 1);
	add_newest(s, f);
	s->bytes += cost_of(f);
	s->descriptors += f->fd >= 0;
	make_room(s);
}

/* Looking up */

static struct file *look_up(struct shard *s, uint64_t hash, const char *path)
{
	struct file *f;

	weft_rwlock_rdlock(&s->lock);
	f = *find(s, hash, path);
	if (f != NULL)
		atomic_fetch_add_explicit(&f->holders, 1, memory_order_relaxed);
	weft_rwlock_unlock(&s->lock);
	return f;
}

/* Of those who find a file old one looks at the disk; the others take it as it is. */
static bool still_good(struct file *f)
{
	uint64_t now = weft_now(), checked = atomic_load(&f->checked);

	if (now - checked < settings.cache_time * WEFT_MS)
		return true;
	return !atomic_compare_exchange_strong(&f->checked, &checked, now) || file_is_fresh(f);
}

int cache_get(const char *path, struct file **file)
{
	uint64_t hash = hash_of(path);
	struct shard *s = shard_of(hash);
	struct file *f = look_up(s, hash, path);
	int rc;

	if (f != NULL && still_good(f)) {
		count(COUNT_CACHE_HITS, 1);
		if (!atomic_load_explicit(&f->used, memory_order_relaxed))
			atomic_store_explicit(&f->used, true, memory_order_relaxed);
		*file = f;
		return 0;
	}
	count(COUNT_CACHE_LOADS, 1);
	rc = file_open(path, file);
	if (rc < 0 && f == NULL)
		return rc;
	weft_rwlock_wrlock(&s->lock);
	if (f != NULL && f->cached)
		forget(s, f);
	if (rc == 0) {
		(*file)->hash = hash;
		add(s, *file);
	}
	weft_rwlock_unlock(&s->lock);
	if (f != NULL)
		file_drop(f);
	return rc;
}

void cache_clear(void)
{
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &shards[i];

		weft_rwlock_wrlock(&s->lock);
		while (s->oldest != NULL)
			forget(s, s->oldest);
		weft_rwlock_unlock(&s->lock);
	}
}
