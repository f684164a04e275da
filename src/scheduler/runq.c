/* runq.c - lists of colors by level and by worth. */
#include "scheduler/runq.h"

void wf_runq_init(struct wf_runq *q)
{
	wf_lock_init(&q->lock, WF_RANK_RUNQ);
	for (unsigned i = 0; i < WF_LEVELS; i++)
		wf_list_init(&q->levels[i]);
	for (unsigned i = 0; i < WF_WORTHS; i++)
		wf_list_init(&q->steals[i]);
}

static void link_level(struct wf_runq *q, struct wf_place *place, unsigned level)
	WF_REQUIRES(q->lock)
{
	WF_STORE(&place->level_at, (uint8_t)level);
	wf_list_append(&q->levels[level], &place->level);
	q->occupied |= 1u << level;
}

static void unlink_level(struct wf_runq *q, struct wf_place *place) WF_REQUIRES(q->lock)
{
	wf_list_remove(&place->level);
	if (wf_list_empty(&q->levels[place->level_at]))
		q->occupied &= ~(1u << place->level_at);
}

static void link_steal(struct wf_runq *q, struct wf_place *place, unsigned worth, uint64_t left)
	WF_REQUIRES(q->lock)
{
	WF_STORE(&place->worth, (uint8_t)worth);
	place->left = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
	if (worth == WF_WORTH_PINNED)
		return;
	if (wf_list_empty(&q->steals[worth]))
		WF_STORE(&q->worths, WF_LOAD(&q->worths) | 1u << worth);
	wf_list_append(&q->steals[worth], &place->steal);
	if (worth > 0)
		WF_ADD_OWN(&q->steal_time, (uint64_t)place->left);
}

static void unlink_steal(struct wf_runq *q, struct wf_place *place) WF_REQUIRES(q->lock)
{
	if (place->worth == WF_WORTH_PINNED)
		return;
	wf_list_remove(&place->steal);
	if (wf_list_empty(&q->steals[place->worth]))
		WF_STORE(&q->worths, WF_LOAD(&q->worths) & ~(1u << place->worth));
	if (place->worth > 0)
		WF_ADD_OWN(&q->steal_time, -(uint64_t)place->left);
}

void wf_runq_push(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left)
{
	link_level(q, place, level);
	link_steal(q, place, worth, left);
	/* Whoever finds a stand-in's new queue by this must find it made. */
	atomic_store_explicit(&place->at, q, memory_order_release);
	WF_ADD_OWN(&q->colors, 1u);
}

static struct wf_place *take(struct wf_runq *q, struct wf_place *place) WF_REQUIRES(q->lock)
{
	unlink_level(q, place);
	unlink_steal(q, place);
	WF_STORE(&place->at, NULL);
	WF_ADD_OWN(&q->colors, -1u);
	return place;
}

struct wf_place *wf_runq_pop(struct wf_runq *q)
{
	unsigned level;

	if (q->occupied == 0)
		return NULL;
	level = wf_policy_pick(&q->rotation, q->occupied);
	return take(q, WF_CONTAINER(q->levels[level].next, struct wf_place, level));
}

struct wf_place *wf_runq_steal(struct wf_runq *q, unsigned least)
{
	unsigned worths = WF_LOAD(&q->worths) >> least << least;
	unsigned worth;

	if (worths == 0)
		return NULL;
	worth = 31u - (unsigned)__builtin_clz(worths);
	return take(q, WF_CONTAINER(q->steals[worth].next, struct wf_place, steal));
}

void wf_runq_move(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left)
{
	if (level > place->level_at) {
		unlink_level(q, place);
		link_level(q, place, level);
	}
	if (worth != place->worth && place->worth != WF_WORTH_PINNED) {
		unlink_steal(q, place);
		link_steal(q, place, worth, left);
	}
}
