/* weft/observe.h - what the runtime is doing: counters, dumps, reports. */
#ifndef WEFT_OBSERVE_H
#define WEFT_OBSERVE_H

#include <weft/event.h>

WEFT_BEGIN_DECLS

/* Counters of one color class on one worker. */
typedef struct weft_class_stats {
	uint64_t run;     /* events that ran */
	uint64_t dropped; /* drop functions called instead */
	uint64_t stolen;  /* colors taken from another worker */
} weft_class_stats;

/* Counters of one worker, since weft_run began. */
typedef struct weft_worker_stats {
	uint64_t posted;       /* events posted on this worker: by handlers, the kernel, timers */
	uint64_t run;          /* events that ran here */
	uint64_t dropped;      /* drop functions called here */
	uint64_t turns;        /* turns given to colors */
	uint64_t steals;       /* colors taken from other workers */
	uint64_t steal_misses; /* looked at all victims, took nothing */
	uint64_t parks;        /* went to sleep */
	uint64_t wakes;        /* woke another worker */
	uint64_t polls;        /* asked the kernel for completions */
	uint64_t io_events;    /* completions and readiness that came */
	uint64_t timers_fired;
	uint64_t stalls;  /* times it was found stuck */
	uint64_t busy_ns; /* time in handlers, sampled */
	uint32_t colors;  /* colors queued now */
	uint32_t timers;  /* timers started now */
	int cpu;          /* where it was when it woke, up to a millisecond before it last did */
	bool parked;
	bool stuck;
	bool spare; /* stands in for a stuck one */
	weft_class_stats classes[WEFT_CLASSES];
} weft_worker_stats;

/* Counters of the runtime as a whole. */
typedef struct weft_stats_all {
	int workers;    /* how many the array would need */
	const char *io; /* "uring" or "epoll" */
	const char *steal;
	uint64_t steal_cost_ns;  /* what a steal is reckoned to cost now */
	uint64_t posted_foreign; /* events posted by threads that are no workers */
	uint64_t queued;         /* events queued now, in all colors */
	uint64_t ops;            /* operations and watches under way now */
	uint64_t offload_run;
	uint32_t offload_threads;
	uint32_t offload_queued;
	uint64_t threads;         /* that have started and not ended */
	uint64_t threads_started; /* since weft_run began */
	uint64_t stacks;          /* that exist: in use, or kept for the next threads */
	uint64_t stacks_used;     /* of threads that live, or wait to be joined */
	uint64_t stack_room;      /* bytes that a stack of the usual size offers */
	/* Bytes of stack, in whole pages, that the deepest thread used: of those that
	 * were looked at. weft_stats looks at 64 stacks at a time, the next ones with
	 * each call; besides, some threads are looked at when they end. */
	uint64_t stack_most;
} weft_stats_all;

/* Reads the counters: the whole and up to `max` workers, spares behind the
 * others. Each counter is right; together they are not one moment.
 *
 * Context:  any thread.
 * Returns:  the number of workers filled in
 *           -ESHUTDOWN  no runtime is running
 */
WEFT_API int weft_stats(weft_stats_all *all, weft_worker_stats *workers, int max);

/* Writes what is going on to a descriptor, as text for people: each worker,
 * its counters, what it runs now (and, once the watcher has noticed, for how
 * long), handlers and their times, threads (the first 100) with what they wait
 * for and their stacks.
 *
 * Context:  any thread.
 * Returns:  0, the error of write(2), -ENOMEM or -ESHUTDOWN
 */
WEFT_API int weft_dump(int fd);

/* Names a color class in dumps. `name` must stay; a string literal is best.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EINVAL     no such class
 */
WEFT_API int weft_class_name(int color_class, const char *name);

/* What a report is about. */
enum weft_report_kind {
	WEFT_REPORT_SETTING, /* a setting is wrong; weft_run gives -EINVAL */
	WEFT_REPORT_MISUSE,  /* a call was made in a way its contract forbids */
	WEFT_REPORT_STALL,   /* a worker is stuck; the text has its stack */
	WEFT_REPORT_BUG,     /* Weft itself is broken; the process aborts */
	WEFT_REPORT_KERNEL,  /* the kernel denies a system call; the text names it */
};

/* Takes over the reports that otherwise go to standard error. NULL gives them
 * back. In debug builds (WEFT_DEBUG) a misuse aborts when nobody took over.
 *
 * Context:  any thread; `fn` is called on the thread at fault, for stalls on a
 *           thread of ours. It must not block for long, nor call back into Weft.
 */
typedef void weft_report_fn(enum weft_report_kind kind, const char *text, void *arg);
WEFT_API void weft_on_report(weft_report_fn *fn, void *arg);

WEFT_END_DECLS
#endif
