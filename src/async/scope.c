/* scope.c - scopes: their beginning, who belongs to them, their end. */
#include "async/scope.h"

#include <errno.h>
#include <stdlib.h>

#include "base/report.h"
#include "platform/membarrier.h"

static WF_COLD _Noreturn void misused(const char *where, const char *what)
{
	(void)wf_misuse(where, 0, "%s", what);
	abort();
}

/* In a forked child: the thread that forked, which is alone there, or NULL. */
static WF_COLD weft_thread *forked(void)
{
	return wf_worker_self() == NULL ? wf_thread_forked : NULL;
}

static WF_COLD weft_thread *begins_elsewhere(const char *where)
{
	weft_thread *t = forked();

	if (t == NULL)
		misused(where, "a finish block waits for its end, so only threads may have one; "
			       "in a handler use weft_async_call or weft_go");
	return t;
}

static inline void begin(weft_scope *s, const char *where, bool shield)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL))
		t = begins_elsewhere(where);
	s->up_ = t->scope;
	s->owner_ = t;
	s->home_.color =
		WF_LIKELY(wf_membarrier_works) ? wf_home_name(t->event.color) : WF_HOME_SHARED;
	s->home_.lock = s->home_.inside = 0;
	s->members_ = NULL;
	s->result_ = NULL;
	s->where_ = where;
	s->error_ = 0;
	s->cancelled_ = !shield && wf_thread_cancelled(t);
	s->shield_ = shield;
	s->timed_ = s->waiting_ = 0;
	t->scope = s;
}

void weft_scope_begin_at(weft_scope *s, const char *where)
{
	begin(s, where, false);
}

void weft_shield_begin_at(weft_scope *s, const char *where)
{
	begin(s, where, true);
}

/* Members */

/* A ring, whose first is the oldest. */
static inline void add(weft_scope *s, weft_thread *t)
{
	weft_thread *first = s->members_;

	if (first == NULL) {
		s->members_ = t->member_next = t->member_prev = t;
		return;
	}
	t->member_next = first;
	t->member_prev = first->member_prev;
	first->member_prev->member_next = t;
	first->member_prev = t;
}

static inline void take(weft_scope *s, weft_thread *t)
{
	t->member_next->member_prev = t->member_prev;
	t->member_prev->member_next = t->member_next;
	if (s->members_ == t)
		s->members_ = t->member_next == t ? NULL : t->member_next;
}

void wf_scope_join(weft_thread *t, weft_thread *self)
{
	weft_scope *s = t->scope;
	enum wf_home_how how;

	while (s != NULL && s->owner_ == t)
		s = s->up_;
	if (s == NULL)
		return;
	how = wf_home_enter_as(&s->home_, self);
	add(s, t);
	t->member = s;
	/* Who cancelled it from another color has not seen t. */
	if (WF_UNLIKELY(s->cancelled_))
		wf_cancel_kick(t);
	wf_home_leave(&s->home_, how);
}

void wf_scope_note(weft_scope *s, int error)
{
	enum wf_home_how how = wf_home_enter(&s->home_);

	if (s->error_ == 0)
		s->error_ = error;
	wf_home_leave(&s->home_, how);
}

/* Returns the owner, if the scope's end waits and t was the last. */
static weft_thread *leave(weft_scope *s, weft_thread *t)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, t);
	weft_thread *owner = NULL;

	if (t->result < 0 && s->error_ == 0)
		s->error_ = t->result;
	take(s, t);
	if (s->members_ == NULL && s->waiting_)
		owner = s->owner_;
	wf_home_leave(&s->home_, how);
	return owner;
}

weft_thread *wf_scope_leave(weft_thread *t)
{
	weft_thread *owner;
	bool kicked;

	while (t->scope != NULL && t->scope->owner_ == t)
		(void)weft_scope_end(t->scope);
	/* One that belongs to none is not kicked any more. One that waits here for the first
	 * time belongs to its scope from then on. */
	if (t->member == NULL && WF_UNLIKELY(WF_LOAD(&t->kicked)))
		wf_cancel_settle(t);
	if (t->member == NULL) {
		if (t->result < 0 && t->scope != NULL)
			wf_scope_note(t->scope, t->result);
		return NULL;
	}
	owner = leave(t->member, t);
	t->member = t->scope = NULL;
	/* The scope may be gone now; nobody kicks t any more. */
	kicked = WF_LOAD(&t->kicked);
	if (owner != NULL && (owner->event.color != t->event.color || owner->event.priority != 0 ||
			      WF_UNLIKELY(kicked))) {
		wf_thread_wake(owner);
		owner = NULL;
	}
	if (WF_UNLIKELY(kicked))
		wf_cancel_settle(t);
	return owner;
}

/* The end */

static WF_INLINE void wait_for_members(weft_scope *s, weft_thread *t)
{
	struct wf_wait wait = { .what = "finish", .on = (uintptr_t)s };
	enum wf_home_how how = wf_home_enter_as(&s->home_, t);
	bool waits = s->members_ != NULL;

	s->waiting_ = waits;
	wf_home_exit(&s->home_, how);
	if (waits)
		wf_thread_park(t, &wait);
}

/* In the timer's color, where it does not fire meanwhile. */
static WF_NOINLINE void stop_timer(weft_scope *s, weft_thread *t)
{
	weft_color color = t->event.color;

	(void)weft_hop_at(s->timer_.event.color, s->where_);
	(void)weft_timer_cancel(&s->timer_);
	(void)weft_hop_at(color, s->where_);
	s->timed_ = 0;
}

/* A forked child leaves its scopes: there is nobody to wait for. */
static WF_COLD int ends_elsewhere(weft_scope *s)
{
	weft_thread *t = forked();

	if (t == NULL || t->scope != s || s->owner_ != t)
		misused(s->where_, "this scope is not the innermost of the thread that ends it");
	t->scope = s->up_;
	if (s->result_ != NULL)
		*s->result_ = s->error_;
	return s->error_;
}

int weft_scope_end(weft_scope *s)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL || t->scope != s || s->owner_ != t))
		return ends_elsewhere(s);
	wait_for_members(s, t);
	if (WF_UNLIKELY(s->timed_))
		stop_timer(s, t);
	t->scope = s->up_;
	if (s->result_ != NULL)
		*s->result_ = s->error_;
	return s->error_;
}

static void expire(void *scope)
{
	(void)weft_scope_fail(scope, -ETIMEDOUT);
}

int weft_scope_deadline(weft_scope *s, uint64_t when)
{
	weft_thread *t = wf_thread_self();

	if (t == NULL || t != s->owner_)
		return -EPERM;
	if (s->timed_)
		stop_timer(s, t);
	weft_timer_init(&s->timer_, t->event.color, expire, s);
	s->timed_ = 1;
	return weft_timer_start_until(&s->timer_, when);
}
