/* runq.h - one worker's queue of colors that have work.
 *
 * Every queued color stands in one level (where its worker finds it) and,
 * unless it is pinned, in one worth list (where a thief finds it). All moves
 * are O(1) (S4). The lock is the caller's business; `worths` and `colors` are
 * also read without it, as hints.
 */
#ifndef WF_RUNQ_H
#define WF_RUNQ_H

#include "base/list.h"
#include "base/lock.h"
#include "scheduler/policy.h"

struct wf_color;

/* Owner and thieves pull at the same lines: what each operation needs is together. */
struct WF_ALIGNED wf_runq {
	struct wf_lock lock;
	_Atomic unsigned worths;            /* bit for each worth list that is not empty */
	_Atomic uint32_t colors;            /* how many are queued */
	_Atomic uint64_t steal_time;        /* ticks of work in worthy colors */
	unsigned occupied WF_GUARDED(lock); /* bit for each level that is not empty */
	struct wf_rotation rotation WF_GUARDED(lock);
	struct wf_link steals[WF_WORTHS] WF_GUARDED(lock);
	struct wf_link levels[WF_LEVELS] WF_GUARDED(lock);
};

/* A color's place in a queue. Written under the queue's lock; level, worth and
 * queue are also read without it, as hints. */
struct wf_place {
	struct wf_link level, steal;
	struct wf_runq *_Atomic at; /* the queue it is in, or NULL */
	uint32_t left;              /* ticks of work, as last told, or the most that fits */
	_Atomic uint8_t level_at, worth;
	_Atomic int16_t pin; /* the color's: the worker that shall have it, or -1 */
};

/* The worth of one that was pinned when it was queued: it is in no worth list. */
enum { WF_WORTH_PINNED = WF_WORTHS };

void wf_runq_init(struct wf_runq *q);

void wf_runq_push(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left) WF_REQUIRES(q->lock);

/* The next to run, or NULL. */
struct wf_place *wf_runq_pop(struct wf_runq *q) WF_REQUIRES(q->lock);

/* The one most worth stealing, if it is worth `least`; or NULL. */
struct wf_place *wf_runq_steal(struct wf_runq *q, unsigned least) WF_REQUIRES(q->lock);

/* Moves a queued color to a higher level or another worth. */
void wf_runq_move(struct wf_runq *q, struct wf_place *place, unsigned level, unsigned worth,
		  uint64_t left) WF_REQUIRES(q->lock);

#endif
