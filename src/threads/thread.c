/* thread.c - how threads begin, stop, go on and end.
 *
 * A worker resumes a thread by leaving its own stack. A thread that stops looks
 * whether the next event of its color resumes a thread too, and if so goes straight
 * there; else back to the worker. What must be done for a thread after its stack was
 * left (it hops, it ends) is done by whoever runs next on that worker.
 */
#include "threads/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/probe.h"
#include "base/report.h"
#include "threads/leave.h"
#include "threads/locks.h"
#include "threads/scopes.h"
#include "threads/spare.h"
#include "threads/trim.h"

struct wf_stacks wf_thread_stacks;

_Thread_local struct weft_thread *wf_thread_current
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

struct weft_thread *wf_thread_forked;

const struct weft_thread wf_nobody = { .context.sp = (void *)(uintptr_t)wf_body_no_frame };

void wf_threads_forked(void)
{
	wf_thread_forked = wf_thread_current;
	wf_thread_current = NULL;
	/* If it is a body, who started it is to have no runtime either. */
	if (wf_thread_forked != NULL)
		wf_thread_forked->body |= WF_BODY_UNTIDY;
}

WF_HOT WF_NOINLINE weft_thread *wf_thread_self(void)
{
	return wf_thread_current;
}

weft_thread *weft_self(void)
{
	return wf_thread_current;
}

/* Switching */

static WF_INLINE void release(struct wf_worker *w, weft_thread *t)
{
	WF_STORE(&t->state, WF_THREAD_FREE);
	wf_context_fini(&t->context);
	wf_stack_put(&wf_thread_stacks, w != NULL ? &w->flow.stacks : NULL, t->stack_class, t);
}

static void free_thread(struct wf_worker *w, weft_thread *t)
{
	wf_thread_count_freed(w != NULL ? &w->flow : NULL, t);
	release(w, t);
}

void wf_thread_free_spare(struct wf_worker *w, weft_thread *t)
{
	release(w, t);
}

/* Of the same color it goes ahead, as when it is the heir (see there), also when the turn
 * is over: else all that were started before it would run meanwhile, and end, and keep
 * their stacks until it comes to join them. */
static void wake_joiner(struct wf_worker *w, weft_thread *joiner, weft_color color)
{
	if (joiner->event.color != color || joiner->event.priority != 0) {
		wf_thread_wake(joiner);
		return;
	}
	WF_STORE(&joiner->state, WF_THREAD_READY);
	wf_turn_stand_by(w, &joiner->event);
	if (wf_thread_current == NULL)
		wf_turn_queue_young(w);
}

/* The thread's stack was left for good. */
static void finish(struct wf_worker *w, weft_thread *t)
{
	uintptr_t bond = atomic_load_explicit(&t->bond, memory_order_acquire);

	WF_ADD_OWN(&w->flow.ended, 1u);
	WF_STORE(&t->state, WF_THREAD_ENDED);
	/* A joiner may give up, another begin, and a detach come, meanwhile. */
	while (bond != WF_THREAD_DETACHED &&
	       !atomic_compare_exchange_weak(&t->bond, &bond,
					     bond == WF_THREAD_JOINABLE ? WF_THREAD_OVER
									: WF_THREAD_TAKEN))
		;
	if (bond == WF_THREAD_DETACHED) {
		if (!wf_spare_keep(w, wf_thread_current, t))
			free_thread(w, t);
	} else if (bond >= WF_THREAD_BONDS && (bond & WF_THREAD_TELL)) {
		wf_event_deliver(w, (weft_event *)(bond & ~WF_THREAD_TELL));
	} else if (bond >= WF_THREAD_BONDS) {
		wake_joiner(w, (weft_thread *)bond, t->event.color);
	}
}

/* A thread that a foreign thread or a stand-in wakes counts as brought by the kernel: if the worker
 * gets stuck, the reserve takes it over. A thread that has never waited does not count: it may have
 * been started to compute. */
static WF_INLINE enum wf_source source(const struct wf_worker *w, const weft_thread *t)
{
	if (WF_LIKELY(w != NULL && w->id < w->sched->workers) || WF_LOAD(&t->parkings) == 0)
		return WF_FROM_CPU;
	return WF_FROM_IO;
}

static void hop(struct wf_worker *w, weft_thread *t)
{
	/* Who sees the color sees that it has not arrived there. */
	WF_STORE(&t->state, WF_THREAD_HOPS);
	__atomic_store_n(&t->event.color, t->hop, __ATOMIC_RELEASE);
	(void)wf_sched_post(w->sched, w, w, &t->event, source(w, t), NULL, true);
}

WF_NOINLINE void wf_thread_errand(struct wf_worker *w, weft_thread *left)
{
	w->flow.left = NULL;
	if (WF_UNLIKELY(left == wf_thread_forked))
		wf_threads_forked();
	else if (left->errand == WF_ERRAND_HOP)
		hop(w, left);
	else
		finish(w, left);
}

WF_HOT void wf_thread_resume(void *thread)
{
	struct wf_worker *w = wf_worker_self();

	wf_thread_enter(w, thread);
	wf_thread_switch(w, &w->flow.own, &((weft_thread *)thread)->context, false);
	wf_thread_current = NULL;
	WF_STORE(&w->context, &w->flow.own);
	wf_thread_arrived(w);
}

WF_HOT void wf_park(struct wf_wait *wait)
{
	wf_thread_park(wf_thread_self(), wait);
}

WF_NOINLINE void wf_thread_post(weft_thread *t)
{
	struct wf_worker *self = wf_worker_self();
	int rc = wf_sched_post(&wf_rt->sched, self, self != NULL ? self : t->worker, &t->event,
			       source(self, t), NULL, true);

	WF_ASSERT(rc == 0); /* else it was woken twice for one wait */
	(void)rc;
}

/* A thread that another of its color wakes, or starts, runs when that one waits: what
 * they share is warm, and a chain of them needs few stacks. */
static WF_INLINE void stand_by(weft_thread *t, weft_thread *self)
{
	if (self != NULL && self->event.color == t->event.color && t->event.priority == 0)
		wf_turn_stand_by(self->worker, &t->event);
	else
		wf_thread_post(t);
}

/* It will run soon, and here; where there are many, its stack has cooled down. Behind what
 * the switch left there is nothing for 128 bytes. */
static WF_INLINE void warm(const weft_thread *t)
{
	const char *frame = t->context.sp;

	__builtin_prefetch(frame);
	__builtin_prefetch(frame + 128);
	__builtin_prefetch(frame + 192);
	__builtin_prefetch(frame + 256);
}

void wf_thread_wake(weft_thread *t)
{
	weft_thread *self = wf_thread_current;

	WF_STORE(&t->state, WF_THREAD_READY);
	if (self != NULL && self->event.color == t->event.color)
		warm(t);
	stand_by(t, self);
}

/* Beginning and end */

static WF_INLINE void run_cleanups(weft_thread *t)
{
	while (t->cleanups != NULL) {
		weft_cleanup *c = t->cleanups;

		t->cleanups = c->next_;
		c->run(c->arg);
	}
}

/* If somebody of the same color waits for the end, that one goes on at once. One of
 * another color may give up waiting at this moment, so no more is believed of it
 * than that its record is one; but in our color nothing else runs. */
static WF_NO_TSAN weft_thread *heir(weft_thread *t)
{
	uintptr_t bond = atomic_load_explicit(&t->bond, memory_order_acquire);
	weft_thread *joiner = (weft_thread *)bond;

	if (bond < WF_THREAD_BONDS || (bond & WF_THREAD_TELL) ||
	    joiner->event.color != t->event.color)
		return NULL;
	atomic_thread_fence(memory_order_acquire); /* first the color, then the bond again */
	return WF_LOAD(&t->bond) == bond ? joiner : NULL;
}

/* The body has not waited: who started it goes on, and runs its errand. */
static WF_INLINE _Noreturn void end_under(weft_thread *t)
{
	t->errand = WF_ERRAND_END;
	t->worker->flow.left = t;
	wf_thread_leave_under(t, wf_body_return(t));
	wf_bug("a body that ended was resumed");
}

/* The last of a scope has ended, whose owner goes on. A stack that this worker keeps for
 * itself may be given back while we are on it. */
static WF_INLINE _Noreturn void end_for(struct wf_worker *w, weft_thread *t, weft_thread *owner)
{
	if (wf_spare_keep(w, NULL, t)) {
		WF_ADD_OWN(&w->flow.ended, 1u);
	} else {
		t->errand = WF_ERRAND_END;
		w->flow.left = t;
	}
	wf_thread_leave_last(w, t, owner);
}

/* What it has left behind. */
static WF_NOINLINE void tidy_up(weft_thread *t)
{
	run_cleanups(t);
	wf_slots_end(t);
	/* In a forked child any lock may be held for ever: the worker's loop knows. */
	if (WF_UNLIKELY(wf_thread_forked == t)) {
		if (t->under != &wf_nobody)
			end_under(t);
		wf_thread_leave_for(t->worker, t, NULL);
	}
}

/* Returns who waited for that, as wf_scope_leave. */
static WF_INLINE weft_thread *end_scopes(weft_thread *t, int result)
{
	if (WF_UNLIKELY(t->body & WF_BODY_UNTIDY))
		tidy_up(t);
	wf_locks_thread_ends(t);
	t->result = result;
	return t->scope != NULL || WF_LOAD(&t->kicked) ? wf_scope_leave(t) : NULL;
}

static WF_INLINE _Noreturn void end_with(weft_thread *t, weft_thread *next)
{
	struct wf_worker *w = t->worker;

	if (t->under != &wf_nobody)
		end_under(t);
	wf_turn_leaving(w);
	if (next != NULL) {
		if (wf_turn_more(w, &next->event))
			end_for(w, t, next);
		wf_thread_wake(next);
	}
	t->errand = WF_ERRAND_END;
	next = heir(t);
	if (next != NULL && wf_turn_more(w, &next->event)) {
		/* In one color nobody is beside us: the joiner frees it. */
		WF_ADD_OWN(&w->flow.ended, 1u);
		WF_STORE(&t->state, WF_THREAD_ENDED);
		WF_STORE(&t->bond, WF_THREAD_TAKEN);
		wf_thread_leave_last(w, t, next);
	}
	w->flow.left = t;
	wf_thread_leave(t);
	wf_bug("a thread that ended was resumed");
}

static WF_INLINE _Noreturn void end(weft_thread *t, int result)
{
	end_with(t, end_scopes(t, result));
}

/* They are jumped to (see leave.h), if the compiler does not know that they never return. */
static WF_OPAQUE void end_untidily(weft_thread *t, int result)
{
	end(t, result);
}

static WF_OPAQUE void end_otherwise(weft_thread *t, weft_thread *next)
{
	end_with(t, next);
}

/* Apart from the rest is what most bodies do that have waited, in functions that jump to each
 * other: it is a chain of loads that wait for each other, and the fewer registers each needs
 * the fewer are saved in memory. */
void wf_thread_end(weft_thread *t, int result)
{
	if (WF_UNLIKELY(t->body & WF_BODY_UNTIDY) || t->scope == NULL) {
		end_untidily(t, result);
		return;
	}
	wf_locks_thread_ends(t);
	t->result = result;
	wf_scope_leave_last(t);
}

void wf_thread_end_for(weft_thread *t, weft_thread *owner)
{
#ifdef __x86_64__
	struct wf_worker *w = wf_self_worker;
#else
	struct wf_worker *w = t->worker; /* there compilers keep the address over a switch */
#endif

	if (WF_LIKELY(owner != NULL && t->under == &wf_nobody && w->flow.young == NULL &&
		      wf_turn_more(w, &owner->event)))
		end_for(w, t, owner);
	end_otherwise(t, owner);
}

static void thread_main(void *arg)
{
	weft_thread *t = arg;

	wf_context_begun();
	wf_thread_arrived(t->worker);
	end(t, t->fn(t->arg));
}

void weft_exit(int result)
{
	weft_thread *t = wf_thread_self();

	if (t == NULL)
		t = wf_thread_forked;
	if (t != NULL) {
		/* One that returns has nothing in hand. */
		wf_exceptions_leave(t->worker->flow.exceptions);
		end(t, result);
	}
	wf_bug("weft_exit called outside of threads");
}

static WF_COLD int bad(const weft_thread_attr *attr, weft_thread_fn *fn, const char *where)
{
	if (fn == NULL)
		return wf_misuse(where, -EINVAL, "a thread without a function");
	if (attr->priority > WEFT_PRIORITY_URGENT)
		return wf_misuse(where, -EINVAL, "a thread with priority %d", attr->priority);
	return wf_misuse(where, -EINVAL, "color %#llx was never given by weft_color_new",
			 (unsigned long long)attr->color);
}

static inline bool good(const weft_thread_attr *attr, weft_thread_fn *fn)
{
	return fn != NULL && attr->priority <= WEFT_PRIORITY_URGENT &&
	       (!attr->on || wf_color_valid(attr->color));
}

/* `room` is left free at the top of its stack. */
static WF_INLINE weft_thread *make(struct wf_worker *w, const weft_thread_attr *attr, size_t room,
				   int *err)
{
	struct wf_stacks *s = &wf_thread_stacks;
	int class = attr->stack_size == 0 ? s->usual : wf_stack_class(s, attr->stack_size);
	weft_thread *t;

	*err = -EINVAL;
	t = class >= 0 ? wf_stack_get(s, w != NULL ? &w->flow.stacks : NULL, class, err) : NULL;
	if (t == NULL)
		return NULL;
	wf_context_init(&t->context, wf_stack_low(class, t), (uintptr_t)t, room, thread_main, t);
	t->stack_class = (uint8_t) class;
	return t;
}

static WF_INLINE void fill_in(weft_thread *t, const weft_thread_attr *attr, weft_color color,
			      weft_thread_fn *fn, void *arg, const char *where, bool joinable)
{
	t->event = (weft_event){ .run = wf_thread_resume,
				 .arg = t,
				 .color = color,
				 .priority = attr->priority,
				 .where_ = where };
	t->under = (weft_thread *)(uintptr_t)&wf_nobody;
	t->body = 0;
	t->scope = t->member = NULL;
	t->items = NULL;
	t->told = NULL;
	t->fn = fn;
	t->arg = arg;
	t->errand = WF_ERRAND_NONE;
	t->answers = 0;
	t->slots = NULL;
	t->slots_count = 0;
	t->cleanups = NULL;
#ifdef WEFT_DEBUG
	t->held = NULL;
#endif
	atomic_init(&t->parkings, 0);
	atomic_init(&t->trimmed, 0);
	atomic_init(&t->seen, 0);
	atomic_init(&t->in_vain, 0);
	atomic_init(&t->kicked, WF_KICK_NONE);
	t->settles = false;
	atomic_init(&t->wait, NULL);
	atomic_init(&t->bond, joinable ? WF_THREAD_JOINABLE : WF_THREAD_DETACHED);
	t->name[0] = '\0';
	if (attr->name != NULL)
		snprintf(t->name, sizeof t->name, "%s", attr->name);
	WF_STORE(&t->state, WF_THREAD_READY);
}

/* `parent` is the running thread, or NULL. */
static WF_INLINE int start(struct wf_worker *w, weft_thread *parent, weft_thread **thread,
			   const weft_thread_attr *attr, weft_thread_fn *fn, void *arg,
			   const char *where)
{
	weft_color color;
	weft_thread *t;
	int err;

	if (WF_UNLIKELY(!good(attr, fn)))
		return bad(attr, fn, where);
	if (WF_UNLIKELY(wf_stopping()))
		return -ESHUTDOWN;
	t = make(w, attr, 0, &err);
	if (WF_UNLIKELY(t == NULL))
		return err;
	color = attr->on         ? attr->color
		: parent != NULL ? parent->event.color
				 : weft_color_current();
	fill_in(t, attr, color, fn, arg, where, thread != NULL);
	t->worker = w != NULL ? w : wf_sched_worker(&wf_rt->sched, 0);
	if (thread != NULL)
		*thread = t;
	wf_thread_count_started(w != NULL ? &w->flow : NULL);
	if (parent != NULL && parent->scope != NULL && !attr->apart) {
		t->scope = parent->scope;
		wf_scope_join(t, parent);
	}
	stand_by(t, parent);
	return 0;
}

weft_thread *wf_thread_make_body(struct wf_worker *w, weft_thread_fn *fn, void *arg, size_t room,
				 int *err)
{
	static const weft_thread_attr plain;
	weft_thread *t = make(w, &plain, room, err);

	if (t == NULL)
		return NULL;
	fill_in(t, &plain, weft_color_current(), fn, arg, NULL, false);
	t->worker = w;
	return t;
}

int wf_thread_start(weft_thread **thread, const weft_thread_attr *attr, weft_thread_fn *fn,
		    void *arg, const char *where)
{
	return start(wf_worker_self(), NULL, thread, attr, fn, arg, where);
}

int weft_thread_start_at(weft_thread **thread, const weft_thread_attr *attr, weft_thread_fn *fn,
			 void *arg, const char *where)
{
	static const weft_thread_attr plain;
	weft_thread *parent = wf_thread_current;
	int rc;

	if (attr == NULL)
		attr = &plain;
	if (parent != NULL)
		return start(parent->worker, parent, thread, attr, fn, arg, where);
	rc = wf_enter();
	if (rc < 0)
		return rc;
	rc = wf_thread_start(thread, attr, fn, arg, where);
	wf_leave();
	return rc;
}

int weft_go_at(weft_thread_fn *fn, void *arg, const char *where)
{
	return weft_thread_start_at(NULL, NULL, fn, arg, where);
}

int weft_go_on_at(weft_color color, weft_thread_fn *fn, void *arg, const char *where)
{
	weft_thread_attr attr = { .on = true, .color = color };

	return weft_thread_start_at(NULL, &attr, fn, arg, where);
}

/* Joining */

struct joining {
	struct wf_wait wait;
	weft_thread *self, *other;
	bool gave_up;
};

/* The bond is given back, unless the thread has just ended. */
static void stop_joining(struct wf_wait *wait)
{
	struct joining *j = WF_CONTAINER(wait, struct joining, wait);
	uintptr_t bond = (uintptr_t)j->self;

	if (atomic_compare_exchange_strong(&j->other->bond, &bond, WF_THREAD_JOINABLE)) {
		j->gave_up = true;
		wf_thread_wake(j->self);
	}
}

/* Whether the caller is the one who frees a thread that ended; `bond` was seen. */
static bool take_ended(weft_thread *t, uintptr_t *bond)
{
	return *bond == WF_THREAD_OVER &&
	       atomic_compare_exchange_strong(&t->bond, bond, WF_THREAD_TAKEN);
}

int weft_join_until(weft_thread *t, int *result, uint64_t deadline)
{
	struct joining j = { .wait = { .what = "join", .on = (uintptr_t)t, .cancel = stop_joining },
			     .other = t };
	uintptr_t bond = WF_THREAD_JOINABLE;
	int rc = wf_wait_allowed();

	if (rc < 0)
		return rc;
	j.self = wf_thread_self();
	if (t == j.self)
		return -EDEADLK;
	if (atomic_compare_exchange_strong(&t->bond, &bond, (uintptr_t)j.self)) {
		wf_wait(&j.wait, deadline);
		if (j.gave_up)
			return j.wait.error; /* others may have joined it meanwhile, and freed it */
	} else if (!take_ended(t, &bond)) {
		return bond == WF_THREAD_DETACHED ? -EINVAL : -EBUSY;
	}
	if (result != NULL)
		*result = t->result;
	free_thread(j.self->worker, t);
	return 0;
}

/* Joining without a stack */

int wf_join_begin(weft_thread *t, weft_event *ended)
{
	uintptr_t bond = WF_THREAD_JOINABLE;

	if (atomic_compare_exchange_strong(&t->bond, &bond, (uintptr_t)ended | WF_THREAD_TELL))
		return -EAGAIN;
	if (take_ended(t, &bond))
		return 0;
	return bond == WF_THREAD_DETACHED ? -EINVAL : -EBUSY;
}

bool wf_join_stop(weft_thread *t, weft_event *ended)
{
	uintptr_t bond = (uintptr_t)ended | WF_THREAD_TELL;

	return atomic_compare_exchange_strong(&t->bond, &bond, WF_THREAD_JOINABLE);
}

/* As at its end if nobody was to join it. Who joined it meanwhile has freed it. */
void wf_join_put_back(weft_thread *t)
{
	atomic_store_explicit(&t->bond, WF_THREAD_OVER, memory_order_release);
}

int wf_join_end(weft_thread *t)
{
	int result = t->result;

	free_thread(wf_worker_self(), t);
	return result;
}

int weft_detach(weft_thread *t)
{
	uintptr_t bond = WF_THREAD_JOINABLE;
	int rc = wf_enter();

	if (rc < 0)
		return rc;
	if (!atomic_compare_exchange_strong(&t->bond, &bond, WF_THREAD_DETACHED)) {
		if (take_ended(t, &bond))
			free_thread(wf_worker_self(), t);
		else
			rc = bond == WF_THREAD_DETACHED ? -EINVAL : -EBUSY;
	}
	wf_leave();
	return rc;
}

/* Moving on */

static WF_NOINLINE int yield(weft_thread *t)
{
	struct wf_worker *w = t->worker;
	weft_event *next;

	wf_turn_leaving(w);
	next = wf_turn_swap(w, &t->event, wf_thread_resume);
	if (WF_LIKELY(next != NULL)) {
		WF_STORE(&t->state, WF_THREAD_READY);
		wf_thread_leave_for(w, t, wf_thread_of(next));
	} else {
		wf_thread_go_behind(t);
		wf_thread_leave(t);
	}
	return 0;
}

int weft_yield(void)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL))
		return wf_wait_refused();
	return WF_UNLIKELY(t->under != &wf_nobody) ? wf_body_yield(t) : yield(t);
}

int weft_yield_to(weft_thread *other)
{
	weft_thread *t = wf_thread_current;
	int rc = wf_wait_allowed();

	if (rc < 0)
		return rc;
	wf_turn_leaving(t->worker);
	if (other == t || other->event.color != t->event.color || wf_body_in_handler(t) ||
	    wf_sched_cancel(t->worker, &other->event) < 0)
		return weft_yield();
	/* Who started it, and goes on when it first waits, is only ready then. */
	for (weft_thread *u = t; u->under != &wf_nobody;) {
		u = wf_body_part(u);
		wf_thread_go_behind(u);
	}
	wf_thread_go_behind(t);
	if (wf_turn_more(t->worker, &other->event)) {
		wf_thread_leave_for(t->worker, t, other);
	} else {
		wf_thread_go_behind(other);
		wf_thread_leave(t);
	}
	return 0;
}

int weft_hop_at(weft_color color, const char *where)
{
	weft_thread *t = wf_thread_current;
	int rc = wf_wait_allowed();

	if (rc < 0 || t->event.color == color)
		return rc;
	if (!wf_color_valid(color))
		return wf_misuse(where, -EINVAL, "color %#llx was never given by weft_color_new",
				 (unsigned long long)color);
	wf_locks_thread_hops(t, where);
	t->hop = color;
	t->event.where_ = where;
	t->errand = WF_ERRAND_HOP;
	t->worker->flow.left = t;
	wf_thread_leave(t);
	t->errand = WF_ERRAND_NONE;
	if (t->scope != NULL)
		wf_scope_hopped(t);
	return 0;
}

/* Names and cleanups */

const char *weft_thread_name(const weft_thread *t)
{
	return t->name;
}

int weft_thread_set_name(weft_thread *t, const char *name)
{
	if (t == NULL)
		t = wf_thread_current;
	if (t == NULL)
		return -EPERM;
	if (t == wf_thread_current)
		t->body |= WF_BODY_UNTIDY;
	snprintf(t->name, sizeof t->name, "%s", name != NULL ? name : "");
	return 0;
}

int weft_cleanup_push(weft_cleanup *c, weft_fn *run, void *arg)
{
	weft_thread *t = wf_thread_current;

	if (t == NULL)
		return -EPERM;
	*c = (weft_cleanup){ .run = run, .arg = arg, .next_ = t->cleanups };
	t->cleanups = c;
	t->body |= WF_BODY_UNTIDY;
	return 0;
}

int weft_cleanup_pop(bool run_it)
{
	weft_thread *t = wf_thread_current;
	weft_cleanup *c;

	if (t == NULL)
		return -EPERM;
	c = t->cleanups;
	if (c == NULL)
		return -ENOENT;
	t->cleanups = c->next_;
	if (run_it)
		c->run(c->arg);
	return 0;
}
