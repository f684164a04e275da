/* worker.h - one worker, and the machine of all of them. */
#ifndef WF_WORKER_H
#define WF_WORKER_H

#include <limits.h>
#include <pthread.h>

#include <weft/observe.h>
#include <weft/run.h>

#include "scheduler/color.h"
#include "scheduler/flow.h"
#include "scheduler/handler.h"
#include "scheduler/policy.h"
#include "scheduler/runq.h"
#include "scheduler/timer.h"

/* Counters that the worker writes and anybody reads. */
struct wf_counters {
	_Atomic uint64_t posted, run, dropped, turns, steals, steal_misses, parks, wakes, polls;
	_Atomic uint64_t io_events, timers_fired, busy_ticks, cancelled;
	struct {
		_Atomic uint64_t run, dropped, stolen;
	} classes[WEFT_CLASSES];
};

/* Awake; sleeping for lack of work; a stand-in sleeping because not needed; being
 * taken off the count of sleepers. */
enum wf_parked { WF_AWAKE, WF_PARKED, WF_RESTING, WF_ROUSED };

/* Something that is worth a try, unless it tends to be in vain: the more tries were, the more
 * are left out. */
struct wf_habit {
	uint8_t vain, spared;
};

struct WF_ALIGNED wf_worker {
	/* The worker's own. */
	struct wf_sched *sched;
	int id;
	uint8_t takes;            /* enum wf_order: which color it runs next */
	bool reserve;             /* a stand-in that serves all slow workers (stall.c) */
	bool shared;              /* it runs a shared event of its color: does not own it */
	struct wf_color *current; /* the color it runs, or NULL */
	uint64_t turn_end;        /* the beat that is the last of this turn */
	uint64_t poll_ticks;      /* time between two looks at the kernel */
	struct wf_flow flow;
	/* One that dozed, and is owned again: it has events, and is in no queue. Only between turns,
	 * and never while the worker counts as asleep. */
	struct wf_color *ready;
	/* That of `ready`, or of `dozing`, which others may have taken and freed: until it is
	 * exchanged its record is not to be looked at. */
	weft_color dozing_id;
	struct wf_sampler sampler;
	struct wf_pool_cache free_colors, free_events;
	/* Ids of the other regular workers, nearest first. Written by the worker,
	 * read by whoever wakes a thief for it. */
	_Atomic int *order;
	/* Start: under the runtime's lock. */
	int open_rc;
	bool opened, go;
	uint64_t last_poll;             /* ticks */
	uint64_t cpu_noted;             /* when it last looked on which CPU it is, ticks */
	uint64_t idle_at;               /* when it last had nothing to do, ticks */
	uint64_t last_timed;            /* when it last looked whether a turn may go on */
	uint8_t untimed;                /* batches of it that may go on without a look */
	uint64_t clock_ticks, clock_ns; /* one moment on both clocks */
	struct wf_habit looks;          /* at the kernel, before it sleeps */
	uint64_t served_at;             /* a reserve: when it last served the others, ns */
	struct wf_habit lingers;        /* awake for a while, before it sleeps */
	bool woken_soon;                /* another had something for it soon after it fell asleep */
	void *poller;
	void *top; /* what the layer on top keeps for it, or NULL */
	pthread_t thread;

	/* Written by the worker, read by all. */
	struct wf_counters counters WF_ALIGNED;
	_Atomic int64_t live; /* its part of the count of live things */
	_Atomic int64_t ops;
	_Atomic uint64_t beat;             /* changes with every event */
	weft_fn *_Atomic running;          /* the handler that runs, or NULL */
	const char *_Atomic running_where; /* where its event was posted */
	_Atomic int tid;
	_Atomic int cpu;                    /* where it was when it last looked */
	_Atomic bool swamped;               /* it does not cope: thieves may take what it keeps */
	_Atomic bool asleep;                /* in the kernel; also while it is being woken */
	struct wf_context *_Atomic context; /* the flow that its thread is in */

	/* Written by others too. */
	struct wf_runq queue WF_ALIGNED;
	_Atomic unsigned parked;         /* enum wf_parked */
	struct wf_color *_Atomic dozing; /* or NULL; whoever exchanges it owns it */
	_Atomic bool searching;          /* woken to look for work; counted in sched->searching */
	_Atomic bool stuck;
	_Atomic bool resting; /* a stand-in that nobody needs now; its own to write */
	_Atomic int covers;   /* a stand-in: the stuck worker that it serves, or -1 */
	/* The reserve's: the beat that it saw last, and whether the worker is stuck or has stayed
	 * in one handler for a round. */
	_Atomic uint64_t served_beat;
	_Atomic bool slow;
	struct wf_timers timers;

	/* The watcher's. */
	_Atomic uint64_t seen_beat, seen_at; /* the beat it saw last, and since when */
	uint64_t seen_cpu;
	_Atomic uint64_t stalls;
};

/* The value of `covers` in the reserve on duty. */
#define WF_COVERS_ALL INT_MAX

/* All workers and what they share. The simulator makes one too. */
struct wf_sched {
	struct wf_policy policy;
	int workers;         /* the regular ones */
	int limit;           /* with room for all stand-ins */
	_Atomic int started; /* workers[0 .. started) exist */
	struct wf_worker *_Atomic *worker;
	struct wf_table table;
	struct wf_pool events; /* for weft_post */
	/* Workers that sleep, and thieves under way: at most one is woken at a
	 * time, and wakes the next when it has found work. */
	struct WF_ALIGNED {
		_Atomic int idle;
		_Atomic int searching;
		_Atomic uint64_t foreign_posted;
	};
};

static inline struct wf_worker *wf_sched_worker(const struct wf_sched *s, int id)
{
	return atomic_load_explicit(&s->worker[id], memory_order_acquire);
}

/* For how long a worker stays awake that may have something to do soon; for tests to change. */
extern uint64_t wf_linger_ns;

/* How many `order` names. */
static inline int wf_worker_others(const struct wf_worker *w)
{
	return w->id < w->sched->workers ? w->sched->workers - 1 : w->sched->workers;
}

/* Notes that w has nothing to do. */
static inline void wf_worker_idle(struct wf_worker *w, uint64_t now)
{
	w->idle_at = now;
	if (WF_LOAD(&w->swamped))
		WF_STORE(&w->swamped, false);
}

/* Whether it has colors to run; on its own thread, between turns. */
static inline bool wf_worker_has_work(const struct wf_worker *w)
{
	return w->ready != NULL || WF_LOAD(&w->queue.colors) != 0;
}

/* The least worth of a color that a thief may take from v. Colors of a sleeping v came from others,
 * and an awake thief runs them sooner. A stand-in counts as stuck: it may be soon. */
static inline unsigned wf_worker_least_worth(const struct wf_worker *v)
{
	return wf_policy_least_worth(&v->sched->policy,
				     WF_LOAD(&v->stuck) || v->id >= v->sched->workers,
				     WF_LOAD(&v->swamped) || WF_LOAD(&v->asleep));
}

/* Events posted and not yet run, in the whole machine. */
uint64_t wf_sched_queued(const struct wf_sched *s);

/* Wakes a sleeping worker, near to `w`, to steal from it. Given by worker.c,
 * and by the simulator. */
void wf_sched_wake_thief(struct wf_worker *w);

#endif
