/* stall.c - finds workers that do not come back, and sends stand-ins.
 *
 * The watcher is a thread that looks at every worker's beat once in stall_ms. A
 * worker in the same handler at two looks in a row is stuck, if it waits in the
 * kernel or has used the CPU meanwhile; one that other programs keep off the
 * CPU is not, and a stand-in would get no CPU either. A stuck worker's queue is open
 * to every thief (whatever is queued, not only what is worth it), and a
 * stand-in, a worker with a poller of its own, serves its kernel events and its
 * timers until it is back. The watcher sleeps when all workers have slept for
 * a while, so that an idle program has no ticks (S6).
 *
 * The reserve. Where many threads compute, the stand-ins compute too. When one of them is stuck,
 * a further stand-in goes on duty as the reserve. It runs what the kernel and foreign threads
 * bring and what its own handlers post, and leaves all else to the others. A reserve that does
 * not come back within two looks is replaced by the next.
 *
 * Rejected: a timer signal per worker (breaks system calls of the user), and
 * handing the worker's identity to another thread, as Go does (a ring belongs
 * to the thread that submitted to it).
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/capacity.h"
#include "base/fault.h"
#include "base/probe.h"
#include "base/report.h"
#include "platform/backtrace.h"
#include "platform/clock.h"
#include "scheduler/runtime.h"

/* Looks in a row that find all asleep before the watcher sleeps too. */
enum { QUIET_LOOKS = 5 };

/* Looks in stall_ms while a reserve is on duty. */
enum { LOOKS_ON_DUTY = 5 };

enum { STACK_TEXT = 4096 };

/* At most one report in this time; weft_stats counts them all. */
#define REPORT_EVERY_NS ((uint64_t)1000000000)

/* Its own stack, or a flow's. */
static uintptr_t stack_end(const void *worker, uintptr_t sp)
{
	const struct wf_context *own = &((const struct wf_worker *)worker)->flow.own;

	return sp >= own->low && sp < own->high ? own->high : wf_flows.stack_end(sp);
}

static void report_stall(struct wf_worker *w, weft_fn *fn)
{
	char stack[STACK_TEXT], flow[64];
	const char *where = WF_LOAD(&w->running_where);
	bool is_flow;

	wf_backtrace_of(WF_LOAD(&w->tid), stack_end, w, stack, sizeof stack);
	is_flow = wf_flows.running(w, flow, sizeof flow, &where);
	if (WF_LOAD(&w->running) != fn)
		return; /* it came back while we looked: the stack says nothing */
	wf_report(WF_REPORT_STALL,
		  "worker %d is stuck: %s (%s at %s) runs for over %d ms; its other work goes on "
		  "elsewhere%s",
		  w->id, is_flow ? flow : "its handler", is_flow ? "started" : "posted",
		  where ? where : "an internal place", wf_rt->settings.opt.stall_ms, stack);
}

static void *report_stalls(void *arg)
{
	struct wf_runtime *rt = arg;

	wf_thread_name("weft-report");
	for (;;) {
		struct wf_worker *w;

		while (sem_wait(&rt->report) != 0)
			continue;
		w = atomic_load(&rt->report_of);
		if (w == NULL)
			return NULL;
		report_stall(w, rt->report_fn);
		atomic_store(&rt->report_of, NULL);
	}
}

/* Has the reporter make the report, a thread of its own that is started for the first one: to get a
 * stack takes up to a tenth of a second, and the watcher must go on looking. */
static void order_report(struct wf_runtime *rt, struct wf_worker *w, weft_fn *fn, uint64_t now)
{
	if (now - rt->last_report < REPORT_EVERY_NS || atomic_load(&rt->report_of) != NULL)
		return;
	rt->last_report = now;
	if (!rt->reports &&
	    (WF_FAULT(EAGAIN) || pthread_create(&rt->reporter, NULL, report_stalls, rt) != 0)) {
		report_stall(w, fn);
		return;
	}
	rt->reports = true;
	rt->report_fn = fn;
	atomic_store(&rt->report_of, w);
	sem_post(&rt->report);
}

/* Time between two looks. It is shorter while a reserve is on duty: what a reserve runs should be
 * short, and the next reserve replaces it as soon as it is not. */
static uint64_t look_every(const struct wf_runtime *rt)
{
	uint64_t limit = (uint64_t)rt->settings.opt.stall_ms * 1000000;

	return atomic_load(&rt->on_duty) < 0 ? limit : limit / LOOKS_ON_DUTY;
}

/* A resting stand-in of the kind wanted, or NULL. */
static struct wf_worker *find_resting(struct wf_runtime *rt, bool reserve)
{
	int n = atomic_load(&rt->sched.started);

	for (int i = rt->sched.workers; i < n; i++) {
		struct wf_worker *w = wf_sched_worker(&rt->sched, i);

		if (w->reserve == reserve && WF_LOAD(&w->covers) < 0 && !WF_LOAD(&w->stuck))
			return w;
	}
	return NULL;
}

/* Whether one more reserve, or one more other stand-in, may be started. */
static bool has_room(const struct wf_runtime *rt, bool reserve)
{
	int others = WF_WORKERS_OPEN(rt->sched.workers);

	if (reserve)
		return rt->reserves < rt->sched.limit - others;
	return atomic_load(&rt->sched.started) - rt->reserves < others;
}

/* Starts one more; NULL if that fails, which only makes the stall worse. */
static struct wf_worker *start_stand_in(struct wf_runtime *rt, bool reserve)
{
	struct wf_sched *s = &rt->sched;
	int id = atomic_load(&s->started);
	struct wf_worker *w;

	if (!has_room(rt, reserve) || wf_worker_new(rt, id) < 0)
		return NULL;
	w = wf_sched_worker(s, id);
	w->reserve = reserve;
	/* A stand-in runs the kernel's colors first, so that I/O goes on until it is stuck too. A
	 * reserve takes the newest of them: a color that has waited for long may be one that
	 * computes. */
	w->takes = reserve ? WF_IO_NEWEST : WF_IO_FIRST;
	for (int i = 0; i < s->workers; i++)
		WF_STORE(&w->order[i], i);
	WF_STORE(&w->resting, true);
	if (WF_FAULT(EAGAIN) || pthread_create(&w->thread, NULL, wf_worker_thread, w) != 0) {
		wf_worker_free(rt, id);
		return NULL;
	}
	pthread_mutex_lock(&rt->lock);
	while (!w->opened)
		pthread_cond_wait(&rt->changed, &rt->lock);
	w->go = true;
	if (w->open_rc == 0)
		atomic_store(&s->started, id + 1);
	pthread_cond_broadcast(&rt->changed);
	pthread_mutex_unlock(&rt->lock);
	if (w->open_rc < 0) {
		pthread_join(w->thread, NULL);
		wf_worker_free(rt, id);
		return NULL;
	}
	rt->reserves += reserve;
	return w;
}

static struct wf_worker *get_stand_in(struct wf_runtime *rt, bool reserve)
{
	struct wf_worker *w = find_resting(rt, reserve);

	return w != NULL ? w : start_stand_in(rt, reserve);
}

/* A stand-in that runs nothing, even if it covers a worker; or NULL. */
static struct wf_worker *find_idle(struct wf_runtime *rt)
{
	for (int i = rt->sched.workers; i < atomic_load(&rt->sched.started); i++) {
		struct wf_worker *w = wf_sched_worker(&rt->sched, i);

		if (WF_LOAD(&w->running) == NULL && !WF_LOAD(&w->stuck))
			return w;
	}
	return NULL;
}

/* Whoever sleeps shall at least rob the stuck one's queue. */
static void wake_all(struct wf_runtime *rt)
{
	for (int i = 0; i < rt->sched.workers; i++)
		wf_worker_wake(wf_sched_worker(&rt->sched, i));
}

/* Sends a stand-in for `stuck`. False if there is none. */
static bool cover(struct wf_runtime *rt, struct wf_worker *stuck)
{
	struct wf_worker *w;

	/* A run does not end while somebody is inside: not between the two steps
	 * of waking a worker either. */
	if (wf_enter() < 0)
		return true;
	w = get_stand_in(rt, false);
	if (w != NULL) {
		WF_STORE(&w->covers, stuck->id);
		wf_worker_wake(w);
	} else {
		wake_all(rt);
	}
	wf_leave();
	return w != NULL;
}

/* Whether a reserve is needed: a stand-in is stuck and no reserve is on duty, or the reserve on
 * duty is slow, or it does not serve: it was about to rest when it was sent. */
static bool needs_reserve(struct wf_runtime *rt, uint64_t now)
{
	int id = atomic_load(&rt->on_duty);
	struct wf_worker *w;

	if (id < 0) {
		for (int i = rt->sched.workers; i < atomic_load(&rt->sched.started); i++)
			if (WF_LOAD(&wf_sched_worker(&rt->sched, i)->stuck))
				return true;
		return false;
	}
	w = wf_sched_worker(&rt->sched, id);
	if (WF_LOAD(&w->covers) != WF_COVERS_ALL)
		return true;
	return WF_LOAD(&w->running) != NULL && now - WF_LOAD(&w->seen_at) >= look_every(rt);
}

/* Puts a reserve on duty if one is needed. False if there is none. */
static bool keep_reserve(struct wf_runtime *rt, uint64_t now)
{
	struct wf_worker *w;

	if (!needs_reserve(rt, now) || wf_enter() < 0)
		return true;
	w = get_stand_in(rt, true);
	if (w == NULL)
		w = find_idle(rt);
	if (w != NULL) {
		/* In this order: a reserve that is not on duty rests. */
		atomic_store(&rt->on_duty, w->id);
		atomic_store_explicit(&w->covers, WF_COVERS_ALL, memory_order_release);
		wf_worker_wake(w);
	}
	wf_leave();
	return w != NULL;
}

/* Whether the thread waits in the kernel, or has computed for half of the time
 * since its handler was first seen. */
static bool at_it(struct wf_worker *w, uint64_t limit)
{
	return wf_thread_cpu_ns(w->thread) - w->seen_cpu >= limit / 2 ||
	       wf_thread_waits(WF_LOAD(&w->tid));
}

/* Compares each worker's beat with the one seen last time. */
static void look(struct wf_runtime *rt)
{
	uint64_t now = wf_now(), limit = (uint64_t)rt->settings.opt.stall_ms * 1000000;
	int n = atomic_load(&rt->sched.started), uncovered = -1;
	bool failed = false;

	for (int i = 0; i < n; i++) {
		struct wf_worker *w = wf_sched_worker(&rt->sched, i);
		uint64_t beat = WF_LOAD(&w->beat);
		weft_fn *fn = WF_LOAD(&w->running);

		if (fn == NULL || beat != WF_LOAD(&w->seen_beat)) {
			WF_STORE(&w->seen_beat, beat);
			w->seen_cpu = wf_thread_cpu_ns(w->thread);
			WF_STORE(&w->seen_at, now);
			continue;
		}
		if (WF_LOAD(&w->stuck) || now - WF_LOAD(&w->seen_at) < limit)
			continue;
		/* Stand-ins compete for the CPUs with computing threads: for them the time alone
		 * decides. */
		if (i < rt->sched.workers && !at_it(w, limit))
			continue;
		atomic_store(&w->stuck, true);
		/* It may have come back before it could see that. Either we see it
		 * here or it sees the flag, at the latest when it parks. */
		atomic_thread_fence(memory_order_seq_cst);
		if (WF_LOAD(&w->running) == NULL || WF_LOAD(&w->beat) != beat) {
			atomic_store(&w->stuck, false);
			continue;
		}
		WF_PROBE1(stall, w->id);
		atomic_fetch_add(&w->stalls, 1);
		if (w->reserve || !cover(rt, w)) {
			uncovered = i;
			failed |= !w->reserve && has_room(rt, false);
		}
		order_report(rt, w, fn, now);
	}
	/* Where no more stand-ins are allowed the reserve is enough. */
	if ((!keep_reserve(rt, now) || failed) && uncovered >= 0)
		wf_report(WF_REPORT_STALL, "no stand-in for stuck worker %d could be started",
			  uncovered);
}

void wf_stall_over(struct wf_worker *w)
{
	atomic_store(&w->stuck, false);
	WF_PROBE1(stall_over, w->id);
}

static struct timespec next_look(struct wf_runtime *rt)
{
	uint64_t at = wf_now() + look_every(rt);

	return (struct timespec){ .tv_sec = (time_t)(at / 1000000000),
				  .tv_nsec = (long)(at % 1000000000) };
}

/* Until somebody is up. Workers look at the flag after they said that they are. */
static void sleep_with_workers(struct wf_runtime *rt)
{
	for (;;) {
		atomic_store(&rt->watch_asleep, true);
		if (!wf_runtime_asleep(rt) || atomic_load(&rt->watch_end))
			break;
		(void)sem_wait(&rt->watch);
	}
	atomic_store(&rt->watch_asleep, false);
}

static void *watch(void *arg)
{
	struct wf_runtime *rt = arg;
	int quiet = 0;

	wf_thread_name("weft-watch");
	while (!atomic_load(&rt->watch_end)) {
		struct timespec at = next_look(rt);

		if (quiet == QUIET_LOOKS) {
			sleep_with_workers(rt);
			quiet = 0;
			continue;
		}
		(void)sem_clockwait(&rt->watch, CLOCK_MONOTONIC, &at);
		quiet = wf_runtime_asleep(rt) ? quiet + 1 : 0;
		look(rt);
	}
	return NULL;
}

int wf_watch_start(struct wf_runtime *rt)
{
	int rc;

	if (rt->settings.opt.stall_ms < 0)
		return 0;
	wf_backtrace_init();
	rc = WF_FAULT(EAGAIN);
	if (rc == 0)
		rc = wf_denied(WF_THREAD_CALLS, -pthread_create(&rt->watcher, NULL, watch, rt));
	rt->watching = rc == 0;
	return rc;
}

void wf_watch_wake(struct wf_runtime *rt)
{
	if (atomic_exchange(&rt->watch_asleep, false))
		sem_post(&rt->watch);
}

void wf_watch_end(struct wf_runtime *rt)
{
	if (!rt->watching)
		return;
	atomic_store(&rt->watch_end, true);
	sem_post(&rt->watch);
	pthread_join(rt->watcher, NULL);
	if (!rt->reports)
		return;
	sem_post(&rt->report); /* without a worker to report: tells the reporter to end */
	pthread_join(rt->reporter, NULL);
}
