/* wheel.c - where timers sit in the wheel, and how they get out of it. */
#include "scheduler/wheel.h"

#include "base/report.h"

/* The first tick of a slot that lies ahead in the wheel's present turn. */
static uint64_t slot_start(const struct wf_wheel *w, unsigned level, unsigned slot)
{
	unsigned shift = level * WF_WHEEL_BITS;
	uint64_t turn = w->tick >> shift >> WF_WHEEL_BITS;

	return (turn << WF_WHEEL_BITS | slot) << shift;
}

void wf_wheel_init(struct wf_wheel *w, uint64_t now)
{
	memset(w, 0, sizeof *w);
	memset(w->soonest, 0xff, sizeof w->soonest);
	w->tick = now >> WF_WHEEL_GRAIN;
}

static bool slot_empty(const struct wf_wheel *w, unsigned place)
{
	for (unsigned i = 0; i < WF_WHEEL_LANES; i++)
		if (w->lane[place + i].first != NULL)
			return false;
	return true;
}

void wf_wheel_lane_emptied(struct wf_wheel *w, unsigned place)
{
	unsigned slot = place / WF_WHEEL_LANES;
	unsigned level = slot / WF_WHEEL_SLOTS;

	if (!slot_empty(w, slot * WF_WHEEL_LANES))
		return;
	w->soonest[level][slot % WF_WHEEL_SLOTS] = UINT64_MAX;
	w->occupied[level] &= ~((uint64_t)1 << slot % WF_WHEEL_SLOTS);
	if (w->occupied[level] == 0)
		w->levels &= ~(1u << level);
}

void wf_wheel_move(struct wf_wheel *w, weft_timer *t, uint64_t when)
{
	bool later = when >= t->when;

	if (later) {
		t->when = when;
		return;
	}
	wf_wheel_remove(w, t);
	t->when = when;
	wf_wheel_add(w, t);
}

/* Finds the earliest slot that has timers (W1). */
static bool earliest(const struct wf_wheel *w, unsigned *level, unsigned *slot)
{
	if (w->levels == 0)
		return false;
	*level = (unsigned)__builtin_ctz(w->levels);
	*slot = (unsigned)__builtin_ctzll(w->occupied[*level]);
	return true;
}

uint64_t wf_wheel_next(const struct wf_wheel *w)
{
	unsigned level, slot;

	if (!earliest(w, &level, &slot))
		return UINT64_MAX;
	/* What is being moved may be due now, wherever else timers are. */
	if (w->moving_level != 0)
		return w->tick << WF_WHEEL_GRAIN;
	return w->soonest[level][slot] << WF_WHEEL_GRAIN;
}

/* Places timers of the moving slot anew. The wheel's tick is the slot's first,
 * so each lands in a lower level. Returns what is left of the budget. */
static unsigned move_down(struct wf_wheel *w, unsigned budget)
{
	unsigned place = wf_wheel_place(w->moving_level, w->moving_slot);

	while (!slot_empty(w, place)) {
		for (unsigned i = 0; i < WF_WHEEL_LANES; i++) {
			weft_timer *t = w->lane[place + i].first;

			if (t == NULL)
				continue;
			if (budget-- == 0)
				return 0;
			__builtin_prefetch(t->next_, 1); /* its turn comes after the other lanes' */
			wf_wheel_remove(w, t);
			wf_wheel_add(w, t);
		}
	}
	w->moving_level = 0;
	return budget;
}

/* Takes timers of a due slot, all of one tick, to the end of the list at
 * `*tail`; those that have been put off are placed anew. Returns what is left of
 * the budget. */
static unsigned take_slot(struct wf_wheel *w, unsigned s, weft_timer ***tail, unsigned budget)
{
	struct wf_wheel_lane *lane = &w->lane[wf_wheel_place(0, s) + wf_wheel_lane_of(w->tick)];
	weft_timer *t;

	for (; budget > 0 && (t = lane->first) != NULL; budget--) {
		wf_wheel_remove(w, t);
		if (wf_wheel_tick(t->when) > w->tick) {
			wf_wheel_add(w, t);
			continue;
		}
		**tail = t;
		*tail = &t->next_;
	}
	return budget;
}

weft_timer *wf_wheel_expire(struct wf_wheel *w, uint64_t now, unsigned budget)
{
	uint64_t target = now >> WF_WHEEL_GRAIN, start;
	weft_timer *list = NULL, **tail = &list;
	unsigned level, slot;

	if (target < w->tick)
		return NULL;
	if (w->moving_level != 0)
		budget = move_down(w, budget);
	while (budget > 0) {
		if (!earliest(w, &level, &slot) || (start = slot_start(w, level, slot)) > target) {
			w->tick = target;
			break;
		}
		w->tick = start;
		if (level == 0) {
			budget = take_slot(w, slot, &tail, budget);
			continue;
		}
		w->moving_level = (uint8_t)level;
		w->moving_slot = (uint8_t)slot;
		budget = move_down(w, budget);
	}
	*tail = NULL;
	return list;
}
