/* table.h - finds a color's record by its value; equal values only (C1).
 *
 * Shards with a lock each; in a shard, open addressing that doubles as it
 * fills, so that a post stays O(1) with a million colors queued (S4). Slots hold
 * the value beside the pointer: a search and a doubling touch no record, which
 * would be a cache miss each. If doubling finds no memory, records that have no
 * slot go into a chain: searches get longer, nothing fails (E2).
 */
#ifndef WF_TABLE_H
#define WF_TABLE_H

#include <weft/event.h>

#include "base/capacity.h"
#include "base/lock.h"
#include "base/pool.h"

struct wf_color;

struct wf_slot {
	weft_color id;
	struct wf_color *color; /* NULL: free */
};

/* Where its slots are is also read without the lock, as a hint, and seldom changes: it has
 * a line of its own. */
struct WF_ALIGNED wf_shard {
	struct wf_lock lock;
	size_t used WF_GUARDED(lock);
	struct wf_color *chain WF_GUARDED(lock);
	struct wf_slot *_Atomic slots WF_ALIGNED;
	_Atomic size_t mask;
};

struct wf_table {
	struct wf_shard shards[WF_COLOR_SHARDS];
	struct wf_pool colors;
};

/* max_colors 0: as many as memory holds. 0 or -ENOMEM. */
int wf_table_init(struct wf_table *t, size_t max_colors);
void wf_table_fini(struct wf_table *t);

/* Calls fn for every record; for the end of a run, when nobody else is there. */
void wf_table_each(struct wf_table *t, void (*fn)(struct wf_color *c));

static inline uint64_t wf_color_hash(weft_color id)
{
	uint64_t h = id * 0x9E3779B97F4A7C15u;

	return h ^ h >> 32;
}

static inline struct wf_shard *wf_table_shard(struct wf_table *t, weft_color id)
{
	return &t->shards[wf_color_hash(id) & (WF_COLOR_SHARDS - 1)];
}

static inline size_t wf_table_first_slot(const struct wf_shard *shard, weft_color id)
{
	return (size_t)(wf_color_hash(id) / WF_COLOR_SHARDS) & WF_LOAD(&shard->mask);
}

/* The color will be looked for: fetches what that takes. Others may have had it last. */
static inline void wf_table_expect(const struct wf_shard *shard, weft_color id)
{
	uintptr_t slots = (uintptr_t)WF_LOAD(&shard->slots); /* perhaps of another mask */

	__builtin_prefetch(shard, 1);
	__builtin_prefetch((void *)(slots +
				    wf_table_first_slot(shard, id) * sizeof(struct wf_slot)),
			   1);
}

struct wf_color *wf_table_find(struct wf_shard *shard, weft_color id) WF_REQUIRES(shard->lock);

/* Finds it, or adds an inactive one. NULL: no room; not with `must`. */
struct wf_color *wf_table_find_or_add(struct wf_table *t, struct wf_shard *shard, weft_color id,
				      struct wf_pool_cache *cache, bool must)
	WF_REQUIRES(shard->lock);

void wf_table_remove(struct wf_table *t, struct wf_shard *shard, struct wf_color *c,
		     struct wf_pool_cache *cache) WF_REQUIRES(shard->lock);

#endif
