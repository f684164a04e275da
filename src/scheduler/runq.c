/* runq.c - lists of colors by level and worth. */
#include "scheduler/runq.h"

#include "base/capacity.h"

_Static_assert(WF_LEVELS == 8 && WF_WORTHS < 8, "a byte of `occupied` has a bit for each level");

static inline uint64_t bit_of(unsigned worth, unsigned level)
{
	return (uint64_t)1 << (worth * WF_LEVELS + level);
}

void wf_runq_init(struct wf_runq *q)
{
	wf_lock_init(&q->lock, WF_RANK_RUNQ);
	for (unsigned worth = 0; worth <= WF_WORTHS; worth++)
		for (unsigned level = 0; level < WF_LEVELS; level++)
			wf_list_init(&q->lanes[worth][level].list);
}

static inline bool older(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static void enter(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left) WF_REQUIRES(q->lock)
{
	struct wf_lane *lane = &q->lanes[worth][level];
	bool empty = wf_list_empty(&lane->list);

	WF_STORE(&place->level, (uint8_t)level);
	WF_STORE(&place->worth, (uint8_t)worth);
	place->left = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
	if (empty)
		WF_STORE(&q->occupied, WF_LOAD(&q->occupied) | bit_of(worth, level));
	if (empty || older(place->number, lane->first)) {
		lane->first = place->number;
		wf_list_append(lane->list.next, &place->link);
	} else {
		wf_list_append(&lane->list, &place->link);
	}
	if (wf_runq_is_worthy(worth))
		WF_ADD_OWN(&q->steal_time, (uint64_t)place->left);
}

static void leave(struct wf_runq *q, struct wf_place *place) WF_REQUIRES(q->lock)
{
	struct wf_lane *lane = &q->lanes[place->worth][place->level];
	struct wf_link *next = place->link.next;

	wf_list_remove(&place->link);
	if (wf_list_empty(&lane->list))
		WF_STORE(&q->occupied, WF_LOAD(&q->occupied) & ~bit_of(place->worth, place->level));
	else if (lane->list.next == next)
		lane->first = WF_CONTAINER(next, struct wf_place, link)->number;
	if (wf_runq_is_worthy(place->worth))
		WF_ADD_OWN(&q->steal_time, -(uint64_t)place->left);
}

void wf_runq_push(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left)
{
	place->number = ++q->number;
	enter(q, place, level, worth, left);
	/* Whoever finds a stand-in's new queue by this must find it made. */
	atomic_store_explicit(&place->at, q, memory_order_release);
	WF_ADD_OWN(&q->colors, 1u);
}

static struct wf_place *take(struct wf_runq *q, struct wf_place *place) WF_REQUIRES(q->lock)
{
	leave(q, place);
	WF_STORE(&place->at, NULL);
	WF_ADD_OWN(&q->colors, -1u);
	/* The next one to be taken will touch the one behind it: to wait for that then, under
	 * the lock, would be to keep others waiting too. */
	__builtin_prefetch(place->link.next->next, 1);
	return place;
}

static inline struct wf_place *first_of(const struct wf_lane *lane)
{
	return WF_CONTAINER(lane->list.next, struct wf_place, link);
}

static inline struct wf_place *last_of(const struct wf_lane *lane)
{
	return WF_CONTAINER(lane->list.prev, struct wf_place, link);
}

/* Of a level's lanes, the one whose first was queued first. */
static struct wf_lane *oldest(struct wf_runq *q, unsigned level, uint64_t occupied)
	WF_REQUIRES(q->lock)
{
	struct wf_lane *best = NULL;

	for (unsigned worth = 0; worth <= WF_WORTHS; worth++) {
		struct wf_lane *lane = &q->lanes[worth][level];

		if (occupied & bit_of(worth, level) &&
		    (best == NULL || older(lane->first, best->first)))
			best = lane;
	}
	return best;
}

/* The color of a level that was queued last. */
static struct wf_place *newest(struct wf_runq *q, unsigned level, uint64_t occupied)
	WF_REQUIRES(q->lock)
{
	struct wf_place *best = NULL;

	for (unsigned worth = 0; worth <= WF_WORTHS; worth++) {
		struct wf_place *last = last_of(&q->lanes[worth][level]);

		if (occupied & bit_of(worth, level) &&
		    (best == NULL || older(best->number, last->number)))
			best = last;
	}
	return best;
}

/* Exchanges the two levels of each priority. */
static inline unsigned swap_sources(unsigned levels)
{
	return (levels & 0x55) << 1 | (levels >> 1 & 0x55);
}

struct wf_place *wf_runq_pop(struct wf_runq *q, enum wf_order order)
{
	uint64_t occupied = WF_LOAD(&q->occupied);
	uint64_t levels = occupied | occupied >> 4 * WF_LEVELS;
	unsigned level;

	if (occupied == 0)
		return NULL;
	levels |= levels >> 2 * WF_LEVELS;
	levels |= levels >> WF_LEVELS;
	levels &= 0xff;
	if (WF_LIKELY(order == WF_CPU_FIRST))
		level = wf_policy_pick(&q->rotation, (unsigned)levels);
	else
		level = wf_policy_pick(&q->rotation, swap_sources((unsigned)levels)) ^ 1u;
	/* Every WF_SKIPS-th time the oldest color goes first, so that none starves (S3). */
	if (order == WF_IO_NEWEST && ++q->newest % WF_SKIPS != 0)
		return take(q, newest(q, level, occupied));
	return take(q, first_of(oldest(q, level, occupied)));
}

struct wf_place *wf_runq_steal(struct wf_runq *q, uint64_t lanes)
{
	uint64_t loot = WF_LOAD(&q->occupied) & lanes;
	unsigned best;

	if (loot == 0)
		return NULL;
	best = 63u - (unsigned)__builtin_clzll(loot);
	return take(q, first_of(&q->lanes[best / WF_LEVELS][best % WF_LEVELS]));
}

void wf_runq_move(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left)
{
	if (level < place->level)
		level = place->level;
	if (worth < place->worth || place->worth == WF_WORTH_PINNED)
		worth = place->worth;
	if (level == place->level && worth == place->worth)
		return;
	leave(q, place);
	enter(q, place, level, worth, left);
}
