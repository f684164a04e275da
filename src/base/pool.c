/* pool.c - reserved space, a shared stock of bunches, caches of one thread. */
#include "base/pool.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/capacity.h"
#include "base/fault.h"

/* Fresh records that a cache gets at a time. */
enum { FRESH = WF_POOL_CACHE / 8 > 0 ? WF_POOL_CACHE / 8 : 1 };

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

	*pool = (struct wf_pool){ .size = size };
	wf_lock_init(&pool->lock, WF_RANK_POOL);
	room = allowed_room(size, room);
	if (room < least)
		room = least;
	/* A rlimit or strict overcommit may forbid what is only a reservation. */
	for (;; room /= 2) {
		void *at;

		if (room < least || WF_FAULT(ENOMEM))
			return -ENOMEM;
		at = mmap(NULL, room * size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			continue;
		pool->base = at;
		pool->room = room;
		pool->limit = limit;
		return 0;
	}
}

void wf_pool_fini(struct wf_pool *pool)
{
	if (pool->base != NULL)
		munmap(pool->base, pool->room * pool->size);
	pool->base = NULL;
}

/* Cuts off up to `count` records of the space never used, as a list. The last
 * eighth is for those who cannot take a no. */
static struct wf_pool_item *cut(struct wf_pool *pool, size_t count, bool must)
	WF_REQUIRES(pool->lock)
{
	struct wf_pool_item *list = NULL;
	size_t room = must ? pool->room : pool->room - pool->room / 8;
	size_t left = room > pool->fresh ? room - pool->fresh : 0;
	size_t end = pool->fresh + (left < count ? left : count);

	for (size_t i = end; i > pool->fresh; i--) {
		char *at = pool->base + (i - 1) * pool->size;

		((struct wf_pool_item *)(void *)at)->next = list;
		list = (struct wf_pool_item *)(void *)at;
	}
	pool->fresh = end;
	return list;
}

/* A bunch from the stock, or fresh records: several for a cache, else threads
 * that get what others put would meet at the lock for each. */
static struct wf_pool_item *refill(struct wf_pool *pool, bool cached, bool must, unsigned *count)
{
	struct wf_pool_item *list;

	wf_lock_take(&pool->lock);
	list = pool->stock;
	*count = WF_POOL_CACHE;
	if (list != NULL) {
		pool->stock = list->bunch;
	} else {
		*count = cached ? FRESH : 1;
		list = cut(pool, *count, must);
	}
	wf_lock_give(&pool->lock);
	return list;
}

static void stock(struct wf_pool *pool, struct wf_pool_item *bunch)
{
	wf_lock_take(&pool->lock);
	bunch->bunch = pool->stock;
	pool->stock = bunch;
	wf_lock_give(&pool->lock);
}

/* The next record will be wanted soon, and filled. Who freed it may be on another core. */
static inline void fetch(const struct wf_pool_item *item)
{
	__builtin_prefetch(item, 1);
	__builtin_prefetch((const void *)((uintptr_t)item + 64), 1); /* it may be NULL */
}

static void *get(struct wf_pool *pool, struct wf_pool_cache *cache, bool must)
{
	struct wf_pool_item *item;
	unsigned count;

	if (cache != NULL) {
		if (cache->items == NULL && cache->spare != NULL) {
			cache->items = cache->spare;
			cache->count = WF_POOL_CACHE;
			cache->spare = NULL;
		}
		item = cache->items;
		if (item != NULL) {
			cache->items = item->next;
			cache->count--;
			fetch(item->next);
			return item;
		}
	}
	item = refill(pool, cache != NULL, must, &count);
	if (item == NULL || item->next == NULL)
		return item;
	if (cache == NULL) {
		stock(pool, item->next);
	} else {
		/* At most: threads without a cache stock smaller bunches. The count
		 * only says when a cache is full, so too high does no harm. */
		cache->items = item->next;
		cache->count = count - 1;
	}
	return item;
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

void wf_pool_put(struct wf_pool *pool, struct wf_pool_cache *cache, void *record)
{
	struct wf_pool_item *item = record;

	if (WF_UNLIKELY(pool->limit != 0))
		atomic_fetch_sub(&pool->used, 1);
	if (cache == NULL) {
		item->next = NULL;
		stock(pool, item);
		return;
	}
	if (cache->count == WF_POOL_CACHE) {
		if (cache->spare != NULL)
			stock(pool, cache->spare);
		cache->spare = cache->items;
		cache->items = NULL;
		cache->count = 0;
	}
	item->next = cache->items;
	cache->items = item;
	cache->count++;
}
