/* flows.c - what the scheduler asks of threads: begin, end, the first one. */
#include <stdlib.h>

#include "platform/syscall.h"
#include "scheduler/flow.h"
#include "threads/body.h"
#include "threads/call.h"
#include "threads/dump.h"
#include "threads/locks.h"
#include "threads/overflow.h"
#include "threads/shm.h"
#include "threads/stats.h"
#include "threads/trim.h"

static int start(const weft_options *opt)
{
	int rc = wf_stacks_init(&wf_thread_stacks, sizeof(weft_thread), opt->stack_size);

	if (rc < 0)
		return rc;
	/* Without it an overflow is a bare crash: no reason not to run. */
	(void)wf_overflow_start(&wf_thread_stacks, wf_thread_overflowed);
	wf_thread_stats_start();
	wf_syscall_probe();
	wf_signal_waits_start();
	wf_trim_start();
	wf_shm_run_begins();
	return 0;
}

/* A thread that never ended: the run was stopped. */
static void abandon(void *record, void *arg)
{
	weft_thread *t = record;

	(void)arg;
	if (WF_LOAD(&t->state) == WF_THREAD_FREE)
		return;
	free(t->slots);
	wf_context_fini(&t->context);
}

static void stop(void)
{
	wf_overflow_stop();
	wf_shm_run_ends();
	wf_stack_each(&wf_thread_stacks, abandon, NULL);
	wf_locks_run_ends();
	wf_stacks_fini(&wf_thread_stacks);
}

static int open_worker(struct wf_worker *w)
{
	if (__cxa_get_globals != NULL)
		wf_worker_flow(w)->exceptions = __cxa_get_globals();
	return wf_overflow_open(&wf_worker_flow(w)->alternate);
}

static void close_worker(struct wf_worker *w)
{
	struct wf_flow *flow = wf_worker_flow(w);

	wf_body_drop_spares(w);
	wf_stack_cache_flush(&wf_thread_stacks, &flow->stacks);
	wf_overflow_close(flow->alternate);
}

static int first(int (*fn)(void *arg), void *arg, const char *where)
{
	weft_thread_attr attr = { .name = "main" };

	return wf_thread_start(NULL, &attr, fn, arg, where);
}

const struct wf_flow_table wf_flows = {
	.start = start,
	.stop = stop,
	.open = open_worker,
	.close = close_worker,
	.look_out = wf_shm_look_out,
	.look = wf_shm_look,
	.forked = wf_threads_forked,
	.first = first,
	.deadlocked = wf_threads_deadlocked,
	.running = wf_thread_running,
	.stack_end = wf_thread_stack_end,
	.stats = wf_thread_stats,
	.dump = wf_threads_dump,
};
