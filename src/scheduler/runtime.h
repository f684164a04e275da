/* runtime.h - the running runtime: the machine of workers, its settings and its
 * end. There is at most one in a process.
 */
#ifndef WF_RUNTIME_H
#define WF_RUNTIME_H

#include <pthread.h>
#include <semaphore.h>

#include "platform/clock.h"
#include "platform/cpus.h"
#include "platform/topology.h"
#include "scheduler/scheduler.h"
#include "scheduler/worker.h"

/* Settings after defaults and environment have been filled in. */
struct wf_settings {
	weft_options opt;
	unsigned steal;
	char steal_text[64]; /* opt.steal, whose memory may be the environment's */
};

struct wf_runtime {
	struct wf_settings settings;
	struct wf_sched sched;
	struct wf_topology topology;
	struct wf_cpus cpus;
	bool flat; /* all CPUs in use are equally near */
	int (*fn)(void *arg);
	void *arg;
	int result;           /* of fn */
	bool returned;        /* fn has */
	_Atomic bool ran_dry; /* the run ended for lack of work */
	_Atomic int failed;   /* 0, or the error of wf_run_fails */

	_Atomic bool stopping;
	_Atomic bool forked;     /* this is the memory of a forked child */
	_Atomic int64_t live;    /* live things that foreign threads counted */
	_Atomic int64_t ops;     /* the same of operations, for weft_stats */
	_Atomic int64_t holds;   /* of weft_hold; counted in live as well */
	_Atomic int resting;     /* stand-ins that sleep */
	_Atomic int on_duty;     /* id of the reserve on duty, or -1 */
	_Atomic uint64_t roused; /* how often a sleeper was taken off the books */

	/* Beginning and end. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int out;      /* workers that left their loop */
	bool closing; /* all are out: close the pollers */

	/* The watcher (stall.c). */
	pthread_t watcher;
	sem_t watch;
	bool watching;
	_Atomic bool watch_end;
	_Atomic bool watch_asleep;
	uint64_t last_report; /* the watcher's own, as is `reserves` */
	int reserves;         /* how many reserves were started */

	/* Its reporter. */
	pthread_t reporter;
	sem_t report;
	bool reports; /* the reporter was started */
	struct wf_worker *_Atomic report_of;
	weft_fn *report_fn;
};

/* The calls by which pthread_create fails if a sandbox denies one of them. */
#define WF_THREAD_CALLS "pthread_create, by clone3, clone, mmap or mprotect"

/* Valid while weft_run has not returned. */
extern struct wf_runtime *wf_rt;

/* What wf_worker_self gives, for those who never switch: else the compiler keeps its address. */
extern _Thread_local struct wf_worker *wf_self_worker __attribute__((tls_model("initial-exec")));

/* NULL: there is none, or it was not used yet. */
extern const struct wf_top *_Atomic wf_top;

/* Fills in settings from the struct, given at `where`, and the environment;
 * reports what is wrong. 0 or -EINVAL. */
int wf_settings_read(struct wf_settings *set, const weft_options *opt, const char *where);

/* Makes worker `id` (memory and place in sched->worker), not its thread. */
int wf_worker_new(struct wf_runtime *rt, int id);
void wf_worker_free(struct wf_runtime *rt, int id);

/* Fills in the worker's order of theft from where all workers are now. */
void wf_worker_sort_victims(struct wf_worker *w);

/* The life of a worker, on its own thread: open, run until the runtime stops,
 * close. wf_worker_thread does it all for the threads that we start. */
int wf_worker_open(struct wf_worker *w);
void wf_worker_run(struct wf_worker *w);
void wf_worker_close(struct wf_worker *w);
void *wf_worker_thread(void *worker);
void wf_worker_set_self(struct wf_worker *w);

/* A handler or thread has ended the calling worker's kernel thread: reports it and aborts. */
WF_COLD void wf_worker_ended(void);

/* wf_now for the worker on its own thread, at a third of the cost; never earlier,
 * and later by less than a microsecond. */
uint64_t wf_worker_now(struct wf_worker *w);

/* How long the two clocks, once compared, are taken to agree. */
#define WF_CLOCKS_AGREE_NS ((uint64_t)1000000)

/* Time since then, by ticks. */
static inline uint64_t wf_worker_since_clocks(const struct wf_worker *w)
{
	return wf_ticks_to_ns(wf_ticks() - w->clock_ticks + wf_ticks_error());
}

/* wf_worker_now without a call; false: they must be compared again. */
static inline bool wf_worker_knows_now(const struct wf_worker *w, uint64_t *now)
{
	uint64_t ns = wf_worker_since_clocks(w);

	/* The rate of ticks is known to 1 in 10,000: a timer must not be early. */
	*now = w->clock_ns + ns + ns / 4096;
	return WF_LIKELY(ns <= WF_CLOCKS_AGREE_NS);
}

/* Ends sleep that came of lack of work, for the worker on its own thread. */
void wf_worker_get_up(struct wf_worker *w);
static inline bool wf_worker_awake(struct wf_worker *w)
{
	return WF_LIKELY(atomic_load(&w->parked) == WF_AWAKE);
}

static inline void wf_worker_unpark(struct wf_worker *w)
{
	if (!wf_worker_awake(w))
		wf_worker_get_up(w);
}

/* wf_live_add for the worker on its own thread; and if it is awake. */
static inline void wf_worker_live_add_awake(struct wf_worker *w, int n)
{
	atomic_store_explicit(&w->live, WF_LOAD(&w->live) + n, memory_order_release);
}

static inline void wf_worker_live_add(struct wf_worker *w, int n)
{
	wf_worker_unpark(w);
	wf_worker_live_add_awake(w, n);
}

/* Asks all workers to leave. Safe in signal handlers. */
void wf_runtime_stop(struct wf_runtime *rt);

/* True, after telling everybody to stop, if nothing is left that could make
 * work. Called by a worker about to sleep. */
bool wf_runtime_finished(struct wf_runtime *rt);

/* Whether all workers sleep. */
bool wf_runtime_asleep(struct wf_runtime *rt);

/* Something that kept the run alive has ended on a foreign thread: if all
 * workers sleep, one must look whether that was the last. */
void wf_runtime_look_again(struct wf_runtime *rt);

/* The watcher: finds stuck workers, and sleeps when all workers sleep. */
int wf_watch_start(struct wf_runtime *rt);
void wf_watch_end(struct wf_runtime *rt);
void wf_watch_wake(struct wf_runtime *rt);

/* A worker came back that the watcher had found stuck. */
void wf_stall_over(struct wf_worker *w);

#endif
