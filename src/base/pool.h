/* pool.h - records of one size, handed out and taken back in O(1).
 *
 * The pool reserves address space once and lets the kernel commit pages as they
 * are touched, so growing cannot fail while memory lasts. Free records go to a
 * cache that one thread owns, and from there in bunches to the shared stock.
 */
#ifndef WF_POOL_H
#define WF_POOL_H

#include "base/lock.h"

struct wf_pool_item {
	struct wf_pool_item *next;  /* in its list */
	struct wf_pool_item *bunch; /* in the stock: the next bunch */
};

struct wf_pool {
	struct wf_lock lock;
	size_t size;         /* of a record */
	size_t room;         /* records that fit in the reserved space */
	size_t limit;        /* records in use above which others than `must` get a no; 0: none */
	_Atomic size_t used; /* records in use; counted only if there is a limit */
	char *base;
	size_t fresh WF_GUARDED(lock);               /* records never handed out start here */
	struct wf_pool_item *stock WF_GUARDED(lock); /* list of bunches */
};

/* What one thread keeps for itself. All zeros is empty. */
struct wf_pool_cache {
	struct wf_pool_item *items;
	struct wf_pool_item *spare; /* a full bunch, or NULL */
	unsigned count;             /* in items */
};

/* Reserves space for `room` records, or for fewer if the kernel gives no more.
 * limit 0 means none but the room, of which the last eighth is kept for `must`.
 * Returns 0 or -ENOMEM. */
int wf_pool_init(struct wf_pool *pool, size_t size, size_t room, size_t limit);
void wf_pool_fini(struct wf_pool *pool);

/* A record with undefined content. NULL: `limit` are in use; or, with `must`,
 * `room` are. `cache` may be NULL. */
void *wf_pool_get(struct wf_pool *pool, struct wf_pool_cache *cache, bool must);
void wf_pool_put(struct wf_pool *pool, struct wf_pool_cache *cache, void *record);

/* A record out of a cache; NULL: it is empty. Not for pools with a limit. */
static inline void *wf_pool_pop(struct wf_pool_cache *cache)
{
	struct wf_pool_item *item = cache->items;

	if (WF_LIKELY(item != NULL)) {
		cache->items = item->next;
		cache->count--;
	}
	return item;
}

#endif
