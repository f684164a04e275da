/* timer.c - timers that fire as events: each worker's wheel, and the public face.
 *
 * A timer's state_ holds what it is (below) and in which worker's wheel, in one
 * word, so that both change at once. It leaves ARMED only under the lock of that
 * wheel, and its event is posted under the same lock. So whoever holds the lock
 * and sees FIRED knows that the event is queued, runs or ran; nothing is in
 * between (X1). Up to FIRE_BATCH events are posted under one hold of the lock.
 *
 *	IDLE -> ARMED -> FIRED        fired for the last time: not ours any more
 *	        ARMED -> IDLE         cancelled in time
 *
 * Once it is FIRED and its event posted, a timer is not touched: the handler may
 * have freed it. A periodic timer stays ARMED.
 */
#include <errno.h>

#include "base/memory.h"
#include "base/report.h"
#include "platform/clock.h"
#include "scheduler/runtime.h"
#include "scheduler/timer.h"

enum { IDLE, ARMED, FIRED, STATES = 4 };

/* Steps of the wheel under one hold of its lock, and holds in one run: other
 * work must get its turn even if a million timers are due at once. */
enum { FIRE_BATCH = 64, FIRE_BATCHES = 64 };

static uint32_t state_load(const weft_timer *t)
{
	return __atomic_load_n(&t->state_, __ATOMIC_ACQUIRE);
}

static void state_store(weft_timer *t, uint32_t state)
{
	__atomic_store_n(&t->state_, state, __ATOMIC_RELEASE);
}

static bool queued(const weft_timer *t)
{
	return __atomic_load_n(&t->event.state_, __ATOMIC_ACQUIRE) != 0;
}

/* The wheel that a state names. NULL: that of an earlier, larger runtime. */
static struct wf_timers *wheel_of(uint32_t state)
{
	int id = (int)(state / STATES);
	struct wf_worker *w = id < wf_worker_limit() ? wf_worker_by_id(id) : NULL;

	return w != NULL ? wf_worker_timers(w) : NULL;
}

static void update_next(struct wf_timers *ts) WF_REQUIRES(ts->lock)
{
	WF_STORE(&ts->next, wf_wheel_next(&ts->wheel));
}

void wf_timers_init(struct wf_timers *ts, uint64_t now)
{
	wf_lock_init(&ts->lock, WF_RANK_WHEEL);
	wf_wheel_init(&ts->wheel, now);
	atomic_init(&ts->next, UINT64_MAX);
	atomic_init(&ts->count, 0);
}

/* weft_after: a timer that is ours, and an event from the stock, which goes back
 * there by itself. The event is the timer's arg; its run only marks it. */

static void after_mark(void *unused)
{
	(void)unused;
	wf_bug("the event of a weft_after's timer was posted");
}

static bool is_after(const weft_timer *t)
{
	return t->event.run == after_mark;
}

/* Firing */

/* The first beat after `now`: those that were missed are skipped. */
static uint64_t next_beat(const weft_timer *t, uint64_t now)
{
	uint64_t beats = now > t->when ? (now - t->when) / t->every + 1 : 1;
	uint64_t span, when;

	if (__builtin_mul_overflow(beats, t->every, &span) ||
	    __builtin_add_overflow(t->when, span, &when))
		return UINT64_MAX;
	return when;
}

/* Starts the next beat, and posts this one, unless the handler of the last has
 * not begun. */
static bool beat(struct wf_timers *ts, weft_timer *t, struct wf_worker *at, uint64_t now)
	WF_REQUIRES(ts->lock)
{
	t->when = next_beat(t, now);
	wf_wheel_add(&ts->wheel, t);
	if (queued(t))
		return false;
	wf_event_deliver(at, &t->event);
	return true;
}

struct firing {
	unsigned posted;
	int ended;         /* of those that keep the runtime going */
	weft_timer *spent; /* weft_after's, by next_ */
};

static void fire(struct wf_timers *ts, weft_timer *t, struct wf_worker *at, uint64_t now,
		 struct firing *f) WF_REQUIRES(ts->lock)
{
	if (t->every != 0) {
		f->posted += beat(ts, t, at, now);
		return;
	}
	WF_ADD_OWN(&ts->count, -1u);
	f->ended += !t->background;
	f->posted++;
	if (is_after(t)) {
		wf_event_deliver(at, t->event.arg);
		t->next_ = f->spent;
		f->spent = t;
		return;
	}
	state_store(t, (state_load(t) & ~(uint32_t)(STATES - 1)) | FIRED);
	wf_event_deliver(at, &t->event);
}

static unsigned fire_batch(struct wf_timers *ts, struct wf_worker *at, uint64_t now)
{
	struct firing f = { 0, 0, NULL };
	weft_timer *t, *next;

	wf_lock_take(&ts->lock);
	for (t = wf_wheel_expire(&ts->wheel, now, FIRE_BATCH); t != NULL; t = next) {
		next = t->next_;
		fire(ts, t, at, now, &f);
	}
	update_next(ts);
	wf_lock_give(&ts->lock);

	while ((t = f.spent) != NULL) {
		f.spent = t->next_;
		free(t);
	}
	/* After posting: in between, the runtime could think that it is done. */
	if (f.ended != 0)
		wf_live_add(-f.ended);
	return f.posted;
}

unsigned wf_timers_run(struct wf_worker *w, struct wf_worker *at, uint64_t now)
{
	struct wf_timers *ts = wf_worker_timers(w);
	unsigned posted = 0;

	for (int i = 0; i < FIRE_BATCHES && WF_LOAD(&ts->next) <= now; i++)
		posted += fire_batch(ts, at, now);
	return posted;
}

void wf_timers_fini(struct wf_timers *ts)
{
	weft_timer *t, *next;

	wf_lock_take(&ts->lock);
	for (t = wf_wheel_expire(&ts->wheel, UINT64_MAX, UINT32_MAX); t != NULL; t = next) {
		next = t->next_;
		if (is_after(t))
			free(t);
		else
			state_store(t, IDLE);
	}
	WF_STORE(&ts->count, 0);
	update_next(ts);
	wf_lock_give(&ts->lock);
}

/* Starting */

/* The timer's neighbours in the wheel are fetched while the lock is. They are
 * read without it, as a hint: a prefetch does not mind what is not there. */
static inline __attribute__((no_sanitize("thread"))) void fetch_neighbours(const weft_timer *t)
{
	__builtin_prefetch(t->next_, 1);
	__builtin_prefetch(t->prev_, 1);
}

/* Takes the lock of the wheel that the timer is in, or fired from; it may move
 * meanwhile. NULL: in none. */
static struct wf_timers *lock_wheel(const weft_timer *t, uint32_t *state) WF_NO_THREAD_SAFETY
{
	for (;;) {
		struct wf_timers *ts = wheel_of(*state = state_load(t));

		if (*state % STATES == IDLE || ts == NULL)
			return NULL;
		fetch_neighbours(t);
		wf_lock_take(&ts->lock);
		if (state_load(t) == *state)
			return ts;
		wf_lock_give(&ts->lock);
	}
}

/* The worker whose wheel takes a new timer: the caller's, or each in turn. */
static struct wf_worker *choose_home(void)
{
	static _Atomic unsigned turn;
	struct wf_worker *self = wf_worker_self();
	unsigned n;

	if (WF_LIKELY(self != NULL))
		return self;
	n = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
	return wf_worker_by_id((int)(n % (unsigned)wf_worker_count()));
}

/* Waits until a timer that has just fired in another wheel has its event posted,
 * so that `queued` tells the truth. */
static void settle(uint32_t state, const struct wf_timers *home)
{
	struct wf_timers *ts = wheel_of(state);

	if (state % STATES != FIRED || ts == NULL || ts == home)
		return;
	wf_lock_take(&ts->lock);
	wf_lock_give(&ts->lock);
}

/* Makes the timer ours, if it is not started, nor its handler due. Two threads
 * that start one timer at the same time break the contract; a second atomic
 * exchange for everybody to find them out would cost a third of a start. */
static bool claim(weft_timer *t, uint32_t old, int worker)
{
	if (old % STATES == ARMED || queued(t))
		return false;
	state_store(t, (uint32_t)worker * STATES + ARMED);
	return true;
}

static int arm(weft_timer *t, uint64_t when, const char *where)
{
	struct wf_worker *home = choose_home();
	struct wf_timers *ts = wf_worker_timers(home);
	uint32_t old = state_load(t);
	uint64_t next;
	bool sooner;

	settle(old, ts);
	wf_lock_take(&ts->lock);
	if (WF_UNLIKELY(!claim(t, old, wf_worker_id(home)))) {
		wf_lock_give(&ts->lock);
		return -EALREADY;
	}
	if (!t->background)
		wf_live_add(1);
	t->when = when;
	t->event.where_ = where;
	wf_wheel_add(&ts->wheel, t);
	WF_ADD_OWN(&ts->count, 1u);
	next = wf_wheel_next(&ts->wheel);
	sooner = next < WF_LOAD(&ts->next);
	if (sooner)
		WF_STORE(&ts->next, next);
	wf_lock_give(&ts->lock);
	/* A worker looks at its own wheel before it sleeps. */
	if (sooner && home != wf_worker_self())
		wf_worker_wake(home);
	return 0;
}

static WF_COLD int refuse(const weft_timer *t, int error, const char *where)
{
	if (error == -EALREADY)
		return wf_misuse(where, error, "timer is started already, since %s",
				 t->event.where_ != NULL ? t->event.where_ : "?");
	if (error == -EINVAL)
		return wf_misuse(where, error,
				 "timer's event has no function, or a wrong priority or color");
	return error;
}

uint64_t weft_now(void)
{
	return wf_now();
}

static int start(weft_timer *t, uint64_t when, const char *where)
{
	int rc = WF_UNLIKELY(wf_stopping()) ? -ESHUTDOWN : wf_event_check(&t->event);

	return WF_LIKELY(rc == 0) ? arm(t, when, where) : rc;
}

int weft_timer_start_until_at(weft_timer *t, uint64_t when, const char *where)
{
	int rc = wf_enter();

	if (WF_UNLIKELY(rc < 0))
		return rc;
	rc = start(t, when, where);
	wf_leave();
	return WF_LIKELY(rc == 0) ? 0 : refuse(t, rc, where);
}

static uint64_t time_after(uint64_t delay)
{
	struct wf_worker *self = wf_worker_self();
	uint64_t now = WF_LIKELY(self != NULL) ? wf_worker_now(self) : wf_now();
	uint64_t when;

	return __builtin_add_overflow(now, delay, &when) ? UINT64_MAX : when;
}

int weft_timer_start_at(weft_timer *t, uint64_t delay, const char *where)
{
	return weft_timer_start_until_at(t, time_after(delay), where);
}

/* Moves a started timer in its wheel; -EALREADY if it is in none (any more). */
static int move(weft_timer *t, uint64_t when, const char *where) WF_NO_THREAD_SAFETY
{
	uint32_t state;
	struct wf_timers *ts = lock_wheel(t, &state);
	bool sooner = false;

	if (ts == NULL)
		return -EALREADY;
	if (WF_LIKELY(state % STATES == ARMED)) {
		wf_wheel_move(&ts->wheel, t, when);
		t->event.where_ = where;
		sooner = when < WF_LOAD(&ts->next);
		if (sooner)
			update_next(ts);
	}
	wf_lock_give(&ts->lock);
	if (WF_UNLIKELY(sooner))
		wf_worker_wake(wf_worker_by_id((int)(state / STATES)));
	return state % STATES == ARMED ? 0 : -EALREADY;
}

int weft_timer_restart_at(weft_timer *t, uint64_t delay, const char *where)
{
	int rc = wf_enter();

	if (WF_UNLIKELY(rc < 0))
		return rc;
	if (WF_LIKELY(state_load(t) % STATES == ARMED && !wf_stopping()))
		rc = move(t, time_after(delay), where);
	else
		rc = start(t, time_after(delay), where);
	wf_leave();
	return rc == -EINVAL ? refuse(t, rc, where) : rc;
}

/* Starts a timer that posts `ev`. Takes ev, if all goes well. */
static int start_after(uint64_t delay, weft_event *ev, const char *where)
{
	weft_timer *t = WF_NEW(weft_timer);
	int rc;

	if (t == NULL)
		return -ENOMEM;
	weft_timer_init(t, WEFT_MAIN, after_mark, ev);
	rc = arm(t, time_after(delay), where);
	if (rc < 0)
		free(t);
	return rc;
}

int weft_after_at(uint64_t delay, weft_color color, weft_fn *fn, void *arg, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	struct wf_pool_cache *cache = self != NULL ? &self->free_events : NULL;
	weft_event *ev, model;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	weft_event_init(&model, color, fn, arg);
	model.flags_ = WF_EVENT_POOLED;
	model.where_ = where;
	rc = wf_stopping() ? -ESHUTDOWN : wf_event_check(&model);
	if (rc == 0) {
		ev = wf_pool_get(&wf_rt->sched.events, cache, false);
		rc = -ENOMEM;
		if (ev != NULL) {
			*ev = model;
			rc = start_after(delay, ev, where);
			if (rc < 0)
				wf_pool_put(&wf_rt->sched.events, cache, ev);
		}
	}
	wf_leave();
	if (rc == -EINVAL)
		return wf_misuse(where, rc, "no function, or a color never made");
	return rc;
}

/* Cancelling */

/* A started timer is taken out of the wheel. A periodic one may have a call due
 * as well, which the timer's own color can take back, and no other. */
static int disarm(struct wf_timers *ts, weft_timer *t, uint32_t state) WF_REQUIRES(ts->lock)
{
	wf_wheel_remove(&ts->wheel, t);
	WF_ADD_OWN(&ts->count, -1u);
	if (WF_LOAD(&ts->next) >= t->when)
		update_next(ts);
	if (!queued(t)) {
		state_store(t, IDLE);
		return 0;
	}
	state_store(t, state - ARMED + FIRED);
	return -EALREADY;
}

/* Its call is due, or was: in its own color that is a fact to act upon. */
static int take_back(weft_timer *t)
{
	switch (weft_event_cancel(&t->event)) {
	case 0:
		state_store(t, IDLE);
		return 0;
	case -ENOENT:
		return -ENOENT;
	default:
		return -EALREADY;
	}
}

static int cancel(weft_timer *t) WF_NO_THREAD_SAFETY
{
	uint32_t state;
	struct wf_timers *ts = lock_wheel(t, &state);
	bool background;
	int rc = -EALREADY;

	if (ts == NULL)
		return state % STATES == IDLE ? -ENOENT : take_back(t);
	background = t->background;
	if (state % STATES == ARMED)
		rc = disarm(ts, t, state);
	wf_lock_give(&ts->lock);
	if (rc < 0)
		rc = take_back(t);
	if (state % STATES == ARMED && !background)
		wf_live_add(-1);
	return rc;
}

int weft_timer_cancel(weft_timer *t)
{
	int rc = wf_enter();

	if (WF_UNLIKELY(rc < 0))
		return rc;
	rc = cancel(t);
	wf_leave();
	return rc;
}
