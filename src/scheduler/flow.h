/* flow.h - the scheduler's table upward for flows: handlers that may wait because
 * they have a stack of their own.
 *
 * src/threads fills in wf_flows. The worker runs events on its kernel thread's
 * stack; an event that resumes a flow leaves that stack, and comes back when the
 * flow waits. A flow that waits may go straight on to the next one of its color, if
 * that is what the worker would run next: turn.h says so.
 */
#ifndef WF_FLOW_H
#define WF_FLOW_H

#include <weft/event.h>
#include <weft/observe.h>
#include <weft/run.h>

#include "platform/context.h"
#include "platform/stack.h"

struct wf_worker;
struct weft_thread;

/* What a worker keeps for flows. */
struct wf_flow {
	struct weft_thread *left; /* the flow that left last, if it wants something done */
	/* Stacks that are ready for bodies, and how many there are of them, with those where
	 * a body runs that has not waited yet. */
	struct weft_thread *spare;
	struct wf_exceptions *exceptions; /* of its kernel thread; NULL: there is no C++ */
	unsigned spares;
	struct wf_context own; /* the worker's own flow, while another runs */
	/* Flows of its color that the running one has made or woken since it last waited,
	 * and what each is reckoned to cost. */
	weft_event *young, *youngest;
	uint32_t young_count, young_cost;
	struct wf_stack_cache stacks;
	void *alternate; /* stack for signals */
	_Atomic uint64_t started, ended, freed;
};

/* Workers with smaller ids exist, until the run ends. */
int wf_worker_started(void);
struct wf_flow *wf_worker_flow(struct wf_worker *w);
/* Where the worker's kernel thread is: in its own flow, or in another, or in a body that
 * lies on that. */
const struct wf_context *wf_worker_context(const struct wf_worker *w);

/* Whether there is something for the worker to do: it was given work, or is to stop. */
bool wf_worker_wanted(const struct wf_worker *w);

/* Whether there is a CPU for each worker: one that stays awake takes none from another. */
bool wf_worker_has_cpu(const struct wf_worker *w);

/* Text that is gathered for weft_dump. */
struct wf_text;
void wf_text_put(struct wf_text *out, const char *fmt, ...) WF_PRINTF(2, 3);

struct wf_flow_table {
	/* Before any worker runs, and after all are gone and the pollers stopped. */
	int (*start)(const weft_options *opt);
	void (*stop)(void);
	/* On the worker's own thread, at its start and end. */
	int (*open)(struct wf_worker *w);
	void (*close)(struct wf_worker *w);
	/* In a forked child, on the thread that forked. */
	void (*forked)(void);
	/* While there is something that the kernel does not tell of (wf_watched). The worker has
	 * nothing to do, and would sleep: looks for that for a short while. True: something came.
	 * Else, and by `look` now and then while there is work, it sees to it that the kernel
	 * will tell. */
	bool (*look_out)(struct wf_worker *w);
	void (*look)(void);
	/* Starts the flow of the user's first function, in WEFT_MAIN. */
	int (*first)(int (*fn)(void *arg), void *arg, const char *where);
	/* Nothing is left that could make work: tells the user of flows that wait all
	 * the same. True if there are any. */
	bool (*deadlocked)(void);
	/* Writes which flow runs on w, to a text, and where it was started, if that is known. False:
	 * none does. */
	bool (*running)(const struct wf_worker *w, char *text, size_t size, const char **where);
	/* Where the flow's stack ends that the address lies in; 0: there is none. */
	uintptr_t (*stack_end)(uintptr_t sp);
	/* Their part of weft_stats and weft_dump. Any thread, inside the gate. */
	void (*stats)(weft_stats_all *all);
	void (*dump)(struct wf_text *out);
};

extern const struct wf_flow_table wf_flows;

/* How many things there are that flows wait for, and that the kernel does not tell of. */
extern _Atomic unsigned wf_watched;

#endif
