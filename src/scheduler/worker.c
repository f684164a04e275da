/* worker.c - what a worker does all day: a turn for a color, a look at the
 * kernel, a theft, sleep.
 *
 * Sleep and wake (S6). A worker that found nothing says so (`parked`), looks
 * once more at all that could have come meanwhile, and only then sleeps in its
 * poller. Whoever gives it work makes the work visible first and then looks at
 * `parked`. The two full barriers mean that one of them sees the other.
 * Whoever turns `parked` off, the sleeper or the waker, takes it off the count
 * of idle workers.
 */
#include "scheduler/worker.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/probe.h"
#include "base/report.h"
#include "platform/backtrace.h"
#include "platform/clock.h"
#include "platform/ended.h"
#include "scheduler/handler.h"
#include "scheduler/poller.h"
#include "scheduler/turn.h"

/* Time between two looks at the kernel while there is work, by how much longer it
 * is while there is plenty, and how often a stand-in looks at the poller of the
 * stuck worker it serves. */
#define POLL_EVERY_NS ((uint64_t)50000)
#define PATIENCE 8u
#define COVER_EVERY_NS ((uint64_t)1000000)

/* A worker that was asleep looks on which CPU it is, once in so many times POLL_EVERY_NS at most. */
#define NOTE_CPU_EVERY 20

/* So many batches in a row are not timed, after some that took less than this part of the
 * time between two looks. */
enum { UNTIMED = 3, SHORT_PART = 16 };

/* For how long ticks may tell that a timer is far off. */
#define TRUST_TICKS_NS ((uint64_t)100000000)

/* Tries left out between two, at most. */
#define VAIN_MAX 63

/* What is soon, by how long a worker lingers for it: to fall asleep and be woken takes its time. */
#define SOON 5

uint64_t wf_linger_ns = 20000;

_Thread_local struct wf_worker *wf_self_worker __attribute__((tls_model("initial-exec")));

WF_HOT struct wf_worker *wf_worker_self(void)
{
	return wf_self_worker;
}

void wf_worker_set_self(struct wf_worker *w)
{
	wf_self_worker = w;
}

static struct wf_runtime *runtime(struct wf_worker *w)
{
	return WF_CONTAINER(w->sched, struct wf_runtime, sched);
}

static bool stopping(struct wf_worker *w)
{
	return WF_LOAD(&runtime(w)->stopping);
}

int wf_worker_count(void)
{
	return wf_rt->sched.workers;
}

int wf_worker_limit(void)
{
	return wf_rt->sched.limit;
}

WF_HOT struct wf_worker *wf_worker_by_id(int id)
{
	return wf_sched_worker(&wf_rt->sched, id);
}

WF_HOT int wf_worker_id(const struct wf_worker *w)
{
	return w->id;
}

bool wf_worker_stuck(const struct wf_worker *w)
{
	return WF_LOAD(&w->stuck);
}

bool wf_stuck_are_covered(void)
{
	return wf_rt->settings.opt.stall_ms >= 0;
}

int wf_worker_started(void)
{
	return atomic_load(&wf_rt->sched.started);
}

struct wf_flow *wf_worker_flow(struct wf_worker *w)
{
	return &w->flow;
}

const struct wf_context *wf_worker_context(const struct wf_worker *w)
{
	return WF_LOAD(&w->context);
}

WF_HOT void *wf_worker_poller(const struct wf_worker *w)
{
	return w->poller;
}

void wf_worker_set_poller(struct wf_worker *w, void *poller)
{
	w->poller = poller;
}

/* Counts up or down on the caller's own share, so that no line is contended;
 * only the sum over all workers means something. */
WF_HOT void wf_live_op_add(int n)
{
	struct wf_worker *w = wf_self_worker;

	if (WF_LIKELY(w != NULL)) {
		WF_ADD_OWN(&w->ops, n);
		wf_worker_live_add(w, n);
	} else {
		atomic_fetch_add_explicit(&wf_rt->ops, n, memory_order_relaxed);
		wf_live_add(n);
	}
}

void wf_live_add(int n)
{
	struct wf_worker *w = wf_self_worker;

	if (w == NULL) {
		atomic_fetch_add(&wf_rt->live, n);
		if (n < 0)
			wf_runtime_look_again(wf_rt);
		return;
	}
	wf_worker_live_add(w, n);
}

/* Running */

/* What the user's function is, run or drop; the event is the user's own again
 * once this has returned. */
static weft_fn *open_event(struct wf_worker *w, weft_event *ev, void **arg)
{
	const struct wf_policy *p = &w->sched->policy;
	unsigned class = wf_color_class(ev->color);
	weft_fn *fn = ev->run;

	*arg = ev->arg;
	if (WF_UNLIKELY(ev->drop != NULL) &&
	    (ev->flags_ & WF_EVENT_DROPPED ||
	     (p->queue_delay && wf_policy_too_late(p, wf_ticks() - ev->posted_)))) {
		fn = ev->drop;
		WF_PROBE2(drop, w->id, ev->color);
		WF_ADD_OWN(&w->counters.dropped, 1u);
		WF_ADD_OWN(&w->counters.classes[class].dropped, 1u);
	} else {
		WF_ADD_OWN(&w->counters.run, 1u);
		WF_ADD_OWN(&w->counters.classes[class].run, 1u);
	}
	WF_STORE(&w->running_where, ev->where_);
	if (ev->flags_ & WF_EVENT_POOLED)
		wf_pool_put(&w->sched->events, &w->free_events, ev);
	else
		__atomic_store_n(&ev->state_, 0, __ATOMIC_RELEASE);
	return fn;
}

/* Events of the same color that ran inside the one that the loop ran (turn.h). */
static void count_direct(struct wf_worker *w, unsigned class, uint64_t n)
{
	WF_ADD_OWN(&w->counters.run, n);
	WF_ADD_OWN(&w->counters.classes[class].run, n);
}

static void run_event(struct wf_worker *w, weft_event *ev)
{
	unsigned class = wf_color_class(ev->color);
	void *arg;
	weft_fn *fn = open_event(w, ev, &arg);
	struct wf_handler *h = wf_handler_find(fn);
	bool known = wf_handler_known(h);
	bool sample = !known || wf_sample_now(&w->sampler);
	uint64_t began = sample ? wf_ticks() : 0;
	uint64_t beat, direct;

	WF_PROBE2(run, w->id, fn);
	WF_ADD_OWN(&w->beat, 1u);
	beat = WF_LOAD(&w->beat);
	WF_STORE(&w->running, fn);
	fn(arg);
	WF_STORE(&w->running, NULL);
	direct = WF_LOAD(&w->beat) - beat;
	if (direct != 0)
		count_direct(w, class, direct);
	if (WF_UNLIKELY(WF_LOAD(&w->stuck)))
		wf_stall_over(w);
	if (WF_UNLIKELY(sample)) {
		uint64_t took = wf_ticks() - began;

		took -= took < wf_clock_rate.reading ? took : wf_clock_rate.reading;
		wf_handler_ran(h, fn, took / (1 + direct));
		WF_ADD_OWN(&w->counters.busy_ticks, known ? took * WF_SAMPLE_EVERY : took);
	}
}

static void begin_batch(struct wf_worker *w)
{
	w->turn_end = WF_LOAD(&w->beat) + w->sched->policy.batch;
}

/* Whether the kernel need not be asked yet. To read the clock takes as long as two short events:
 * where the last batches were short it is not read for the next few. */
static bool clock_allows(struct wf_worker *w)
{
	uint64_t now;

	if (w->untimed > 0) {
		w->untimed--;
		return true;
	}
	now = wf_ticks();
	if (now - w->last_poll >= w->poll_ticks)
		return false;
	w->untimed = now - w->last_timed < w->poll_ticks / SHORT_PART ? UNTIMED : 0;
	w->last_timed = now;
	return true;
}

/* The batch is over. If no other color waits here and the kernel need not be asked
 * yet, the turn goes on: to end it would only cost time. */
bool wf_turn_extend(struct wf_worker *w)
{
	if (WF_LOAD(&w->queue.colors) != 0 || !clock_allows(w))
		return false;
	begin_batch(w);
	return true;
}

/* A turn: up to a batch of events of the color that w owns (S3). */
static void turn(struct wf_worker *w)
{
	w->untimed = 0;
	begin_batch(w);
	while (WF_LIKELY(wf_turn_goes_on(w)) || wf_turn_extend(w)) {
		weft_event *ev = wf_sched_take(w);

		if (ev == NULL)
			break;
		run_event(w, ev);
		if (WF_UNLIKELY(stopping(w)) && WF_LOAD(&runtime(w)->forked))
			return; /* any lock may be held by a thread that is not here */
		wf_sched_ran(w);
		if (WF_UNLIKELY(stopping(w)))
			break;
	}
	wf_sched_turn_end(w);
}

/* Looking at the kernel */

/* Runs the due timers of another worker, and takes what the kernel has for it. */
static void serve(struct wf_worker *w, struct wf_worker *other)
{
	WF_ADD_OWN(&w->counters.timers_fired, wf_timers_run(other, w, wf_now()));
	WF_ADD_OWN(&w->counters.io_events, (unsigned)wf_pollers.serve(w, other));
}

/* Whether `other` is in the same handler as when the reserve last looked. */
static bool is_slow(struct wf_worker *other)
{
	uint64_t beat = WF_LOAD(&other->beat), before = WF_LOAD(&other->served_beat);

	WF_STORE(&other->served_beat, beat);
	return beat == before && WF_LOAD(&other->running) != NULL;
}

/* Takes over what slow workers have queued, then serves their timers and the kernel; what is new
 * runs first. Returns whether any worker is stuck. */
static bool serve_slow(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;
	int n = atomic_load(&s->started);
	bool stuck = false;

	for (int i = 0; i < n; i++) {
		struct wf_worker *other = wf_sched_worker(s, i);

		stuck |= WF_LOAD(&other->stuck);
		WF_STORE(&other->slow, other != w && (is_slow(other) || WF_LOAD(&other->stuck)));
		if (WF_LOAD(&other->slow))
			wf_sched_rescue(w, other);
	}
	for (int i = 0; i < n; i++)
		if (WF_LOAD(&wf_sched_worker(s, i)->slow))
			serve(w, wf_sched_worker(s, i));
	return stuck;
}

/* The reserve's round. It rests when no worker is stuck any more, or another reserve is on duty. */
static void serve_all(struct wf_worker *w)
{
	_Atomic int *duty = &runtime(w)->on_duty;
	uint64_t now = wf_now();
	int id = w->id;

	atomic_thread_fence(memory_order_acquire); /* `covers` was read relaxed */
	WF_STORE(&w->resting, WF_LOAD(duty) != id);
	if (!WF_LOAD(&w->resting)) {
		if (now - w->served_at < COVER_EVERY_NS)
			return;
		w->served_at = now;
		if (serve_slow(w))
			return;
		atomic_compare_exchange_strong(duty, &id, -1);
		WF_STORE(&w->resting, true);
	}
	WF_STORE(&w->covers, -1);
}

/* A stand-in does the rounds of the worker that it covers, until that is back;
 * then it rests: it keeps its own operations going but takes no more work. */
static WF_HOT void serve_stuck(struct wf_worker *w)
{
	int id = WF_LOAD(&w->covers);
	struct wf_worker *stuck;

	if (WF_LIKELY(id < 0))
		return;
	if (id == WF_COVERS_ALL) {
		serve_all(w);
		return;
	}
	stuck = wf_sched_worker(w->sched, id);
	WF_STORE(&w->resting, !WF_LOAD(&stuck->stuck));
	if (WF_LOAD(&w->resting)) {
		WF_STORE(&w->covers, -1);
		return;
	}
	/* The stuck one may be a stand-in, and leave another uncovered. */
	for (int i = 0; i < w->sched->limit && WF_LOAD(&stuck->stuck); i++) {
		serve(w, stuck);
		wf_sched_rescue(w, stuck);
		id = WF_LOAD(&stuck->covers);
		if (id < 0 || id == WF_COVERS_ALL)
			break;
		stuck = wf_sched_worker(w->sched, id);
	}
}

/* Ticks first: what passes in between makes wf_worker_now late, never early. */
static void read_clocks(struct wf_worker *w)
{
	w->clock_ticks = wf_ticks();
	w->clock_ns = wf_now();
}

WF_HOT uint64_t wf_worker_now(struct wf_worker *w)
{
	uint64_t now;

	if (wf_worker_knows_now(w, &now))
		return now;
	read_clocks(w);
	return w->clock_ns;
}

bool wf_worker_past(struct wf_worker *w, uint64_t when)
{
	return when <= w->clock_ns || (WF_UNLIKELY(when <= wf_worker_now(w)) && when <= wf_now());
}

static WF_HOT int poll_kernel(struct wf_worker *w, uint64_t until)
{
	int n;

	WF_ADD_OWN(&w->counters.polls, 1u);
	if (until != 0)
		WF_STORE(&w->asleep, true);
	n = wf_pollers.poll(w, until);
	WF_ADD_OWN(&w->counters.io_events, (unsigned)n);
	if (until != 0)
		WF_STORE(&w->asleep, false);
	w->last_poll = wf_ticks();
	if (until != 0 || (n == 0 && !wf_worker_has_work(w)))
		wf_worker_idle(w, w->last_poll);
	return n;
}

/* Whether it is not yet time, without a look at the clock: by ticks, not even half of the way is
 * over. They may stand still while the machine is suspended: so not for long. */
static inline bool is_far(const struct wf_worker *w, uint64_t when)
{
	uint64_t passed = wf_worker_since_clocks(w);

	return passed < TRUST_TICKS_NS && when > w->clock_ns && (when - w->clock_ns) / 2 > passed;
}

static WF_HOT void run_timers(struct wf_worker *w)
{
	uint64_t next = WF_LOAD(&w->timers.next);
	uint64_t now;

	if (next == UINT64_MAX || WF_LIKELY(is_far(w, next)) || next > wf_worker_now(w))
		return;
	now = wf_now();
	if (next <= now)
		WF_ADD_OWN(&w->counters.timers_fired, wf_timers_run(w, w, now));
}

/* While there is work: timers and the kernel get a look now and then. Where much is
 * queued they wait longer: what they bring would stand behind it, and be out of the
 * cache again when its turn comes. */
static void poll_if_due(struct wf_worker *w)
{
	uint64_t now, since;

	if (WF_UNLIKELY(stopping(w)))
		return; /* in a forked child there may be no kernel to look at */
	now = wf_ticks();
	since = now - w->last_poll;
	if (since < w->poll_ticks ||
	    (since < PATIENCE * w->poll_ticks && WF_LOAD(&w->queue.colors) >= WF_PLENTY))
		return;
	wf_sched_busy(w, now);
	run_timers(w);
	serve_stuck(w);
	if (WF_UNLIKELY(WF_LOAD(&wf_watched) != 0))
		wf_flows.look();
	(void)poll_kernel(w, 0);
}

static inline bool look_out(struct wf_worker *w)
{
	return WF_UNLIKELY(WF_LOAD(&wf_watched) != 0) && wf_flows.look_out(w);
}

static bool worth_a_try(struct wf_habit *h)
{
	if (h->spared < h->vain) {
		h->spared++;
		return false;
	}
	h->spared = 0;
	return true;
}

static bool tried(struct wf_habit *h, bool came)
{
	if (came)
		h->vain = 0;
	else
		h->vain = h->vain < VAIN_MAX ? (uint8_t)(2 * h->vain + 1) : VAIN_MAX;
	return came;
}

/* There is no work. To park costs more than a look at the kernel, so first comes a look. */
static bool look_first(struct wf_worker *w)
{
	return worth_a_try(&w->looks) && tried(&w->looks, poll_kernel(w, 0) > 0);
}

/* Where two workers give each other something to do in turn, each runs dry just before the
 * other is ready, and to sleep and be woken takes a hundred times as long as that. */
static bool linger(struct wf_worker *w)
{
	uint64_t until;

	if (WF_LIKELY(!w->woken_soon) || !worth_a_try(&w->lingers))
		return false;
	if (poll_kernel(w, 0) > 0)
		return true;
	until = wf_ticks() + wf_ns_to_ticks(wf_linger_ns);
	do
		wf_relax();
	while (!wf_worker_wanted(w) && wf_ticks() < until);
	return tried(&w->lingers, wf_worker_wanted(w));
}

/* Sleeping and waking */

/* Takes a sleeper off the books; false if it is not one (any more). */
static WF_HOT bool rouse(struct wf_worker *w)
{
	unsigned was = WF_LOAD(&w->parked);

	if (was == WF_AWAKE || was == WF_ROUSED ||
	    !atomic_compare_exchange_strong(&w->parked, &was, WF_ROUSED))
		return false;
	atomic_fetch_add(&runtime(w)->roused, 1);
	atomic_fetch_sub(was == WF_PARKED ? &w->sched->idle : &runtime(w)->resting, 1);
	atomic_store_explicit(&w->parked, WF_AWAKE, memory_order_release);
	return true;
}

/* The watcher sleeps with the workers: somebody is up now. */
static void tell_watcher(struct wf_worker *w)
{
	if (WF_UNLIKELY(atomic_load(&runtime(w)->watch_asleep)))
		wf_watch_wake(runtime(w));
}

WF_HOT void wf_worker_get_up(struct wf_worker *w)
{
	if (rouse(w))
		tell_watcher(w);
	/* Another may be at it, and w awake for a reason of its own: while w counts
	 * as asleep it must not work, or the run could end under its hands. */
	while (WF_UNLIKELY(atomic_load(&w->parked) != WF_AWAKE))
		sched_yield();
}

static void wake_roused(struct wf_worker *w)
{
	if (wf_self_worker != NULL)
		WF_ADD_OWN(&wf_self_worker->counters.wakes, 1u);
	WF_PROBE1(wake, w->id);
	wf_pollers.wake(w);
	tell_watcher(w);
}

void wf_worker_wake(struct wf_worker *w)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (rouse(w))
		wake_roused(w);
}

void wf_runtime_stop(struct wf_runtime *rt)
{
	int n;

	atomic_store(&rt->stopping, true);
	atomic_thread_fence(memory_order_seq_cst); /* `parked` is read relaxed */
	n = atomic_load(&rt->sched.started);
	for (int i = 0; i < n; i++) {
		struct wf_worker *w = wf_sched_worker(&rt->sched, i);

		if (rouse(w))
			wf_pollers.wake(w);
	}
}

void wf_sched_wake_thief(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;
	int others = wf_worker_others(w);
	int none = 0;

	if (!atomic_compare_exchange_strong(&s->searching, &none, 1))
		return;
	for (int i = 0; i < others; i++) {
		struct wf_worker *t = wf_sched_worker(s, WF_LOAD(&w->order[i]));

		if (WF_LOAD(&t->parked) == WF_AWAKE)
			continue;
		/* Before it is up, or it could enter a handler without knowing. */
		atomic_store(&t->searching, true);
		if (rouse(t)) {
			wake_roused(t);
			return;
		}
		if (!atomic_exchange(&t->searching, false))
			return; /* it got up by itself and took the search upon it */
	}
	atomic_store(&s->searching, 0);
}

/* Ends a search that this worker was woken for; true if it was. */
static WF_HOT bool stop_searching(struct wf_worker *w)
{
	if (WF_LIKELY(!WF_LOAD(&w->searching)) || !atomic_exchange(&w->searching, false))
		return false;
	atomic_store(&w->sched->searching, 0);
	return true;
}

/* Whether somebody has what a thief would take; for one that has work that may be w itself, which
 * brings home more than it can run at once. */
static WF_HOT bool loot_in_sight(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;
	int n = atomic_load_explicit(&s->started, memory_order_acquire);

	for (int i = 0; i < n; i++) {
		struct wf_worker *v = wf_sched_worker(s, i);

		if ((WF_LOAD(&v->stuck) || s->policy.steal & WF_STEAL_ON) &&
		    wf_runq_has_loot(&v->queue, wf_loot_lanes(wf_worker_least_worth(v))))
			return true;
	}
	return false;
}

bool wf_worker_wanted(const struct wf_worker *w)
{
	return wf_worker_has_work(w) ||
	       WF_LOAD(&WF_CONTAINER(w->sched, struct wf_runtime, sched)->stopping);
}

bool wf_worker_has_cpu(const struct wf_worker *w)
{
	const struct wf_runtime *rt = WF_CONTAINER(w->sched, struct wf_runtime, sched);

	return rt->cpus.count >= w->sched->workers;
}

/* Until when w may sleep. */
static uint64_t wake_time(struct wf_worker *w)
{
	uint64_t next = WF_LOAD(&w->timers.next);

	if (WF_UNLIKELY(WF_LOAD(&w->covers) >= 0)) {
		uint64_t look = wf_now() + COVER_EVERY_NS;

		next = look < next ? look : next;
	}
	return next;
}

void wf_worker_sort_victims(struct wf_worker *w)
{
	int n = w->sched->workers;
	int cpus[WF_WORKERS_MAX], order[WF_WORKERS_MAX];

	for (int i = 0; i < n; i++)
		cpus[i] = WF_LOAD(&wf_sched_worker(w->sched, i)->cpu);
	wf_topology_order(&runtime(w)->topology, cpus, n, w->id, order);
	for (int i = 0; i < n - 1; i++)
		WF_STORE(&w->order[i], order[i]);
}

/* Workers are not bound to CPUs: threads that the user starts from a handler
 * would inherit that. So a worker looks where the kernel has put it, and on a
 * machine with near and far CPUs sorts its victims anew when it was moved. */
static void note_cpu(struct wf_worker *w)
{
	int cpu;

	if (w->last_poll - w->cpu_noted < NOTE_CPU_EVERY * w->poll_ticks)
		return;
	w->cpu_noted = w->last_poll;
	cpu = sched_getcpu();
	if (cpu < 0 || cpu == WF_LOAD(&w->cpu))
		return;
	WF_STORE(&w->cpu, cpu);
	if (!runtime(w)->flat && w->id < w->sched->workers)
		wf_worker_sort_victims(w);
}

/* It slept since `fell`, and the kernel delivered so many events. */
static WF_HOT void note_sleep(struct wf_worker *w, uint64_t fell, int delivered)
{
	w->woken_soon = delivered == 0 && WF_LOAD(&w->queue.colors) != 0 &&
			wf_ticks_to_ns(w->last_poll - fell) < SOON * wf_linger_ns &&
			wf_worker_has_cpu(w);
}

static WF_HOT void park(struct wf_worker *w)
{
	bool resting = WF_LOAD(&w->resting);
	uint64_t fell;

	/* Others do not see it: to them all would be done. A poll may deliver and return 0. */
	if (WF_UNLIKELY(w->ready != NULL))
		return;
	atomic_fetch_add(resting ? &runtime(w)->resting : &w->sched->idle, 1);
	atomic_store_explicit(&w->parked, resting ? WF_RESTING : WF_PARKED, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst); /* the loads below are relaxed */
	stop_searching(w);
	if (WF_UNLIKELY(WF_LOAD(&w->stuck)))
		wf_stall_over(w); /* the watcher's verdict came just after the handler's end */
	if (WF_LOAD(&w->queue.colors) == 0 && !stopping(w) &&
	    (resting || w->reserve || !loot_in_sight(w)) && !wf_runtime_finished(runtime(w))) {
		WF_ADD_OWN(&w->counters.parks, 1u);
		WF_PROBE1(park, w->id);
		fell = wf_ticks();
		note_sleep(w, fell, poll_kernel(w, wake_time(w)));
		note_cpu(w);
	}
	wf_worker_unpark(w);
}

/* A worker that was woken to search has found work, its own or another's: there
 * may be enough for one more. */
static void pass_on_search(struct wf_worker *w)
{
	if (stop_searching(w) && WF_LOAD(&w->sched->idle) > 0 && loot_in_sight(w))
		wf_sched_wake_thief(w);
}

static inline bool next(struct wf_worker *w)
{
	return wf_worker_has_work(w) && wf_sched_next(w);
}

/* A look at the kernel also goes before a theft, or one that lives by theft would
 * never have one. */
static bool find_work(struct wf_worker *w)
{
	if (next(w))
		return true;
	run_timers(w);
	serve_stuck(w);
	if (next(w))
		return true;
	if (WF_LOAD(&w->sched->started) == 1 || WF_LOAD(&w->resting))
		return false;
	poll_if_due(w);
	return next(w) || (!w->reserve && wf_sched_steal(w));
}

static WF_HOT void loop(struct wf_worker *w)
{
	w->poll_ticks = wf_ns_to_ticks(POLL_EVERY_NS);
	read_clocks(w);
	w->last_poll = w->idle_at = w->clock_ticks;
	while (!stopping(w)) {
		if (!find_work(w)) {
			if (!look_out(w) && !linger(w) && !look_first(w))
				park(w);
			continue;
		}
		pass_on_search(w);
		turn(w);
		if (WF_LOAD(&w->queue.colors) != 0)
			poll_if_due(w);
	}
	stop_searching(w);
}

/* Beginning and end */

/* pthread_exit has unwound the worker's loop in the middle of a turn, and worker 0 cannot return from
 * weft_run any more. A forked child has no worker: there a thread may end. */
void wf_worker_ended(void)
{
	struct wf_worker *w = wf_self_worker;
	char flow[64];
	const char *where;
	bool is_flow;

	if (w == NULL)
		return;
	where = WF_LOAD(&w->running_where);
	is_flow = wf_flows.running(w, flow, sizeof flow, &where);
	wf_report(WF_REPORT_MISUSE,
		  "%s: %s called pthread_exit(), or was cancelled by pthread_cancel(), which ends "
		  "worker %d and not the thread of Weft: return from the function, or call "
		  "weft_exit()",
		  where ? where : "unknown place", is_flow ? flow : "a handler", w->id);
	abort();
}

int wf_worker_open(struct wf_worker *w)
{
	static const struct wf_ended ended = { wf_worker_ended };
	int rc;

	wf_self_worker = w;
	wf_context_adopt(&w->flow.own);
	WF_STORE(&w->context, &w->flow.own);
	WF_STORE(&w->tid, (int)syscall(SYS_gettid));
	rc = wf_flows.open(w);
	if (rc < 0)
		return rc;
	rc = wf_pollers.open(w);
	if (rc < 0)
		wf_flows.close(w);
	else
		wf_ended_watch(&ended);
	return rc;
}

void wf_worker_run(struct wf_worker *w)
{
	loop(w);
}

void wf_worker_close(struct wf_worker *w)
{
	wf_ended_watch(NULL);
	wf_pollers.close(w);
	wf_flows.close(w);
	wf_self_worker = NULL;
}

/* Tells the starter how opening went, and waits for its word to go. */
static void report_for_work(struct wf_worker *w, int rc)
{
	struct wf_runtime *rt = runtime(w);

	pthread_mutex_lock(&rt->lock);
	w->open_rc = rc;
	w->opened = true;
	pthread_cond_broadcast(&rt->changed);
	while (!w->go)
		pthread_cond_wait(&rt->changed, &rt->lock);
	pthread_mutex_unlock(&rt->lock);
}

/* Nobody runs handlers any more when the last one has passed here. */
static void wait_for_all_out(struct wf_worker *w)
{
	struct wf_runtime *rt = runtime(w);

	pthread_mutex_lock(&rt->lock);
	rt->out++;
	pthread_cond_broadcast(&rt->changed);
	while (!rt->closing)
		pthread_cond_wait(&rt->changed, &rt->lock);
	pthread_mutex_unlock(&rt->lock);
}

void *wf_worker_thread(void *worker)
{
	struct wf_worker *w = worker;
	char name[16];
	int rc;

	snprintf(name, sizeof name, "weft-%d", w->id);
	wf_thread_name(name);
	rc = wf_worker_open(w);
	report_for_work(w, rc);
	if (rc == 0) {
		wf_worker_run(w);
		if (WF_LOAD(&runtime(w)->forked)) {
			wf_report(WF_REPORT_MISUSE, "a forked child went on into the runtime: "
						    "call exec or _exit in the child");
			_exit(EXIT_FAILURE);
		}
		wait_for_all_out(w);
		wf_worker_close(w);
	}
	return NULL;
}

int wf_worker_new(struct wf_runtime *rt, int id)
{
	struct wf_sched *s = &rt->sched;
	struct wf_worker *w = wf_new_aligned(sizeof *w);
	int n = rt->cpus.in_mask;

	if (w == NULL)
		return -ENOMEM;
	w->order = wf_new_array((size_t)s->workers, sizeof *w->order);
	if (w->order == NULL) {
		free(w);
		return -ENOMEM;
	}
	w->sched = s;
	w->id = id;
	atomic_init(&w->cpu, rt->cpus.cpu[id % n]);
	wf_runq_init(&w->queue);
	wf_timers_init(&w->timers, wf_now());
	atomic_init(&w->covers, -1);
	atomic_store(&s->worker[id], w);
	return 0;
}

void wf_worker_free(struct wf_runtime *rt, int id)
{
	struct wf_worker *w = wf_sched_worker(&rt->sched, id);

	if (w == NULL)
		return;
	wf_timers_fini(&w->timers);
	free(w->order);
	free(w);
	atomic_store(&rt->sched.worker[id], NULL);
}
