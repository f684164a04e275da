/* scheduler.h - the scheduler's door: what the layers above may use.
 *
 * Terms. A worker is a kernel thread that runs events. A foreign thread is any
 * other. Live things (operations, timers, watches, lookups, held-open work) are
 * counted: weft_run ends when nothing is queued and nothing is live.
 */
#ifndef WF_SCHEDULER_H
#define WF_SCHEDULER_H

#include <weft/event.h>
#include <weft/run.h>

#include "base/compiler.h"

struct wf_worker;

/* The worker that runs the caller, or NULL on a foreign thread. Do not keep it
 * across a call that may switch. */
struct wf_worker *wf_worker_self(void);

/* Workers have ids from 0. Ids from wf_worker_count() on are stand-ins for
 * stuck workers; wf_worker_by_id gives NULL for one that never ran. */
int wf_worker_count(void);
int wf_worker_limit(void);
struct wf_worker *wf_worker_by_id(int id);
int wf_worker_id(const struct wf_worker *w);

/* True while the worker's thread does not come back from a handler. */
bool wf_worker_stuck(const struct wf_worker *w);
/* Whether others serve what a stuck worker has. */
bool wf_stuck_are_covered(void);

/* Whether a time on wf_now's clock has come, for the worker on its own thread: exact, and cheap
 * while it has not. */
bool wf_worker_past(struct wf_worker *w, uint64_t when);

/* Wakes a parked worker; nothing happens to one that is awake. Free of races
 * with parking: what was made visible before this call is seen by the worker
 * before it sleeps. Any thread, between wf_enter and wf_leave. */
void wf_worker_wake(struct wf_worker *w);

/* The poller's own memory for this worker. */
void *wf_worker_poller(const struct wf_worker *w);
void wf_worker_set_poller(struct wf_worker *w, void *poller);

/* Opens the gate for a public call: 0, or -ESHUTDOWN when no runtime is
 * running. Between wf_enter and wf_leave the runtime is not freed, even if it
 * stops meanwhile. Free of cost on workers. */
int wf_enter(void);
void wf_leave(void);

/* Whether the runtime is stopping; new work is refused with -ESHUTDOWN. */
bool wf_stopping(void);

/* Stops the run because the kernel fails `call` with `error`: reports the call, once in a run, and
 * makes `error` the result of weft_run. Any thread, between wf_enter and wf_leave. */
WF_COLD void wf_run_fails(const char *call, int error);

/* The number of the run, in the top bits of a word; never 0. Objects outlive runs, so their owners
 * and waiters are marked with the number of their run. Numbers repeat after 65,535 runs. */
#define WF_RUN_SHIFT 48
#define WF_RUN_MASK ((uint64_t)0xffff << WF_RUN_SHIFT)
extern uint64_t wf_run_mark __attribute__((visibility("hidden"))); /* plain within the run */

static inline uint32_t wf_run_marked(uint64_t word)
{
	return (uint32_t)(word >> WF_RUN_SHIFT);
}

static inline uint32_t wf_run_number(void)
{
	return wf_run_marked(__atomic_load_n(&wf_run_mark, __ATOMIC_RELAXED));
}

/* Whether run `number` is over for the caller: it is an earlier run, or the caller is outside of
 * runs. 0 is the number of no run. */
WF_COLD bool wf_run_is_over(uint32_t number);

/* Checks what the user put into an event: 0 or -EINVAL (function, priority,
 * color). */
int wf_event_check(const weft_event *ev);

/* Posts an event that the user was promised: never fails. `w` is the worker
 * where it should run for the sake of warm caches, NULL for no matter. It is an
 * I/O event: CPU events (posted by handlers) run ahead of it. Between wf_enter
 * and wf_leave, or on a worker; no lock above WF_RANK_COLOR may be held. */
void wf_event_deliver(struct wf_worker *w, weft_event *ev);
/* The same for several of one color, which costs little more. Uses `evs` up. */
void wf_event_deliver_some(struct wf_worker *w, weft_event **evs, int n);
/* The same for what the running thread has brought about: if it runs `run`, in that one's
 * color, it stands by until that waits. False: it is to be delivered. */
bool wf_event_stand_by(weft_event *ev, weft_fn *run);

/* weft_post for work that was promised: memory and the number of colors do not limit it. Returns
 * 0, or -ESHUTDOWN. */
int wf_post(weft_color color, weft_fn *fn, void *arg, const char *where);

/* The same in the color that `w`, which runs the caller, is in exclusive use of. */
void wf_post_here(struct wf_worker *w, weft_fn *fn, void *arg, const char *where);

/* What the layer on top is asked; there is one such layer. */
struct wf_text;
struct wf_top {
	/* At the beginning of every run, before any worker runs. */
	void (*begin)(void);
	/* At the end of every run, when no worker runs any more and before what is queued is
	 * thrown away; `dry` if there was nothing left to do. */
	void (*end)(bool dry);
	/* Its part of weft_dump. Any thread, inside the gate. */
	void (*dump)(struct wf_text *out);
};
void wf_on_top(const struct wf_top *top);

/* Counts live things, up or down. A thing that becomes live in one place and
 * ends in another is no problem. Go down only after delivering. */
void wf_live_add(int n);

/* The same for operations, which weft_stats tells apart. */
void wf_live_op_add(int n);

#endif
