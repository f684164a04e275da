/* offload.c - the pool of kernel threads that makes blocking library calls.
 *
 * Threads are started when a call finds none idle, up to a bound. Beyond it
 * calls wait in one queue, first come first served. Idle threads are a stack:
 * the warmest works next, and those at the bottom end themselves after a while,
 * the last one too.
 *
 * Invariant: while a call is queued, there is a thread that will look at the
 * queue. A thread goes idle or ends only under the lock with the queue empty;
 * whoever queues a call wakes an idle thread, or knows that a running one comes
 * back, or starts one. Starting may fail, so births happen one at a time: until
 * a birth is over nobody may count on the thread being born.
 *
 * Rejected: handing a call to the thread that is woken for it. Taking it from
 * the queue leaves it cancellable until it begins.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <weft/io.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/report.h"
#include "io/parts.h"
#include "io/state.h"
#include "platform/ended.h"
#include "scheduler/scheduler.h"

#define STACK_SIZE ((size_t)256 * 1024)

_Atomic uint64_t wf_offload_idle_ns = 5 * WEFT_SEC;

struct helper {
	struct wf_link link; /* in pool.idle, under pool.lock */
	bool idle;
	sem_t wake;
	pthread_t id;
	struct helper *before; /* ended before this one; to be joined by it */
};

static struct {
	struct wf_lock lock;
	pthread_mutex_t birth; /* held while a thread is started; before `lock` */
	sem_t empty;           /* posted by the last thread when stopping */
	bool on, stopping;
	uint32_t max, queued;
	uint32_t threads;  /* there are, or will be if a birth goes well */
	uint32_t starting; /* of these, not born yet: 0 or 1 */
	uint32_t busy;     /* of these, in a call */
	uint64_t run;
	weft_work *head, *tail;
	struct wf_link idle; /* the warmest is last */
	/* Ended and not joined yet: the next to end joins it, so that at most one
	 * such thread is left. */
	struct helper *dead;
} pool;

static void queue_push(weft_work *w) WF_REQUIRES(pool.lock)
{
	w->next_ = NULL;
	w->prev_ = pool.tail;
	if (pool.tail != NULL)
		pool.tail->next_ = w;
	else
		pool.head = w;
	pool.tail = w;
	pool.queued++;
	wf_state_set(&w->state_, WF_ASKED);
}

static void queue_remove(weft_work *w) WF_REQUIRES(pool.lock)
{
	if (w->prev_ != NULL)
		w->prev_->next_ = w->next_;
	else
		pool.head = w->next_;
	if (w->next_ != NULL)
		w->next_->prev_ = w->prev_;
	else
		pool.tail = w->prev_;
	pool.queued--;
}

static void idle_push(struct helper *h) WF_REQUIRES(pool.lock)
{
	h->idle = true;
	wf_list_append(&pool.idle, &h->link);
}

static void idle_remove(struct helper *h) WF_REQUIRES(pool.lock)
{
	h->idle = false;
	wf_list_remove(&h->link);
}

/* Wakes the thread that went idle last; false if none is idle. */
static bool idle_wake(void) WF_REQUIRES(pool.lock)
{
	struct helper *h;

	if (wf_list_empty(&pool.idle))
		return false;
	h = WF_CONTAINER(pool.idle.prev, struct helper, link);
	idle_remove(h);
	sem_post(&h->wake);
	return true;
}

/* Sleeps once, with a limit: an idle pool does not tick (S6). False when the
 * time is up and nobody had a call for this thread. */
static bool sleep_idle(struct helper *self)
{
	uint64_t end = weft_now() + WF_LOAD(&wf_offload_idle_ns);
	struct timespec ts = { (time_t)(end / WEFT_SEC), (long)(end % WEFT_SEC) };
	bool woken;
	int r;

	do
		r = sem_clockwait(&self->wake, CLOCK_MONOTONIC, &ts);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return true;
	wf_lock_take(&pool.lock);
	woken = !self->idle;
	if (!woken)
		idle_remove(self);
	wf_lock_give(&pool.lock);
	while (woken && sem_wait(&self->wake) < 0)
		;
	return woken;
}

/* Takes the thread out of the count. The queue is empty, or will be dropped. */
static void retire(struct helper *self) WF_REQUIRES(pool.lock)
{
	self->before = pool.dead;
	pool.dead = self;
	if (--pool.threads == 0 && pool.stopping)
		sem_post(&pool.empty);
}

/* The next call to make, or NULL: the thread is retired and must end. */
static weft_work *next_work(struct helper *self)
{
	bool stay = true;
	weft_work *w;

	wf_lock_take(&pool.lock);
	for (;;) {
		/* A runtime that stops begins no call, though it has not told us yet. */
		stay = stay && !wf_stopping();
		w = wf_stopping() ? NULL : pool.head;
		if (w != NULL || !stay)
			break;
		idle_push(self);
		wf_lock_give(&pool.lock);
		stay = sleep_idle(self);
		wf_lock_take(&pool.lock);
	}
	if (w != NULL) {
		queue_remove(w);
		pool.busy++;
		pool.run++;
		wf_state_set(&w->state_, WF_BEGUN);
	} else {
		retire(self);
	}
	wf_lock_give(&pool.lock);
	return w;
}

static void tell(weft_work *w, int result)
{
	w->result = result;
	wf_state_set(&w->state_, WF_TOLD);
	wf_event_deliver(NULL, &w->event);
	wf_live_add(-1);
}

static void make_call(weft_work *w)
{
	int result = w->call(w->event.arg);

	wf_lock_take(&pool.lock);
	pool.busy--;
	wf_lock_give(&pool.lock);
	if (wf_enter() < 0) {
		/* The runtime has stopped: nobody can be told, and the owner may use it again. */
		wf_state_set(&w->state_, WF_FRESH);
		return;
	}
	tell(w, result);
	wf_leave();
}

static void join(struct helper *h)
{
	pthread_join(h->id, NULL);
	sem_destroy(&h->wake);
	free(h);
}

/* Aborts: the thread that waits for the function would wait for ever. */
static void helper_ended(void)
{
	wf_report(WF_REPORT_MISUSE,
		  "a function on the offload pool called pthread_exit(), or was cancelled by "
		  "pthread_cancel(): return from the function");
	abort();
}

static void *serve(void *arg)
{
	static const struct wf_ended ended = { helper_ended };
	struct helper *self = arg;
	weft_work *w;

	wf_ended_watch(&ended);
	while ((w = next_work(self)) != NULL)
		make_call(w);
	if (self->before != NULL)
		join(self->before);
	wf_ended_watch(NULL);
	return NULL;
}

/* Signals go to threads that expect them; but a fault is the thread's own. */
static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGFPE);
	sigdelset(&set, SIGILL);
	sigdelset(&set, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &set, old);
}

/* Starts a thread. pool.birth is held. */
static int helper_start(void)
{
	struct helper *h = WF_NEW(struct helper);
	pthread_attr_t attr;
	sigset_t old;
	int r;

	if (h == NULL)
		return -EAGAIN;
	sem_init(&h->wake, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	block_signals(&old);
	r = WF_FAULT(EAGAIN);
	if (r == 0)
		r = -pthread_create(&h->id, &attr, serve, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (r < 0) {
		sem_destroy(&h->wake);
		free(h);
		return -EAGAIN;
	}
	return 0;
}

/* Whether one call more would be made at once, or no thread more is allowed. */
static bool have_room(void) WF_REQUIRES(pool.lock)
{
	uint32_t born = pool.threads - pool.starting;

	return born == pool.max || born - pool.busy > pool.queued;
}

/* Starts a thread, if there is need. Takes its time, without the lock. */
static int grow(void)
{
	bool wanted;
	int r = 0;

	pthread_mutex_lock(&pool.birth);
	wf_lock_take(&pool.lock);
	wanted = !have_room(); /* another birth may have helped */
	if (wanted) {
		pool.threads++;
		pool.starting = 1;
	}
	wf_lock_give(&pool.lock);
	if (wanted) {
		r = helper_start();
		wf_lock_take(&pool.lock);
		pool.starting = 0;
		if (r < 0)
			pool.threads--;
		wf_lock_give(&pool.lock);
	}
	pthread_mutex_unlock(&pool.birth);
	return r;
}

/* Queues the call where a thread will come for it: at once if the bound allows,
 * later if it does not or no thread can be started. */
static int start(weft_work *w)
{
	int r = 0;

	wf_lock_take(&pool.lock);
	if (wf_state_busy(&w->state_, &w->event)) {
		wf_lock_give(&pool.lock);
		return -EALREADY;
	}
	wf_live_add(1);
	wf_state_set(&w->state_, WF_BEGUN); /* until it is queued, none may cancel it */
	while (!have_room() && r == 0) {
		wf_lock_give(&pool.lock);
		r = grow();
		wf_lock_take(&pool.lock);
	}
	if (pool.threads - pool.starting > 0) {
		queue_push(w);
		idle_wake();
		r = 0;
	} else {
		wf_state_set(&w->state_, WF_FRESH);
		wf_live_add(-1);
	}
	wf_lock_give(&pool.lock);
	return r;
}

int weft_work_start(weft_work *w, int (*call)(void *arg))
{
	int r;

	if (w == NULL || call == NULL || wf_event_check(&w->event) < 0)
		return -EINVAL;
	r = wf_enter();
	if (r < 0)
		return r;
	if (wf_stopping()) {
		r = -ESHUTDOWN;
	} else {
		w->call = call;
		r = start(w);
	}
	wf_leave();
	return r;
}

int weft_work_cancel(weft_work *w)
{
	enum wf_state state;
	int r;

	if (w == NULL)
		return -EINVAL;
	r = wf_enter();
	if (r < 0)
		return r;
	wf_lock_take(&pool.lock);
	state = wf_state_get(&w->state_);
	if (state == WF_ASKED) {
		queue_remove(w);
		wf_state_set(&w->state_, WF_CANCELLED);
	}
	wf_lock_give(&pool.lock);
	if (state == WF_ASKED)
		tell(w, -ECANCELED);
	wf_leave();
	if (state == WF_FRESH)
		return -ENOENT;
	return state == WF_ASKED ? 0 : -EALREADY;
}

int wf_offload_start(int max)
{
	/* All anew: a forked child may find what its parent was doing. */
	wf_lock_init(&pool.lock, WF_RANK_OFFLOAD);
	pthread_mutex_init(&pool.birth, NULL);
	wf_list_init(&pool.idle);
	pool.dead = NULL;
	sem_init(&pool.empty, 0, 0);
	pool.head = pool.tail = NULL;
	pool.max = (uint32_t)max;
	pool.threads = pool.starting = pool.busy = pool.queued = 0;
	pool.run = 0;
	pool.stopping = false;
	pool.on = true;
	return 0;
}

void wf_offload_stop(void)
{
	bool wait;

	if (!pool.on)
		return;
	pool.on = false;
	wf_lock_take(&pool.lock);
	pool.stopping = true;
	for (weft_work *w = pool.head; w != NULL; w = w->next_) {
		w->result = -ECANCELED;
		wf_state_set(&w->state_, WF_FRESH); /* its owner's again */
	}
	pool.head = pool.tail = NULL;
	pool.queued = 0;
	wait = pool.threads > 0;
	while (idle_wake())
		;
	wf_lock_give(&pool.lock);
	while (wait && sem_wait(&pool.empty) < 0)
		;
	if (pool.dead != NULL)
		join(pool.dead);
	pool.dead = NULL;
	sem_destroy(&pool.empty);
}

void wf_offload_stats(uint64_t *run, uint32_t *threads, uint32_t *queued)
{
	wf_lock_take(&pool.lock);
	*run = pool.run;
	*threads = pool.threads;
	*queued = pool.queued;
	wf_lock_give(&pool.lock);
}
