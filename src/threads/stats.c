/* stats.c - how many threads there are, and how deep their stacks were used.
 *
 * A stack's pages stay when its thread ends, so those that are kept for the next
 * threads tell of the past as well. Looking costs a system call each: it is done for
 * some threads at their end, for all before their pages are given back, and for some
 * stacks whenever somebody asks.
 */
#include "threads/stats.h"

enum { AT_ONCE = 64 };

struct wf_thread_foreign wf_thread_foreign;

static struct {
	_Atomic size_t most;
	atomic_flag looking; /* somebody does */
	struct wf_stack_cursor cursor;
} depth = { .looking = ATOMIC_FLAG_INIT };

/* Of threads that may be starting: the class of a stack never changes. */
WF_NO_TSAN size_t wf_thread_measure(weft_thread *t)
{
	size_t used = wf_stack_used(t->stack_class, t);
	size_t most = WF_LOAD(&depth.most);

	while (used > most && !atomic_compare_exchange_weak(&depth.most, &most, used))
		;
	return used;
}

static WF_NO_TSAN void measure(void *record, void *unused)
{
	weft_thread *t = record;

	(void)unused;
	/* Its class is known once it was used. */
	if (*(weft_thread_fn *volatile *)&t->fn != NULL)
		(void)wf_thread_measure(t);
}

static void measure_some(void)
{
	if (atomic_flag_test_and_set(&depth.looking))
		return;
	(void)wf_stack_some(&wf_thread_stacks, &depth.cursor, AT_ONCE, measure, NULL);
	atomic_flag_clear(&depth.looking);
}

void wf_thread_stats_start(void)
{
	WF_STORE(&depth.most, 0);
	depth.cursor = (struct wf_stack_cursor){ 0 };
	atomic_store(&wf_thread_foreign.started, 0);
	atomic_store(&wf_thread_foreign.freed, 0);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void wf_thread_stats(weft_stats_all *all)
{
	uint64_t ended = 0, freed = atomic_load(&wf_thread_foreign.freed);
	uint64_t started;

	/* In this order, so that what has ended has been started. */
	for (int i = 0; i < wf_worker_started(); i++) {
		const struct wf_flow *flow = wf_worker_flow(wf_worker_by_id(i));

		freed += WF_LOAD(&flow->freed);
		ended += WF_LOAD(&flow->ended);
	}
	started = atomic_load(&wf_thread_foreign.started);
	for (int i = 0; i < wf_worker_started(); i++)
		started += WF_LOAD(&wf_worker_flow(wf_worker_by_id(i))->started);
	measure_some();
	all->threads_started = started;
	all->threads = less(started, ended);
	all->stacks = WF_LOAD(&wf_thread_stacks.carved);
	all->stacks_used = less(started, freed);
	all->stack_room = wf_stack_room(&wf_thread_stacks, wf_thread_stacks.usual);
	all->stack_most = WF_LOAD(&depth.most);
}
