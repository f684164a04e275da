/* pool.c - reserved space, a shared stock, caches of one thread. */
#include "base/pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/fault.h"
#include "base/report.h"

enum {
	FRESH = WF_POOL_CACHE / 2, /* records never used that a cache gets at a time */
	AHEAD = 4,                 /* records that are fetched before they are asked for */
	DUMPED = 16 << 20,         /* bytes that a core dump has at first; several huge pages */
};

_Static_assert(FRESH > 0, "a cache gets at least one");

/* A record's share of the reserved space: itself, and its place in the stock. */
static inline size_t share(const struct wf_pool *pool)
{
	return pool->size + sizeof *pool->stock;
}

/* A process with a limit on its address space keeps most of it for itself. */
static size_t allowed_room(size_t size, size_t room)
{
	struct rlimit as;

	if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY &&
	    room > as.rlim_cur / 16 / size)
		room = as.rlim_cur / 16 / size;
	return room;
}

int wf_pool_init(struct wf_pool *pool, size_t size, size_t room, size_t limit)
{
	const size_t least = 1024;
	int err = -ENOMEM;

	WF_ASSERT(size % sizeof *pool->stock == 0); /* the stock lies behind the records */
	*pool = (struct wf_pool){ .size = size };
	wf_lock_init(&pool->lock, WF_RANK_POOL);
	room = allowed_room(share(pool), room);
	if (room < least)
		room = least;
	/* A rlimit or strict overcommit may forbid what is only a reservation. */
	for (;; room /= 2) {
		void *at;

		if (room < least || WF_FAULT(ENOMEM))
			return wf_denied("mmap", err);
		at = mmap(NULL, room * share(pool), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED) {
			err = -errno;
			continue;
		}
		/* Else a core dump would be of all that is reserved: tens of gigabytes, which
		 * not everybody who is handed a dump takes for holes. */
		(void)madvise(at, room * share(pool), MADV_DONTDUMP);
		pool->base = at;
		pool->stock = (void **)(void *)(pool->base + room * size);
		pool->room = room;
		pool->limit = limit;
		return 0;
	}
}

void wf_pool_fini(struct wf_pool *pool)
{
	if (pool->base != NULL)
		munmap(pool->base, pool->room * share(pool));
	pool->base = NULL;
}

void wf_pool_reset(struct wf_pool *pool)
{
	wf_lock_take(&pool->lock);
	pool->fresh = 0;
	pool->stocked = 0;
	atomic_store(&pool->used, 0);
	wf_lock_give(&pool->lock);
}

/* Twice as much each time: a call of the kernel is seldom needed. */
static void let_dump(struct wf_pool *pool) WF_REQUIRES(pool->lock)
{
	size_t all = pool->room * pool->size, now = pool->dumped;
	size_t next = now > 0 ? 2 * now : DUMPED;

	while (next < pool->fresh * pool->size)
		next *= 2;
	pool->dumped = next < all ? next : all;
	(void)madvise(pool->base + now, pool->dumped - now, MADV_DODUMP);
}

/* Cuts off up to `count` records of the space never used, the first last. The last
 * eighth is for those who cannot take a no. */
static unsigned cut(struct wf_pool *pool, void **items, unsigned count, bool must)
	WF_REQUIRES(pool->lock)
{
	size_t room = must ? pool->room : pool->room - pool->room / 8;
	size_t left = room > pool->fresh ? room - pool->fresh : 0;

	if (count > left)
		count = (unsigned)left;
	for (unsigned i = count; i > 0; i--)
		items[i - 1] = pool->base + pool->fresh++ * pool->size;
	if (WF_UNLIKELY(pool->fresh * pool->size > pool->dumped))
		let_dump(pool);
	return count;
}

/* Up to `count` from the stock, else fresh ones: several for a cache, or threads
 * that get what others put would meet at the lock for each. */
static unsigned refill(struct wf_pool *pool, void **items, unsigned count, bool must)
{
	wf_lock_take(&pool->lock);
	if (pool->stocked > 0) {
		if (count > pool->stocked)
			count = (unsigned)pool->stocked;
		pool->stocked -= count;
		memcpy(items, pool->stock + pool->stocked, count * sizeof *items);
	} else {
		count = cut(pool, items, count < FRESH ? count : FRESH, must);
	}
	wf_lock_give(&pool->lock);
	return count;
}

static void stock(struct wf_pool *pool, void **items, unsigned count)
{
	wf_lock_take(&pool->lock);
	WF_ASSERT(pool->stocked + count <= pool->fresh); /* else one was put twice */
	memcpy(pool->stock + pool->stocked, items, count * sizeof *items);
	pool->stocked += count;
	wf_lock_give(&pool->lock);
}

/* It will be wanted soon, and filled. Who freed it may be on another core. */
static inline void fetch(const struct wf_pool *pool, const void *record)
{
	__builtin_prefetch(record, 1);
	if (pool->size > 64)
		__builtin_prefetch((const char *)record + 64, 1);
}

static void *get(struct wf_pool *pool, struct wf_pool_cache *cache, bool must)
{
	void *record = NULL;
	unsigned n;

	if (cache == NULL) {
		(void)refill(pool, &record, 1, must);
		return record;
	}
	n = cache->count;
	if (WF_UNLIKELY(n == 0)) {
		n = refill(pool, cache->items, WF_POOL_CACHE, must);
		if (n == 0)
			return NULL;
		for (unsigned i = 1; i < AHEAD && i < n; i++)
			fetch(pool, cache->items[n - 1 - i]);
	}
	if (n > AHEAD)
		fetch(pool, cache->items[n - 1 - AHEAD]);
	cache->count = n - 1;
	return cache->items[n - 1];
}

/* Free records in other threads' caches must not count, so the limit cannot be
 * a bound of `fresh`: who wants one pays for a shared counter. */
void *wf_pool_get(struct wf_pool *pool, struct wf_pool_cache *cache, bool must)
{
	void *record;

	if (WF_LIKELY(pool->limit == 0))
		return get(pool, cache, must);
	if (atomic_fetch_add(&pool->used, 1) >= pool->limit && !must)
		record = NULL;
	else
		record = get(pool, cache, must);
	if (record == NULL)
		atomic_fetch_sub(&pool->used, 1);
	return record;
}

/* Only debug builds ask. */
static __attribute__((unused)) bool holds(const struct wf_pool_cache *cache, const void *record)
{
	for (unsigned i = 0; i < cache->count; i++)
		if (cache->items[i] == record)
			return true;
	return false;
}

void wf_pool_put(struct wf_pool *pool, struct wf_pool_cache *cache, void *record)
{
	if (WF_UNLIKELY(pool->limit != 0))
		atomic_fetch_sub(&pool->used, 1);
	if (cache == NULL) {
		stock(pool, &record, 1);
		return;
	}
	WF_ASSERT(!holds(cache, record));
	if (WF_UNLIKELY(cache->count == 2 * WF_POOL_CACHE)) {
		/* The oldest: the others may still be in the processor's cache. */
		stock(pool, cache->items, WF_POOL_CACHE);
		cache->count = WF_POOL_CACHE;
		memmove(cache->items, cache->items + WF_POOL_CACHE,
			WF_POOL_CACHE * sizeof *cache->items);
	}
	cache->items[cache->count++] = record;
}
