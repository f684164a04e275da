/* poller.h - the scheduler's table upward: how a worker waits for the kernel.
 *
 * src/io fills in wf_pollers. Each worker has one poller (a ring or an epoll
 * instance), reached by wf_worker_poller(w). The worker calls `poll` between
 * turns; the poller hands finished work back by wf_event_deliver.
 */
#ifndef WF_POLLER_H
#define WF_POLLER_H

#include <weft/run.h>

#include "base/compiler.h"

struct wf_worker;

struct wf_poller_table {
	/* Before any worker runs: chooses the backend (opt->io, already checked to
	 * be NULL, "auto", "uring" or "epoll") and makes what workers share. */
	int (*start)(const weft_options *opt, int workers);
	/* After all workers ended: ends the helper threads and frees what `start`
	 * and the calls since then made. */
	void (*stop)(void);
	/* "uring" or "epoll". */
	const char *(*name)(void);
	/* On the worker's own thread, at its start and end. After `close` the kernel
	 * touches no memory of operations that this worker had under way. */
	int (*open)(struct wf_worker *w);
	void (*close)(struct wf_worker *w);
	/* Hands to the kernel what was started here, and delivers what is finished.
	 * Waits for the first completion or a wake: not at all (0), at most until then
	 * (as wf_now), or without limit (UINT64_MAX); now and then less. Returns how many
	 * events it delivered of those that the kernel had. */
	int (*poll)(struct wf_worker *w, uint64_t until);
	/* Makes a poll that waits (now or next) return. Any thread. */
	void (*wake)(struct wf_worker *w);
	/* Delivers what is finished for `stuck`, whose thread does not come back, and
	 * takes over what was handed to it but not yet given to the kernel. Called on
	 * the thread of another worker, `self`. Never waits. */
	int (*serve)(struct wf_worker *self, struct wf_worker *stuck);
	/* Counters of the offload pool, for weft_stats. */
	void (*offload_stats)(uint64_t *run, uint32_t *threads, uint32_t *queued);
};

extern const struct wf_poller_table wf_pollers;

#endif
