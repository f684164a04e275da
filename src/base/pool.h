/* pool.h - records of one size, handed out and taken back in O(1).
 *
 * The pool reserves address space once and lets the kernel commit pages as they
 * are touched, so growing cannot fail while memory lasts. Free records go to a
 * cache that one thread owns, and from there many at a time to the shared stock.
 *
 * Both hold pointers, and nothing is written into what is free: it keeps its content,
 * and a thread can fetch ahead what others freed, which a list would give it one by one.
 */
#ifndef WF_POOL_H
#define WF_POOL_H

#include "base/capacity.h"
#include "base/lock.h"

struct wf_pool {
	struct wf_lock lock;
	size_t size;         /* of a record */
	size_t room;         /* records that fit in the reserved space */
	size_t limit;        /* records in use above which others than `must` get a no; 0: none */
	_Atomic size_t used; /* records in use; counted only if there is a limit */
	char *base;
	size_t fresh WF_GUARDED(lock);   /* records never handed out start here */
	void **stock WF_GUARDED(lock);   /* those that are free and in no cache */
	size_t stocked WF_GUARDED(lock); /* how many */
	size_t dumped WF_GUARDED(lock);  /* bytes of records that core dumps have */
};

/* What one thread keeps for itself. Empty if its count is 0. */
struct wf_pool_cache {
	unsigned count;
	void *items[2 * WF_POOL_CACHE];
};

/* Reserves space for `room` records, or for fewer if the kernel gives no more.
 * limit 0 means none but the room, of which the last eighth is kept for `must`.
 * Returns 0 or -ENOMEM. */
int wf_pool_init(struct wf_pool *pool, size_t size, size_t room, size_t limit);
void wf_pool_fini(struct wf_pool *pool);

/* All records are as never used, whoever has them. The caller empties the caches. */
void wf_pool_reset(struct wf_pool *pool);

/* A record with undefined content. NULL: `limit` are in use; or, with `must`,
 * `room` are. `cache` may be NULL. */
void *wf_pool_get(struct wf_pool *pool, struct wf_pool_cache *cache, bool must);
void wf_pool_put(struct wf_pool *pool, struct wf_pool_cache *cache, void *record);

/* A record out of a cache; NULL: it is empty. Not for pools with a limit. */
static inline void *wf_pool_pop(struct wf_pool_cache *cache)
{
	return WF_LIKELY(cache->count > 0) ? cache->items[--cache->count] : NULL;
}

#endif
