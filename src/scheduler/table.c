/* table.c - the table of colors that are in use. */
#include "scheduler/table.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/report.h"
#include "scheduler/color.h"

/* Room for a record for every event that memory can hold: a color in use has an
 * event queued or running, except for the few that are pinned or doze, so wf_pool_get with
 * `must` does not come to the end of it. */
static size_t color_room(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / sizeof(weft_event) : 1 << 20;
}

int wf_table_init(struct wf_table *t, size_t max_colors)
{
	int rc;

	for (size_t i = 0; i < WF_COLOR_SHARDS; i++)
		wf_lock_init(&t->shards[i].lock, WF_RANK_COLOR);
	rc = wf_pool_init(&t->colors, sizeof(struct wf_color), color_room(), max_colors);
	for (size_t i = 0; rc == 0 && i < WF_COLOR_SHARDS; i++) {
		struct wf_shard *shard = &t->shards[i];

		shard->slots = wf_new_array(WF_COLOR_SLOTS, sizeof *shard->slots);
		shard->mask = WF_COLOR_SLOTS - 1;
		if (shard->slots == NULL)
			rc = -ENOMEM;
	}
	if (rc < 0)
		wf_table_fini(t);
	return rc;
}

void wf_table_fini(struct wf_table *t)
{
	for (size_t i = 0; i < WF_COLOR_SHARDS; i++) {
		free(t->shards[i].slots);
		t->shards[i].slots = NULL;
	}
	wf_pool_fini(&t->colors);
}

void wf_table_each(struct wf_table *t, void (*fn)(struct wf_color *c))
{
	for (size_t i = 0; i < WF_COLOR_SHARDS; i++) {
		struct wf_shard *shard = &t->shards[i];

		wf_lock_take(&shard->lock);
		for (size_t k = 0; k <= shard->mask; k++)
			if (shard->slots[k].color != NULL)
				fn(shard->slots[k].color);
		for (struct wf_color *c = shard->chain; c != NULL; c = c->chain)
			fn(c);
		wf_lock_give(&shard->lock);
	}
}

/* The slot of `id`, or the free one where it belongs. One is always free. */
static struct wf_slot *slot_of(struct wf_shard *shard, weft_color id) WF_REQUIRES(shard->lock)
{
	struct wf_slot *slots = WF_LOAD(&shard->slots);
	size_t i = wf_table_first_slot(shard, id), mask = WF_LOAD(&shard->mask);

	while (slots[i].color != NULL && slots[i].id != id)
		i = (i + 1) & mask;
	return &slots[i];
}

static struct wf_color **chain_of(struct wf_shard *shard, weft_color id) WF_REQUIRES(shard->lock)
{
	struct wf_color **at = &shard->chain;

	while (*at != NULL && (*at)->id != id)
		at = &(*at)->chain;
	return at;
}

static struct wf_color *find(struct wf_shard *shard, const struct wf_slot *slot, weft_color id)
	WF_REQUIRES(shard->lock)
{
	struct wf_color *c = slot->color;

	return WF_LIKELY(c != NULL || shard->chain == NULL) ? c : *chain_of(shard, id);
}

struct wf_color *wf_table_find(struct wf_shard *shard, weft_color id)
{
	return find(shard, slot_of(shard, id), id);
}

static void grow(struct wf_shard *shard) WF_REQUIRES(shard->lock)
{
	size_t old_size = shard->mask + 1;
	struct wf_slot *old = shard->slots;
	struct wf_slot *fresh = wf_new_array(old_size * 2, sizeof *fresh);

	if (fresh == NULL)
		return;
	shard->slots = fresh;
	shard->mask = old_size * 2 - 1;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].color != NULL)
			*slot_of(shard, old[i].id) = old[i];
	free(old);
}

/* `slot` is where it belongs, if the table does not grow. */
static void insert(struct wf_shard *shard, struct wf_slot *slot, struct wf_color *c)
	WF_REQUIRES(shard->lock)
{
	if (WF_UNLIKELY(shard->used >= shard->mask - shard->mask / 4)) {
		grow(shard);
		slot = slot_of(shard, c->id);
	}
	if (WF_UNLIKELY(shard->used >= shard->mask)) {
		c->chain = shard->chain;
		shard->chain = c;
		return;
	}
	*slot = (struct wf_slot){ c->id, c };
	shard->used++;
}

struct wf_color *wf_table_find_or_add(struct wf_table *t, struct wf_shard *shard, weft_color id,
				      struct wf_pool_cache *cache, bool must)
{
	struct wf_slot *slot = slot_of(shard, id);
	struct wf_color *c = find(shard, slot, id);

	if (c != NULL)
		return c;
	c = wf_pool_get(&t->colors, cache, must);
	if (c == NULL) {
		if (must)
			wf_bug("no record for color %#llx: more colors than memory could hold",
			       (unsigned long long)id);
		return NULL;
	}
	*c = (struct wf_color){ .id = id, .place.pin = -1 };
	insert(shard, slot, c);
	return c;
}

/* Frees a slot and moves up those behind it that would not be found any more. */
static void free_slot(struct wf_shard *shard, struct wf_slot *slot) WF_REQUIRES(shard->lock)
{
	struct wf_slot *slots = WF_LOAD(&shard->slots);
	size_t hole = (size_t)(slot - slots), mask = WF_LOAD(&shard->mask);

	for (size_t i = (hole + 1) & mask; slots[i].color != NULL; i = (i + 1) & mask) {
		size_t home = wf_table_first_slot(shard, slots[i].id);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			slots[hole] = slots[i];
			hole = i;
		}
	}
	slots[hole].color = NULL;
	shard->used--;
}

void wf_table_remove(struct wf_table *t, struct wf_shard *shard, struct wf_color *c,
		     struct wf_pool_cache *cache)
{
	struct wf_slot *slot = slot_of(shard, c->id);

	if (WF_LIKELY(slot->color == c))
		free_slot(shard, slot);
	else
		*chain_of(shard, c->id) = c->chain;
	wf_pool_put(&t->colors, cache, c);
}
