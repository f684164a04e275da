/* stats.h - how many threads there are, and how deep their stacks were used. */
#ifndef WF_THREADS_STATS_H
#define WF_THREADS_STATS_H

#include "scheduler/flow.h"
#include "threads/thread.h"

/* One in so many threads is looked at when it has ended. */
enum { WF_THREAD_SAMPLE = 1024 };

/* What kernel threads did that are no workers. */
extern struct wf_thread_foreign {
	_Atomic uint64_t started, freed;
} wf_thread_foreign;

/* Looks how deep the thread's stack was used, for the high-water mark. Returns that. */
size_t wf_thread_measure(weft_thread *t);

/* `flow` is the worker's, NULL on a foreign kernel thread. */
static inline void wf_thread_count_started(struct wf_flow *flow)
{
	if (WF_LIKELY(flow != NULL))
		WF_ADD_OWN(&flow->started, 1u);
	else
		atomic_fetch_add(&wf_thread_foreign.started, 1);
}

static WF_INLINE void wf_thread_count_freed(struct wf_flow *flow, weft_thread *t)
{
	if (WF_UNLIKELY(flow == NULL)) {
		atomic_fetch_add(&wf_thread_foreign.freed, 1);
		return;
	}
	if (WF_UNLIKELY(WF_LOAD(&flow->freed) % WF_THREAD_SAMPLE == 0))
		(void)wf_thread_measure(t);
	WF_ADD_OWN(&flow->freed, 1u);
}

/* At the beginning of a run. */
void wf_thread_stats_start(void);

/* For the scheduler's table. */
void wf_thread_stats(weft_stats_all *all);

#endif
