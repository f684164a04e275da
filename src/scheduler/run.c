/* run.c - the beginning and the end of a run, and the gate for foreign threads.
 *
 * The gate. A public call from a thread that is no worker counts itself in
 * before it looks whether a runtime is there; the end of a run shuts the gate
 * and waits until everybody is out before it frees anything.
 *
 * The end. A run is over when all workers sleep, which one with a color in its
 * hand never does, their queues are empty and nothing is live. Workers count live
 * things each for itself; only the sum means something, and it is steady only
 * while all sleep. So the last one to fall asleep adds up, then looks once more
 * that all still sleep and that nobody was up meanwhile: a worker stops being
 * asleep, and is counted as roused, before it touches a queue or a count. Foreign
 * threads could post meanwhile, and what was accepted must run (S3): so the gate
 * is one word that holds how many are inside and how many ever entered, and the
 * end is a compare-and-swap that fails if anybody came.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/capacity.h"
#include "base/memory.h"
#include "base/report.h"
#include "platform/clock.h"
#include "platform/sanitizer.h"
#include "scheduler/flow.h"
#include "scheduler/poller.h"
#include "scheduler/runtime.h"

struct wf_runtime *wf_rt;

static _Atomic bool busy; /* a weft_run is under way */

#define GATE_INSIDE 0xfffffu /* threads that are inside */
#define GATE_OPEN 0x100000u
#define GATE_ENTRY ((uint64_t)0x200000 + 1) /* one more ever, one more inside */
static _Atomic uint64_t gate;

int wf_enter(void)
{
	if (WF_LIKELY(wf_worker_self() != NULL))
		return 0;
	if (WF_LIKELY(atomic_fetch_add(&gate, GATE_ENTRY) & GATE_OPEN))
		return 0;
	atomic_fetch_sub(&gate, 1);
	return -ESHUTDOWN;
}

void wf_leave(void)
{
	if (WF_UNLIKELY(wf_worker_self() == NULL))
		atomic_fetch_sub(&gate, 1);
}

uint64_t wf_run_mark;

static void number_run(void)
{
	uint64_t first = (uint64_t)1 << WF_RUN_SHIFT, next = wf_run_mark + first;

	__atomic_store_n(&wf_run_mark, next != 0 ? next : first, __ATOMIC_RELAXED);
}

bool wf_run_is_over(uint32_t number)
{
	bool over;

	if (number == 0)
		return false;
	if (wf_enter() < 0)
		return true;
	over = number != wf_run_number();
	wf_leave();
	return over;
}

bool wf_runtime_asleep(struct wf_runtime *rt)
{
	return atomic_load(&rt->sched.idle) + atomic_load(&rt->resting) ==
	       atomic_load(&rt->sched.started);
}

void wf_runtime_look_again(struct wf_runtime *rt)
{
	if (wf_runtime_asleep(rt))
		wf_worker_wake(wf_sched_worker(&rt->sched, 0));
}

WF_HOT bool wf_stopping(void)
{
	return WF_LOAD(&wf_rt->stopping);
}

/* Whether any worker has something queued or counted. */
static bool anything_left(struct wf_runtime *rt)
{
	int n = atomic_load(&rt->sched.started);
	int64_t live = atomic_load(&rt->live);
	uint32_t colors = 0;

	for (int i = 0; i < n; i++)
		live += atomic_load_explicit(&wf_sched_worker(&rt->sched, i)->live,
					     memory_order_acquire);
	for (int i = 0; i < n; i++)
		colors += WF_LOAD(&wf_sched_worker(&rt->sched, i)->queue.colors);
	return live != 0 || colors != 0;
}

WF_HOT bool wf_runtime_finished(struct wf_runtime *rt)
{
	uint64_t roused;

	for (;;) {
		uint64_t seen = atomic_load(&gate);

		roused = atomic_load(&rt->roused);
		if (!wf_runtime_asleep(rt) || anything_left(rt) || !wf_runtime_asleep(rt) ||
		    atomic_load(&rt->roused) != roused)
			return false;
		if ((seen & GATE_INSIDE) == 0 &&
		    atomic_compare_exchange_strong(&gate, &seen, seen & ~(uint64_t)GATE_OPEN))
			break;
		sched_yield(); /* public calls do not block: they are out soon */
	}
	/* S3: nothing is lost; but a signal, say, may wake a worker and be queued just now. */
	WF_ASSERT(wf_sched_queued(&rt->sched) == 0 || atomic_load(&rt->roused) != roused);
	WF_STORE(&rt->ran_dry, true); /* two workers may find it at once */
	wf_runtime_stop(rt);
	return true;
}

void wf_run_fails(const char *call, int error)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&wf_rt->failed, &none, error))
		wf_report(WF_REPORT_KERNEL,
			  "the kernel refuses %s in the middle of the run (%s): the run ends", call,
			  strerror(-error));
	wf_runtime_stop(wf_rt);
}

int weft_stop(void)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	wf_runtime_stop(wf_rt);
	wf_leave();
	return 0;
}

int weft_hold(void)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	atomic_fetch_add(&wf_rt->holds, 1);
	wf_live_add(1);
	wf_leave();
	return 0;
}

/* A drop too many would make the count of live things wrong, and the run would
 * never end. */
int weft_drop_at(const char *where)
{
	int64_t held;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	held = atomic_load(&wf_rt->holds);
	while (held > 0 && !atomic_compare_exchange_weak(&wf_rt->holds, &held, held - 1))
		;
	if (held > 0)
		wf_live_add(-1);
	wf_leave();
	return held > 0 ? 0 : wf_misuse(where, -EINVAL, "weft_drop without weft_hold");
}

int weft_workers(void)
{
	int n;

	if (wf_enter() < 0)
		return 0;
	n = wf_rt->sched.workers;
	wf_leave();
	return n;
}

int weft_worker_current(void)
{
	struct wf_worker *w = wf_worker_self();

	return w != NULL ? w->id : -1;
}

/* Fork. The child has one thread, and locks may be held for ever by threads
 * that it lacks: it must not touch the runtime. It finds the gate shut. If the
 * forking thread was in a handler and returns from it, its worker sees `forked`
 * before it touches any lock. */
static void after_fork_in_child(void)
{
	if (!atomic_load(&busy))
		return;
	atomic_store(&gate, 0);
	atomic_store(&busy, false);
	if (wf_rt != NULL) {
		atomic_store(&wf_rt->forked, true);
		atomic_store(&wf_rt->stopping, true);
	}
	wf_worker_set_self(NULL);
	wf_flows.forked();
}

static int run_first(void *arg)
{
	struct wf_runtime *rt = arg;

	rt->result = rt->fn(rt->arg);
	rt->returned = true;
	return 0;
}

static void init_policy(struct wf_runtime *rt)
{
	struct wf_policy *p = &rt->sched.policy;
	const weft_options *o = &rt->settings.opt;

	p->steal = rt->settings.steal;
	p->batch = (unsigned)o->batch;
	p->color_depth = o->color_depth;
	p->queue_depth = o->queue_depth;
	p->queue_delay = wf_ns_to_ticks((uint64_t)o->queue_delay_ms * 1000000);
	wf_policy_init(p, wf_ns_to_ticks(1000), wf_ns_to_ticks(o->steal_cost_ns));
	if (o->stall_ms < 0)
		p->kept = 0; /* nobody would tell that a worker is stuck with it */
}

/* Memory of a run: tables, workers, their order of theft. */
static int make_workers(struct wf_runtime *rt)
{
	struct wf_sched *s = &rt->sched;
	int rc, first_cpu;

	s->workers = rt->settings.opt.workers ? rt->settings.opt.workers : rt->cpus.count;
	s->limit = WF_WORKERS_LIMIT(s->workers);
	s->worker = wf_new_array((size_t)s->limit, sizeof *s->worker);
	if (s->worker == NULL)
		return -ENOMEM;
	rc = wf_pool_init(&s->events, sizeof(weft_event), (size_t)1 << 26, 0);
	if (rc == 0)
		rc = wf_table_init(&s->table, rt->settings.opt.max_colors);
	for (int i = 0; rc == 0 && i < s->workers; i++)
		rc = wf_worker_new(rt, i);
	if (rc < 0)
		return rc;

	rt->flat = true;
	first_cpu = WF_LOAD(&wf_sched_worker(s, 0)->cpu);
	for (int i = 0; i < s->workers; i++) {
		struct wf_worker *w = wf_sched_worker(s, i);

		rt->flat &= wf_topology_distance(&rt->topology, first_cpu, WF_LOAD(&w->cpu)) <=
			    WF_SAME_CACHE;
		wf_worker_sort_victims(w);
	}
	return 0;
}

static void runtime_free(struct wf_runtime *rt)
{
	for (int i = 0; rt->sched.worker != NULL && i < rt->sched.limit; i++)
		wf_worker_free(rt, i);
	free(rt->sched.worker);
	wf_table_fini(&rt->sched.table);
	wf_pool_fini(&rt->sched.events);
	wf_topology_fini(&rt->topology);
	wf_cpus_fini(&rt->cpus);
	pthread_mutex_destroy(&rt->lock);
	pthread_cond_destroy(&rt->changed);
	sem_destroy(&rt->watch);
	sem_destroy(&rt->report);
	free(rt);
}

static int runtime_new(const struct wf_settings *set, struct wf_runtime **out)
{
	struct wf_runtime *rt = wf_new_aligned(sizeof *rt);
	int rc;

	if (rt == NULL)
		return -ENOMEM;
	rt->settings = *set;
	atomic_init(&rt->on_duty, -1);
	pthread_mutex_init(&rt->lock, NULL);
	pthread_cond_init(&rt->changed, NULL);
	sem_init(&rt->watch, 0, 0);
	sem_init(&rt->report, 0, 0);
	wf_clock_init();
	init_policy(rt);
	rc = wf_cpus_init(&rt->cpus, NULL, NULL);
	if (rc == 0)
		rc = wf_topology_init(&rt->topology, rt->settings.opt.sysfs);
	if (rc == 0)
		rc = make_workers(rt);
	if (rc < 0) {
		runtime_free(rt);
		return rc;
	}
	*out = rt;
	return 0;
}

/* Starts the threads of workers 1 and up; worker 0 is the caller. Returns how
 * opening went for all of them. */
static int start_workers(struct wf_runtime *rt)
{
	struct wf_sched *s = &rt->sched;
	int rc = 0;

	wf_sched_worker(s, 0)->thread = pthread_self();
	atomic_store(&s->started, 1);
	for (int i = 1; i < s->workers && rc == 0; i++) {
		struct wf_worker *w = wf_sched_worker(s, i);

		rc = WF_FAULT(EAGAIN);
		if (rc == 0)
			rc = wf_denied(WF_THREAD_CALLS,
				       -pthread_create(&w->thread, NULL, wf_worker_thread, w));
		if (rc == 0)
			atomic_store(&s->started, i + 1);
	}
	if (rc == 0)
		rc = wf_worker_open(wf_sched_worker(s, 0));
	wf_sched_worker(s, 0)->open_rc = rc;

	pthread_mutex_lock(&rt->lock);
	for (int i = 1; i < atomic_load(&s->started); i++) {
		struct wf_worker *w = wf_sched_worker(s, i);

		while (!w->opened)
			pthread_cond_wait(&rt->changed, &rt->lock);
		if (rc == 0)
			rc = w->open_rc;
	}
	if (rc < 0)
		atomic_store(&rt->stopping, true);
	for (int i = 1; i < atomic_load(&s->started); i++)
		wf_sched_worker(s, i)->go = true;
	pthread_cond_broadcast(&rt->changed);
	pthread_mutex_unlock(&rt->lock);
	return rc;
}

/* Waits until no worker runs and no foreign thread is inside. */
static void shut(struct wf_runtime *rt)
{
	int others = 0;

	for (int i = 1; i < atomic_load(&rt->sched.started); i++)
		others += wf_sched_worker(&rt->sched, i)->open_rc == 0;
	pthread_mutex_lock(&rt->lock);
	while (rt->out < others)
		pthread_cond_wait(&rt->changed, &rt->lock);
	pthread_mutex_unlock(&rt->lock);
	atomic_fetch_and(&gate, ~(uint64_t)GATE_OPEN);
	while (atomic_load(&gate) & GATE_INSIDE)
		sched_yield();
}

static void end_workers(struct wf_runtime *rt)
{
	struct wf_worker *first = wf_sched_worker(&rt->sched, 0);

	shut(rt);
	pthread_mutex_lock(&rt->lock);
	rt->closing = true;
	pthread_cond_broadcast(&rt->changed);
	pthread_mutex_unlock(&rt->lock);
	if (first->open_rc == 0)
		wf_worker_close(first);
	wf_worker_set_self(NULL);
	for (int i = 1; i < atomic_load(&rt->sched.started); i++)
		pthread_join(wf_sched_worker(&rt->sched, i)->thread, NULL);
	/* Now: some timers are in memory that the pollers' stop frees. */
	for (int i = 0; i < atomic_load(&rt->sched.started); i++)
		wf_timers_fini(&wf_sched_worker(&rt->sched, i)->timers);
}

const struct wf_top *_Atomic wf_top;

void wf_on_top(const struct wf_top *top)
{
	atomic_store(&wf_top, top);
}

static int run(struct wf_runtime *rt, const char *where)
{
	int rc = wf_pollers.start(&rt->settings.opt, rt->sched.workers);

	if (rc < 0)
		return rc;
	rc = wf_flows.start(&rt->settings.opt);
	if (rc < 0) {
		wf_pollers.stop();
		return rc;
	}
	if (atomic_load(&wf_top) != NULL)
		wf_top->begin();
	rc = start_workers(rt);
	if (rc == 0)
		rc = wf_watch_start(rt);
	if (rc == 0) {
		/* Before the first function, which may run on another worker at once. */
		atomic_fetch_or(&gate, GATE_OPEN);
		rc = wf_flows.first(run_first, rt, where);
	}
	if (rc == 0) {
		wf_worker_run(wf_sched_worker(&rt->sched, 0));
		if (WF_LOAD(&rt->forked))
			return -ESHUTDOWN;
	} else {
		wf_runtime_stop(rt);
	}
	wf_watch_end(rt);
	end_workers(rt);
	if (WF_LOAD(&rt->ran_dry) && wf_flows.deadlocked() && !rt->returned)
		rt->result = -EDEADLK;
	/* First: the pollers' stop frees memory that some of these events are in. */
	wf_table_each(&rt->sched.table, wf_sched_discard);
	wf_pollers.stop();
	/* Behind it: operations that the kernel had begun use memory of those on top. */
	if (atomic_load(&wf_top) != NULL)
		wf_top->end(WF_LOAD(&rt->ran_dry));
	wf_flows.stop();
	if (rc == 0)
		rc = atomic_load(&rt->failed);
	return rc < 0 ? rc : rt->result;
}

static void register_fork_handler(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

static int check_sanitizer(const char *where)
{
	const char *name = wf_sanitizer_missing();

	if (name == NULL)
		return 0;
	return wf_misuse(where, -ENOTSUP,
			 "weft_run in a program with a sanitizer, by a library without it: link "
			 "libweft-%s instead (pkg-config weft-%s, Weft::weft_%s in CMake)",
			 name, name, name);
}

int weft_run_at(int (*fn)(void *arg), void *arg, const weft_options *opt, const char *where)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct wf_runtime *rt = NULL;
	struct wf_settings set;
	bool idle = false;
	int rc;

	rc = check_sanitizer(where);
	if (rc != 0)
		return rc;
	if (wf_worker_self() != NULL)
		return wf_misuse(where, -EDEADLK, "weft_run called from one of its own handlers");
	if (fn == NULL)
		return wf_misuse(where, -EINVAL, "weft_run without a function");
	if (!atomic_compare_exchange_strong(&busy, &idle, true))
		return -EBUSY;
	pthread_once(&once, register_fork_handler);
	rc = wf_settings_read(&set, opt, where);
	if (rc == 0)
		rc = runtime_new(&set, &rt);
	if (rc == 0) {
		rt->fn = fn;
		rt->arg = arg;
		wf_rt = rt;
		number_run();
		rc = run(rt, where);
		if (WF_LOAD(&rt->forked))
			return rc; /* its memory belongs to threads that are not here */
		wf_rt = NULL;
		runtime_free(rt);
	}
	atomic_store(&busy, false);
	return rc;
}
