/* timer.h - one worker's timers: a wheel and its lock. */
#ifndef WF_TIMER_H
#define WF_TIMER_H

#include <weft/time.h>

#include "base/lock.h"
#include "scheduler/wheel.h"

struct wf_worker;

struct wf_timers {
	struct wf_lock lock;
	struct wf_wheel wheel; /* under the lock */
	/* When the worker must look next, on weft_now's clock; UINT64_MAX: never.
	 * Written under the lock, read without. */
	_Atomic uint64_t next;
	_Atomic uint32_t count; /* started timers, background ones too; likewise */
};

void wf_timers_init(struct wf_timers *ts, uint64_t now);

/* After the last handler ran: forgets the timers that are still started, which
 * become their owners' again. */
void wf_timers_fini(struct wf_timers *ts);

/* Posts what is due in `w`'s wheel at `now`, as I/O events at `at` (w itself,
 * or its stand-in). Returns how many. Cheap when nothing is due. When very many
 * are due it returns before all are posted, and `next` stays in the past. */
unsigned wf_timers_run(struct wf_worker *w, struct wf_worker *at, uint64_t now);

/* Given by worker.c: ends the worker's sleep. */
void wf_worker_wake(struct wf_worker *w);

#endif
