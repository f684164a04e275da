/* wheel.c - where timers sit in the wheel, and how they get out of it. */
#include "scheduler/wheel.h"

#include "base/report.h"

/* The last tick: times behind it (by centuries) count as it. */
#define LAST_TICK (UINT64_MAX >> WF_WHEEL_GRAIN)

static uint64_t tick_of(uint64_t when)
{
	uint64_t tick = when >> WF_WHEEL_GRAIN;
	uint64_t rest = when & (((uint64_t)1 << WF_WHEEL_GRAIN) - 1);

	return rest != 0 && tick < LAST_TICK ? tick + 1 : tick;
}

static unsigned digit(uint64_t tick, unsigned level)
{
	return (tick >> (level * WF_WHEEL_BITS)) & (WF_WHEEL_SLOTS - 1);
}

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
	w->tick = now >> WF_WHEEL_GRAIN;
}

/* A slot's first lane. */
static unsigned place_of(unsigned level, unsigned slot)
{
	return (level * WF_WHEEL_SLOTS + slot) * WF_WHEEL_LANES;
}

static unsigned lane_of(uint64_t tick)
{
	return (unsigned)tick & (WF_WHEEL_LANES - 1);
}

static void append(struct wf_wheel_lane *lane, weft_timer *t)
{
	weft_timer *last = lane->last;

	t->next_ = NULL;
	t->prev_ = last;
	*(last != NULL ? &last->next_ : &lane->first) = t;
	lane->last = t;
}

void wf_wheel_add(struct wf_wheel *w, weft_timer *t)
{
	uint64_t tick = tick_of(t->when);
	unsigned level, s;

	if (tick < w->tick)
		tick = w->tick;
	/* The lowest bit does not change the level, and clz of 0 is undefined. */
	level = (63 - (unsigned)__builtin_clzll((tick ^ w->tick) | 1)) / WF_WHEEL_BITS;
	s = digit(tick, level);
	t->place_ = (uint16_t)(place_of(level, s) + lane_of(tick));
	append(&w->lane[t->place_], t);
	if (!(w->occupied[level] >> s & 1) || tick < w->soonest[level][s])
		w->soonest[level][s] = tick;
	w->occupied[level] |= (uint64_t)1 << s;
	w->levels |= 1u << level;
}

static bool slot_empty(const struct wf_wheel *w, unsigned place)
{
	for (unsigned i = 0; i < WF_WHEEL_LANES; i++)
		if (w->lane[place + i].first != NULL)
			return false;
	return true;
}

static void lane_emptied(struct wf_wheel *w, unsigned place)
{
	unsigned slot = place / WF_WHEEL_LANES;
	unsigned level = slot / WF_WHEEL_SLOTS;

	if (!slot_empty(w, slot * WF_WHEEL_LANES))
		return;
	w->occupied[level] &= ~((uint64_t)1 << slot % WF_WHEEL_SLOTS);
	if (w->occupied[level] == 0)
		w->levels &= ~(1u << level);
}

void wf_wheel_remove(struct wf_wheel *w, weft_timer *t)
{
	struct wf_wheel_lane *lane = &w->lane[t->place_];
	weft_timer *next = t->next_, *prev = t->prev_;

	WF_ASSERT((next != NULL ? next->prev_ : lane->last) == t);
	WF_ASSERT((prev != NULL ? prev->next_ : lane->first) == t);
	*(next != NULL ? &next->prev_ : &lane->last) = prev;
	*(prev != NULL ? &prev->next_ : &lane->first) = next;
	if (lane->first == NULL)
		lane_emptied(w, t->place_);
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
	unsigned place = place_of(w->moving_level, w->moving_slot);

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
	struct wf_wheel_lane *lane = &w->lane[place_of(0, s) + lane_of(w->tick)];
	weft_timer *t;

	for (; budget > 0 && (t = lane->first) != NULL; budget--) {
		wf_wheel_remove(w, t);
		if (tick_of(t->when) > w->tick) {
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
