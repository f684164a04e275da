/* runq.h - one worker's queue of colors that have work.
 *
 * Every queued color stands in one lane: that of its level, by which its worker
 * finds it, and of its worth, by which a thief does. One list serves both: a thief
 * then touches no color but those that thieves take, and its victim's caches keep the
 * others. A level's lanes are taken by the age of their first. All moves are O(1)
 * (S4). The lock is the caller's business; `occupied`, `colors` and `steal_time` are
 * also read without it, as hints.
 */
#ifndef WF_RUNQ_H
#define WF_RUNQ_H

#include "base/list.h"
#include "base/lock.h"
#include "scheduler/policy.h"

struct wf_color;

/* The worth of one that was pinned when it was queued: no thief takes it. */
enum { WF_WORTH_PINNED = WF_WORTHS };

/* What thieves may take, of `occupied`. */
#define WF_LOOT_LANES (((uint64_t)1 << WF_WORTHS * WF_LEVELS) - 1)

/* The lanes of colors that the kernel brought or that had a turn already. */
#define WF_IO_LANES ((uint64_t)0x5555555555555555)

/* The lanes of colors that are worth at least `least` to a thief. */
static inline uint64_t wf_loot_lanes(unsigned least)
{
	return WF_LOOT_LANES >> least * WF_LEVELS << least * WF_LEVELS;
}

struct wf_lane {
	struct wf_link list;
	uint32_t first; /* the number of the first in it */
};

/* Owner and thieves pull at the same lines: what each operation needs is together. */
struct WF_ALIGNED wf_runq {
	struct wf_lock lock;
	_Atomic uint32_t colors;     /* how many are queued */
	_Atomic uint64_t occupied;   /* a byte for each worth, in it a bit for each level */
	_Atomic uint64_t steal_time; /* ticks of work in those above WF_WORTH_KEPT */
	struct wf_rotation rotation WF_GUARDED(lock);
	uint8_t newest WF_GUARDED(lock);  /* colors popped before older ones */
	uint32_t number WF_GUARDED(lock); /* of the last one that was queued */
	struct wf_lane lanes[WF_WORTHS + 1][WF_LEVELS] WF_GUARDED(lock);
};

/* A color's place in a queue. Written under the queue's lock; level, worth and
 * queue are also read without it, as hints. */
struct wf_place {
	struct wf_link link;
	struct wf_runq *_Atomic at; /* the queue it is in, or NULL */
	uint32_t number;            /* those queued earlier have lower ones, but for wrapping */
	uint32_t left;              /* ticks of work, as last told, or the most that fits */
	_Atomic uint8_t level, worth;
	_Atomic int16_t pin; /* the color's: the worker that shall have it, or -1 */
};

void wf_runq_init(struct wf_runq *q);

void wf_runq_push(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left) WF_REQUIRES(q->lock);

/* Which color of one priority is next. CPU_FIRST: colors that handlers posted go first; IO_FIRST
 * and IO_NEWEST: those that the kernel brought. IO_NEWEST takes the color queued last, the others
 * the color queued first. */
enum wf_order { WF_CPU_FIRST, WF_IO_FIRST, WF_IO_NEWEST };

/* The next to run, or NULL. */
struct wf_place *wf_runq_pop(struct wf_runq *q, enum wf_order order) WF_REQUIRES(q->lock);

/* Whether any of `lanes` has a color; without the lock, a hint. */
static inline bool wf_runq_has_loot(const struct wf_runq *q, uint64_t lanes)
{
	return (WF_LOAD(&q->occupied) & lanes) != 0;
}

/* The color most worth stealing of those in `lanes`, or NULL. */
struct wf_place *wf_runq_steal(struct wf_runq *q, uint64_t lanes) WF_REQUIRES(q->lock);

/* Whether it counts in `steal_time`. */
static inline bool wf_runq_is_worthy(unsigned worth)
{
	return worth > WF_WORTH_KEPT && worth != WF_WORTH_PINNED;
}

/* Whether the next one to be stolen comes from the lane where `stolen` stood. */
static inline bool wf_runq_more_there(const struct wf_runq *q, const struct wf_place *stolen)
	WF_REQUIRES(q->lock)
{
	unsigned lane = WF_LOAD(&stolen->worth) * WF_LEVELS + WF_LOAD(&stolen->level);

	return WF_LOAD(&q->occupied) >> lane & 1;
}

/* Moves a queued color to a higher level or worth. It goes behind those there, but stays
 * ahead of those who came after it if it is the oldest. */
void wf_runq_move(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left) WF_REQUIRES(q->lock);

#endif
