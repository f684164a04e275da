/* wheel.h - a hierarchical timing wheel: add, remove and fire in O(1).
 *
 * Terms. A tick is 2^WF_WHEEL_GRAIN ns. A timer belongs to the first tick that
 * begins at or after its `when`, so it never fires early, and late by less than
 * one tick. A level has 64 slots; a slot of level L spans 64^L ticks.
 *
 * A timer's place follows from its tick and the wheel's: the highest base-64
 * digit in which they differ is its level, and its tick's digit there is its
 * slot. So, W1: all timers of one level come before all of the next, and within
 * a level a lower slot comes first. The earliest is found by two bit scans,
 * whatever the distance: nothing ticks while nothing is due (S6).
 *
 * When the wheel reaches a slot of a higher level, its timers are placed anew,
 * lower: at most once for each level, hence O(1). That too is counted in the
 * budget of wf_wheel_expire, so that a full slot does not hold a lock for long.
 *
 * Timers of one tick fire in the order they were added.
 *
 * A slot has four lanes, by the tick's lowest bits, so that timers of one tick
 * share one. Placing a slot anew walks the lanes side by side: a million timers
 * are not in the cache, and four lists are fetched in the time of one.
 *
 * Rejected: a heap (O(log n), and a million timers miss the cache at each step);
 * exact order within a tick (costs a sort, and waking from sleep is coarser).
 *
 * No locks, no clock: the owner brings both. Of the timer it uses when, place_,
 * next_ and prev_.
 */
#ifndef WF_WHEEL_H
#define WF_WHEEL_H

#include <weft/time.h>

#include "base/compiler.h"
#include "base/report.h"

/* 16 us. Nine levels of six bits are then more than a 64-bit time needs. */
#define WF_WHEEL_GRAIN 14
#define WF_WHEEL_BITS 6
#define WF_WHEEL_LEVELS 9
#define WF_WHEEL_SLOTS (1 << WF_WHEEL_BITS)

#define WF_WHEEL_LANES 4

/* A list by next_ and prev_, NULL at both ends. */
struct wf_wheel_lane {
	weft_timer *first, *last;
};

struct wf_wheel {
	uint64_t tick;                      /* no timer has an earlier one */
	uint32_t levels;                    /* bit L: level L has timers */
	uint64_t occupied[WF_WHEEL_LEVELS]; /* bit s: slot s has timers */
	/* The slot that is being placed anew; level 0: none is. */
	uint8_t moving_level, moving_slot;
	/* No timer of the slot has an earlier tick; UINT64_MAX if none is there. */
	uint64_t soonest[WF_WHEEL_LEVELS][WF_WHEEL_SLOTS];
	/* By a timer's place_: level, slot and lane in one number. */
	struct wf_wheel_lane lane[WF_WHEEL_LEVELS * WF_WHEEL_SLOTS * WF_WHEEL_LANES];
};

void wf_wheel_init(struct wf_wheel *w, uint64_t now);

/* The last tick: times behind it (by centuries) count as it. */
#define WF_WHEEL_LAST (UINT64_MAX >> WF_WHEEL_GRAIN)

static inline uint64_t wf_wheel_tick(uint64_t when)
{
	const uint64_t rest = ((uint64_t)1 << WF_WHEEL_GRAIN) - 1;

	return WF_LIKELY(when <= UINT64_MAX - rest) ? (when + rest) >> WF_WHEEL_GRAIN
						    : WF_WHEEL_LAST;
}

/* A slot's first lane. */
static inline unsigned wf_wheel_place(unsigned level, unsigned slot)
{
	return (level * WF_WHEEL_SLOTS + slot) * WF_WHEEL_LANES;
}

static inline unsigned wf_wheel_lane_of(uint64_t tick)
{
	return (unsigned)tick & (WF_WHEEL_LANES - 1);
}

/* Adds a timer that is in no wheel; t->when may be in the past. */
static inline void wf_wheel_add(struct wf_wheel *w, weft_timer *t)
{
	uint64_t tick = wf_wheel_tick(t->when);
	struct wf_wheel_lane *lane;
	weft_timer *last;
	unsigned level, s;

	if (WF_UNLIKELY(tick < w->tick))
		tick = w->tick;
	/* The lowest bit does not change the level, and clz of 0 is undefined. */
	level = (63 - (unsigned)__builtin_clzll((tick ^ w->tick) | 1)) / WF_WHEEL_BITS;
	s = (tick >> (level * WF_WHEEL_BITS)) & (WF_WHEEL_SLOTS - 1);
	t->place_ = (uint16_t)(wf_wheel_place(level, s) + wf_wheel_lane_of(tick));
	if (tick < w->soonest[level][s])
		w->soonest[level][s] = tick;
	lane = &w->lane[t->place_];
	last = lane->last;
	t->next_ = NULL;
	t->prev_ = last;
	lane->last = t;
	if (WF_LIKELY(last != NULL)) {
		last->next_ = t;
		return;
	}
	lane->first = t;
	w->occupied[level] |= (uint64_t)1 << s;
	w->levels |= 1u << level;
}

/* Removes a timer that is in this wheel. */
void wf_wheel_lane_emptied(struct wf_wheel *w, unsigned place);
static inline void wf_wheel_remove(struct wf_wheel *w, weft_timer *t)
{
	struct wf_wheel_lane *lane = &w->lane[t->place_];
	weft_timer *next = t->next_, *prev = t->prev_;

	WF_ASSERT((next != NULL ? next->prev_ : lane->last) == t);
	WF_ASSERT((prev != NULL ? prev->next_ : lane->first) == t);
	*(next != NULL ? &next->prev_ : &lane->last) = prev;
	*(prev != NULL ? &prev->next_ : &lane->first) = next;
	if (WF_UNLIKELY(next == NULL && prev == NULL))
		wf_wheel_lane_emptied(w, t->place_);
}

/* Gives a timer in this wheel another time. A later one costs nothing now: it
 * stays where it is, and is placed anew when that time comes. */
void wf_wheel_move(struct wf_wheel *w, weft_timer *t, uint64_t when);

/* Takes out timers that are due at `now`, in order of their ticks, as a list by
 * next_. Stops after `budget` steps (a timer fired or placed anew): more may be
 * due as long as wf_wheel_next() <= now, even if the list is empty. */
weft_timer *wf_wheel_expire(struct wf_wheel *w, uint64_t now, unsigned budget);

/* When to call wf_wheel_expire next; UINT64_MAX: no timer is there. Exact for
 * the earliest timer, unless an earlier one was removed or moved: then it may be
 * too early. */
uint64_t wf_wheel_next(const struct wf_wheel *w);

#endif
