/* policy.h - the scheduler's decisions, as plain code without locks, clocks or
 * threads: which level a color queues in, which level is next, whether a color
 * is worth stealing, whom to rob first, when to wake another worker, when an
 * event is dropped. The real workers and the simulator call the same functions.
 */
#ifndef WF_POLICY_H
#define WF_POLICY_H

#include <weft/event.h>
#include <weft/run.h>

#include "base/compiler.h"

/* Where an event comes from. CPU events, posted by handlers, run ahead of
 * events that the kernel or a foreign thread brought: what they need is warm in
 * the cache (libasync-mp, section 3.4). */
enum wf_source { WF_FROM_IO, WF_FROM_CPU };

enum { WF_STEAL_ON = 1, WF_STEAL_LOCALITY = 2, WF_STEAL_TIME = 4, WF_STEAL_PENALTY = 8 };
enum { WF_STEAL_ALL = WF_STEAL_ON | WF_STEAL_LOCALITY | WF_STEAL_TIME | WF_STEAL_PENALTY };

/* Levels of a worker's queue: 4 priorities, each with a lower half for I/O and
 * an upper one for CPU events. */
enum { WF_LEVELS = 8 };

/* How much a color is worth to a thief: 0 less than the trip, then by size.
 * Three worthy classes, as Mely has: exact order would cost a search tree. Below them, what is
 * worth the trip by its time alone: the kernel brought it, it is short, and it stays where it
 * is as long as its worker copes. */
enum { WF_WORTHS = 5, WF_WORTH_KEPT = 1 };

struct wf_policy {
	unsigned steal; /* WF_STEAL_ bits */
	unsigned batch;
	uint64_t color_depth, queue_depth, queue_delay; /* 0: none; delay in ticks */
	uint64_t fixed_steal_cost;                      /* ticks; 0: measured */
	_Atomic uint64_t steal_cost;                    /* ticks, as the thief measures */
	uint64_t least_cost, most_cost;                 /* what steal_cost may be, ticks */
	uint64_t wake_cost;                             /* ticks */
	uint64_t kept;                                  /* ticks; as WF_KEPT_NS */
	uint64_t swamped;                               /* ticks; as WF_SWAMPED_NS */
};

/* What a steal is taken to cost before the first was measured, and the bounds
 * of belief in a measurement (a preempted thief measures nonsense). */
enum { WF_STEAL_FIRST_NS = 400, WF_STEAL_LEAST_NS = 40, WF_STEAL_MOST_NS = 8000 };

/* What a steal costs in all, by what the thief measures: the victim's queue,
 * lists and caches are disturbed as well, and the color's next home is cold. */
enum { WF_STEAL_BOTH_PAY = 4 };

/* What waking a sleeping worker costs: a system call here, and an interrupt and a
 * context switch there. */
#define WF_WAKE_COST_NS 10000

/* What the kernel brings and takes no longer than this is kept. With it would go what the kernel
 * and the caches have of its descriptor, and who is woken for it takes a CPU from somebody, who
 * may be the client. */
#define WF_KEPT_NS 40000

/* A worker that was not idle for so long does not cope, and all that is worth a trip may go. */
#define WF_SWAMPED_NS 100000000

/* Reads "off", "base", "all" or names joined by '+'. 0 or -EINVAL. */
int wf_policy_parse_steal(const char *text, unsigned *flags);

static inline unsigned wf_policy_level(unsigned priority, enum wf_source from)
{
	static const uint8_t rank[4] = { 1, 0, 2, 3 }; /* normal, low, high, urgent */

	return rank[priority & 3] * 2u + (unsigned)from;
}

/* Picks a level among those occupied (bit mask, not 0): the highest, but every
 * WF_SKIPS turns that passed over a lower one, the next in rotation (S3). */
struct wf_rotation {
	uint8_t skipped, cursor;
};
unsigned wf_policy_pick(struct wf_rotation *r, unsigned occupied);

/* What a trip is reckoned to cost: what the user said, else by measurement. */
static inline uint64_t wf_policy_trip(const struct wf_policy *p)
{
	return p->fixed_steal_cost ? p->fixed_steal_cost
				   : WF_STEAL_BOTH_PAY * WF_LOAD(&p->steal_cost);
}

/* The worth of a color that has `left` ticks of work queued, brought from there. */
static inline unsigned wf_policy_worth(const struct wf_policy *p, uint64_t left,
				       enum wf_source from)
{
	uint64_t cost;

	if (!(p->steal & WF_STEAL_TIME))
		return 0;
	cost = wf_policy_trip(p);
	if (left <= cost)
		return 0;
	if (from == WF_FROM_IO && left <= p->kept)
		return WF_WORTH_KEPT;
	return left <= 4 * cost ? 2 : left <= 16 * cost ? 3 : 4;
}

/* The least worth that a thief takes: anything from a stuck worker and without
 * the time heuristic, else only what is worth more than the trip (S5); and what is
 * kept only from one that is swamped. */
static inline unsigned wf_policy_least_worth(const struct wf_policy *p, bool stuck, bool swamped)
{
	if (!(p->steal & WF_STEAL_TIME) || stuck)
		return 0;
	return swamped ? WF_WORTH_KEPT : WF_WORTH_KEPT + 1;
}

/* Whether work of `left` ticks that waits for a thief is worth waking one. */
static inline bool wf_policy_worth_waking(const struct wf_policy *p, uint64_t left)
{
	if (!(p->steal & WF_STEAL_ON))
		return false;
	return !(p->steal & WF_STEAL_TIME) || left > wf_policy_trip(p) + p->wake_cost;
}

/* Sets what is known before anything was measured: ticks in a microsecond, and
 * what the user says a steal costs, in ticks (0: nothing). */
void wf_policy_init(struct wf_policy *p, uint64_t ticks_per_us, uint64_t fixed_steal_cost);

/* Takes a new measurement of a steal into account. */
void wf_policy_steal_took(struct wf_policy *p, uint64_t ticks);

/* The cost to reckon for an event whose handler runs `ticks` on average. */
static inline uint32_t wf_policy_event_cost(const struct wf_policy *p, uint64_t ticks,
					    uint32_t penalty)
{
	if (WF_UNLIKELY(penalty > 1) && (p->steal & WF_STEAL_PENALTY))
		ticks /= penalty;
	return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

/* Whether an event that can be dropped shall be: because `depth` events are
 * queued ahead of it in its color, or `queued` in the machine (at posting), or
 * it was queued for `delay` ticks (at running). */
static inline bool wf_policy_too_deep(const struct wf_policy *p, uint64_t depth, uint64_t queued)
{
	return (p->color_depth && depth >= p->color_depth) ||
	       (p->queue_depth && queued >= p->queue_depth);
}

static inline bool wf_policy_too_late(const struct wf_policy *p, uint64_t delay)
{
	/* Signed: the counters of two CPUs may differ a little. */
	return p->queue_delay && (int64_t)delay > (int64_t)p->queue_delay;
}

#endif
