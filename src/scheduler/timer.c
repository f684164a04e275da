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
 * work must get its turn even if a million timers are due at once. And events
 * posted in one run: more than are run until the next would pile up, and be out of
 * the cache when their turn comes. */
enum { FIRE_BATCH = 64, FIRE_BATCHES = 64, FIRE_EVENTS = 256 };

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

/* The wheel that a state names, mostly the caller's own. NULL: that of an earlier,
 * larger runtime. */
static inline struct wf_timers *wheel_of(struct wf_worker *self, uint32_t state)
{
	int id = (int)(state / STATES);
	struct wf_worker *w;

	if (WF_LIKELY(self != NULL && self->id == id))
		return &self->timers;
	w = id < wf_worker_limit() ? wf_worker_by_id(id) : NULL;
	return w != NULL ? &w->timers : NULL;
}

/* wf_enter and wf_leave, for whoever knows its worker already. */
static inline int enter(const struct wf_worker *self)
{
	return WF_LIKELY(self != NULL) ? 0 : wf_enter();
}

static inline void leave(const struct wf_worker *self)
{
	if (WF_UNLIKELY(self == NULL))
		wf_leave();
}

static inline bool stopping(void)
{
	return WF_LOAD(&wf_rt->stopping);
}

static inline void live_add(struct wf_worker *self, int n)
{
	if (WF_LIKELY(self != NULL))
		wf_worker_live_add(self, n);
	else
		wf_live_add(n);
}

static void update_next(struct wf_timers *ts) WF_REQUIRES(ts->lock)
{
	WF_STORE(&ts->next, wf_wheel_next(&ts->wheel));
}

/* A timer has come into the wheel for `when`: whether the worker must look sooner
 * than it would have. */
static inline bool look_sooner(struct wf_timers *ts, uint64_t when) WF_REQUIRES(ts->lock)
{
	uint64_t before = WF_LOAD(&ts->next);

	if (WF_LIKELY(when >= before))
		return false;
	update_next(ts);
	return WF_LOAD(&ts->next) < before;
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
	struct wf_timers *ts = &w->timers;
	unsigned posted = 0;

	for (int i = 0; i < FIRE_BATCHES && posted < FIRE_EVENTS && WF_LOAD(&ts->next) <= now; i++)
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

uint64_t weft_now(void)
{
	return wf_now();
}

/* The timer's neighbours in the wheel are fetched while the lock is. They are
 * read without it, as a hint: a prefetch does not mind what is not there. */
static inline __attribute__((no_sanitize("thread"))) void fetch_neighbours(const weft_timer *t)
{
	__builtin_prefetch(t->next_, 1);
	__builtin_prefetch(t->prev_, 1);
}

/* Takes the lock of the wheel that the timer is in, or fired from; it may move
 * meanwhile. NULL: in none. */
static inline struct wf_timers *lock_wheel(struct wf_worker *self, const weft_timer *t,
					   uint32_t *state) WF_NO_THREAD_SAFETY
{
	for (;;) {
		struct wf_timers *ts = wheel_of(self, *state = state_load(t));

		if (*state % STATES == IDLE || ts == NULL)
			return NULL;
		fetch_neighbours(t);
		wf_lock_take(&ts->lock);
		if (WF_LIKELY(state_load(t) == *state))
			return ts;
		wf_lock_give(&ts->lock);
	}
}

/* The worker whose wheel takes a foreign thread's timer: each in turn. */
static WF_NOINLINE struct wf_worker *choose_home(void)
{
	static _Atomic unsigned turn;
	unsigned n = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	return wf_worker_by_id((int)(n % (unsigned)wf_worker_count()));
}

/* Waits until a timer that has just fired in another wheel has its event posted,
 * so that `queued` tells the truth. */
static WF_NOINLINE void settle(struct wf_worker *self, uint32_t state, const struct wf_timers *home)
{
	struct wf_timers *ts = wheel_of(self, state);

	if (ts == NULL || ts == home)
		return;
	wf_lock_take(&ts->lock);
	wf_lock_give(&ts->lock);
}

/* Whether the timer is not started, nor its handler due. Two threads
 * that start one timer at the same time break the contract; a second atomic
 * exchange for everybody to find them out would cost a third of a start. */
static bool claimable(const weft_timer *t, uint32_t old)
{
	return old % STATES != ARMED && !queued(t);
}

static inline void put(struct wf_timers *ts, weft_timer *t, uint32_t armed, uint64_t when,
		       const char *where) WF_REQUIRES(ts->lock)
{
	state_store(t, armed);
	t->when = when;
	t->event.where_ = where;
	wf_wheel_add(&ts->wheel, t);
	WF_ADD_OWN(&ts->count, 1u);
}

static inline uint64_t time_after(struct wf_worker *self, uint64_t delay)
{
	uint64_t now = WF_LIKELY(self != NULL) ? wf_worker_now(self) : wf_now();
	uint64_t when;

	return __builtin_add_overflow(now, delay, &when) ? UINT64_MAX : when;
}

static int arm_at(struct wf_worker *self, struct wf_worker *home, weft_timer *t, uint64_t when,
		  const char *where)
{
	struct wf_timers *ts = &home->timers;
	uint32_t old = state_load(t);
	bool sooner;

	if (WF_UNLIKELY(old % STATES == FIRED))
		settle(self, old, ts);
	wf_lock_take(&ts->lock);
	if (WF_UNLIKELY(!claimable(t, old))) {
		wf_lock_give(&ts->lock);
		return -EALREADY;
	}
	if (!t->background)
		live_add(self, 1);
	put(ts, t, (uint32_t)home->id * STATES + ARMED, when, where);
	sooner = look_sooner(ts, when);
	wf_lock_give(&ts->lock);
	/* A worker looks at its own wheel before it sleeps. */
	if (WF_UNLIKELY(sooner && self == NULL))
		wf_worker_wake(home);
	return 0;
}

static int arm(struct wf_worker *self, weft_timer *t, uint64_t when, const char *where)
{
	return arm_at(self, self != NULL ? self : choose_home(), t, when, where);
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

static int start(struct wf_worker *self, weft_timer *t, uint64_t when, const char *where)
{
	int rc = WF_UNLIKELY(stopping()) ? -ESHUTDOWN : wf_event_check(&t->event);

	return WF_LIKELY(rc == 0) ? arm(self, t, when, where) : rc;
}

static WF_NOINLINE int start_anyhow(struct wf_worker *self, weft_timer *t, uint64_t when,
				    const char *where)
{
	int rc = enter(self);

	if (rc < 0)
		return rc;
	rc = start(self, t, when, where);
	leave(self);
	return rc == 0 ? 0 : refuse(t, rc, where);
}

static WF_NOINLINE int start_anyhow_after(struct wf_worker *self, weft_timer *t, uint64_t delay,
					  const char *where)
{
	return start_anyhow(self, t, time_after(self, delay), where);
}

/* Most timers are started and cancelled by handlers, in wheels where others are. For these
 * all is done here, without a call. Timers are many and mostly not in the cache: the less
 * there is to do and to save for one, the earlier does the CPU see and fetch the next.
 * What is not so goes the long way: false, and nothing was done. */
static WF_INLINE bool start_quickly(struct wf_worker *self, weft_timer *t, uint64_t when,
				    const char *where) WF_NO_THREAD_SAFETY
{
	struct wf_timers *ts = &self->timers;
	uint32_t here = (uint32_t)self->id * STATES, old = state_load(t);

	if (WF_UNLIKELY(stopping() || !wf_event_valid(&t->event) || !wf_worker_awake(self) ||
			(old != IDLE && old != here + FIRED) || !wf_lock_try(&ts->lock)))
		return false;
	if (WF_UNLIKELY(queued(t) || when < WF_LOAD(&ts->next))) {
		wf_lock_give(&ts->lock);
		return false;
	}
	put(ts, t, here + ARMED, when, where);
	if (!t->background)
		wf_worker_live_add_awake(self, 1);
	wf_lock_give(&ts->lock);
	return true;
}

int weft_timer_start_until_at(weft_timer *t, uint64_t when, const char *where)
{
	struct wf_worker *self = wf_self_worker;

	if (WF_LIKELY(self != NULL && start_quickly(self, t, when, where)))
		return 0;
	return start_anyhow(self, t, when, where);
}

int weft_timer_start_at(weft_timer *t, uint64_t delay, const char *where)
{
	struct wf_worker *self = wf_self_worker;
	uint64_t when;

	if (WF_LIKELY(self != NULL && wf_worker_knows_now(self, &when) &&
		      !__builtin_add_overflow(when, delay, &when) &&
		      start_quickly(self, t, when, where)))
		return 0;
	return start_anyhow_after(self, t, delay, where);
}

/* Moves a started timer in its wheel; -EALREADY if it is in no wheel (any more). If a periodic
 * timer has fired and its handler has not begun, its own color takes that call back, as it would
 * come early. That happens under the lock: so the call cannot be one for the new time. */
static int move(struct wf_worker *self, weft_timer *t, uint64_t when, const char *where)
	WF_NO_THREAD_SAFETY
{
	uint32_t state;
	struct wf_timers *ts = lock_wheel(self, t, &state);
	bool sooner = false;

	if (ts == NULL)
		return -EALREADY;
	if (WF_LIKELY(state % STATES == ARMED)) {
		if (WF_UNLIKELY(queued(t)))
			(void)weft_event_cancel(&t->event);
		wf_wheel_move(&ts->wheel, t, when);
		t->event.where_ = where;
		sooner = look_sooner(ts, when);
	}
	wf_lock_give(&ts->lock);
	if (WF_UNLIKELY(sooner))
		wf_worker_wake(wf_worker_by_id((int)(state / STATES)));
	return state % STATES == ARMED ? 0 : -EALREADY;
}

/* Starts a timer that posts `ev`. Takes ev, if all goes well. */
static int start_after(struct wf_worker *self, uint64_t delay, weft_event *ev, const char *where)
{
	weft_timer *t = WF_NEW(weft_timer);
	int rc;

	if (t == NULL)
		return -ENOMEM;
	weft_timer_init(t, WEFT_MAIN, after_mark, ev);
	rc = arm(self, t, time_after(self, delay), where);
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
	rc = stopping() ? -ESHUTDOWN : wf_event_check(&model);
	if (rc == 0) {
		ev = wf_pool_get(&wf_rt->sched.events, cache, false);
		rc = -ENOMEM;
		if (ev != NULL) {
			*ev = model;
			rc = start_after(self, delay, ev, where);
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
static inline int disarm(struct wf_timers *ts, weft_timer *t, uint32_t state) WF_REQUIRES(ts->lock)
{
	wf_wheel_remove(&ts->wheel, t);
	WF_ADD_OWN(&ts->count, -1u);
	if (WF_LOAD(&ts->next) >= t->when)
		update_next(ts);
	if (WF_LIKELY(!queued(t))) {
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

static WF_NOINLINE int cancel(struct wf_worker *self, weft_timer *t) WF_NO_THREAD_SAFETY
{
	uint32_t state;
	struct wf_timers *ts = lock_wheel(self, t, &state);
	bool background;
	int rc = -EALREADY;

	if (ts == NULL)
		return state % STATES == IDLE ? -ENOENT : take_back(t);
	background = t->background;
	if (WF_LIKELY(state % STATES == ARMED))
		rc = disarm(ts, t, state);
	wf_lock_give(&ts->lock);
	if (WF_UNLIKELY(rc < 0))
		rc = take_back(t);
	if (WF_LIKELY(state % STATES == ARMED && !background))
		live_add(self, -1);
	return rc;
}

static WF_NOINLINE int cancel_foreign(weft_timer *t)
{
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	rc = cancel(NULL, t);
	wf_leave();
	return rc;
}

/* As start_quickly, for a timer that is neither the first to fire nor alone in its place. */
static WF_INLINE bool cancel_quickly(struct wf_worker *self, weft_timer *t) WF_NO_THREAD_SAFETY
{
	struct wf_timers *ts = &self->timers;
	uint32_t armed = (uint32_t)self->id * STATES + ARMED;

	if (WF_UNLIKELY(state_load(t) != armed || !wf_worker_awake(self)))
		return false;
	fetch_neighbours(t);
	if (WF_UNLIKELY(!wf_lock_try(&ts->lock)))
		return false;
	if (WF_UNLIKELY(state_load(t) != armed || WF_LOAD(&ts->next) >= t->when || queued(t) ||
			(t->next_ == NULL && t->prev_ == NULL))) {
		wf_lock_give(&ts->lock);
		return false;
	}
	wf_wheel_remove(&ts->wheel, t);
	WF_ADD_OWN(&ts->count, -1u);
	if (!t->background)
		wf_worker_live_add_awake(self, -1);
	state_store(t, IDLE);
	wf_lock_give(&ts->lock);
	return true;
}

int weft_timer_cancel(weft_timer *t)
{
	struct wf_worker *self = wf_self_worker;

	if (WF_UNLIKELY(self == NULL))
		return cancel_foreign(t);
	return WF_LIKELY(cancel_quickly(self, t)) ? 0 : cancel(self, t);
}

/* Restarting */

/* In its own color, a timer that has fired and whose handler has not begun is put off, too. */
static int restart(struct wf_worker *self, weft_timer *t, uint64_t when, const char *where)
{
	bool moves = state_load(t) % STATES == ARMED && !stopping();
	int rc = WF_LIKELY(moves) ? move(self, t, when, where) : start(self, t, when, where);

	if (WF_UNLIKELY(rc == -EALREADY) && take_back(t) == 0)
		rc = start(self, t, when, where);
	return rc;
}

int weft_timer_restart_at(weft_timer *t, uint64_t delay, const char *where)
{
	struct wf_worker *self = wf_worker_self();
	int rc = enter(self);

	if (WF_UNLIKELY(rc < 0))
		return rc;
	rc = restart(self, t, time_after(self, delay), where);
	leave(self);
	return rc == -EINVAL ? refuse(t, rc, where) : rc;
}
