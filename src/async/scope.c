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

static WF_INLINE void begin_as(weft_thread *t, weft_scope *s, const char *where, bool shield)
{
	s->up_ = t->scope;
	s->owner_ = t;
	s->home_.color =
		WF_LIKELY(wf_membarrier_works) ? wf_home_name(t->event.color) : WF_HOME_SHARED;
	s->home_.lock = s->home_.inside = 0;
	s->members_ = NULL;
	s->result_ = NULL;
	s->where_ = where;
	s->error_ = 0;
	s->cancelled_ = s->timed_ = s->waiting_ = 0;
	s->shield_ = shield;
	if (!shield && WF_UNLIKELY(wf_thread_cancelled(t)))
		s->cancelled_ = 1;
	t->scope = s;
}

static WF_COLD void begin_elsewhere(weft_scope *s, const char *where, bool shield)
{
	weft_thread *t = forked();

	if (t == NULL)
		misused(where, "a finish block waits for its end, so only threads may have one; "
			       "in a handler use weft_async_call or weft_go");
	begin_as(t, s, where, shield);
}

static WF_INLINE void begin(weft_scope *s, const char *where, bool shield)
{
	weft_thread *t = wf_thread_current;

	if (WF_LIKELY(t != NULL))
		begin_as(t, s, where, shield);
	else
		begin_elsewhere(s, where, shield);
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

/* weft_scope_end looks from outside the guard. */
static inline void set_members(weft_scope *s, weft_thread *first)
{
	__atomic_store_n(&s->members_, first, __ATOMIC_RELEASE);
}

/* A ring, whose first is the oldest. */
static inline void add(weft_scope *s, weft_thread *t)
{
	weft_thread *first = s->members_;

	if (first == NULL) {
		t->member_next = t->member_prev = t;
		set_members(s, t);
		return;
	}
	t->member_next = first;
	t->member_prev = first->member_prev;
	first->member_prev->member_next = t;
	first->member_prev = t;
}

static inline void take(weft_scope *s, weft_thread *t)
{
	if (t->member_next == t) {
		set_members(s, NULL);
		return;
	}
	t->member_next->member_prev = t->member_prev;
	t->member_prev->member_next = t->member_next;
	if (s->members_ == t)
		set_members(s, t->member_next);
}

/* What a thread does in a scope's guard is done mostly at its home, and there without a
 * frame: so what is rare is in functions of its own, which are called last. */

static WF_NOINLINE void join_cancelled(weft_scope *s, weft_thread *t, enum wf_home_how how)
{
	/* Who cancelled it from another color has not seen t. */
	wf_cancel_kick(t);
	wf_home_leave(&s->home_, how);
}

static WF_INLINE void join_inside(weft_scope *s, weft_thread *t, enum wf_home_how how)
{
	add(s, t);
	t->member = s;
	if (WF_UNLIKELY(s->cancelled_))
		join_cancelled(s, t, how);
	else
		wf_home_leave(&s->home_, how);
}

static WF_NOINLINE void join_as_stranger(weft_scope *s, weft_thread *t, weft_thread *self)
{
	join_inside(s, t, wf_home_enter_as(&s->home_, self));
}

void wf_scope_join(weft_thread *t, weft_thread *self)
{
	weft_scope *s = t->scope;

	while (s != NULL && s->owner_ == t)
		s = s->up_;
	if (s == NULL)
		return;
	if (WF_LIKELY(wf_home_enter_own(&s->home_, wf_home_name(self->event.color))))
		join_inside(s, t, WF_HOME_OWN);
	else
		join_as_stranger(s, t, self);
}

static WF_NOINLINE int join_somehow_last(weft_thread *t, weft_thread *under)
{
	wf_scope_join(t, t);
	return wf_body_leave_for(t, under);
}

int wf_scope_join_last(weft_thread *t, weft_thread *under)
{
	weft_scope *s = t->scope;

	t->event.where_ = s->where_;
	/* Who cancels it from another color ends its home first, or finds t in it later. */
	if (WF_UNLIKELY(s->owner_ == t || __atomic_load_n(&s->cancelled_, __ATOMIC_RELAXED)) ||
	    WF_UNLIKELY(!wf_home_enter_own(&s->home_, wf_home_name(t->event.color))))
		return join_somehow_last(t, under);
	add(s, t);
	t->member = s;
	wf_home_leave(&s->home_, WF_HOME_OWN);
	return wf_body_leave_for(t, under);
}

void wf_scope_note(weft_scope *s, int error)
{
	enum wf_home_how how = wf_home_enter(&s->home_);

	if (s->error_ == 0)
		s->error_ = error;
	wf_home_leave(&s->home_, how);
}

/* Returns the owner, if the scope's end waits and t was the last. */
static WF_INLINE weft_thread *leave_inside(weft_scope *s, weft_thread *t, enum wf_home_how how)
{
	weft_thread *owner = NULL;

	if (t->result < 0 && s->error_ == 0)
		s->error_ = t->result;
	take(s, t);
	if (s->members_ == NULL && s->waiting_)
		owner = s->owner_;
	wf_home_leave(&s->home_, how);
	return owner;
}

static WF_NOINLINE weft_thread *leave(weft_scope *s, weft_thread *t)
{
	return leave_inside(s, t, wf_home_enter_as(&s->home_, t));
}

/* t has left its scope, which may be gone now; nobody kicks t any more. */
static WF_NOINLINE weft_thread *left(weft_thread *t, weft_thread *owner)
{
	bool kicked = WF_LOAD(&t->kicked);

	if (owner != NULL && (owner->event.color != t->event.color || owner->event.priority != 0 ||
			      WF_UNLIKELY(kicked))) {
		wf_thread_wake(owner);
		owner = NULL;
	}
	if (WF_UNLIKELY(kicked))
		wf_cancel_settle(t);
	return owner;
}

weft_thread *wf_scope_leave(weft_thread *t)
{
	weft_thread *owner;

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
	return left(t, owner);
}

static WF_NOINLINE void leave_somehow_last(weft_thread *t)
{
	wf_thread_end_for(t, wf_scope_leave(t));
}

static WF_NOINLINE void left_last(weft_thread *t, weft_thread *owner)
{
	wf_thread_end_for(t, left(t, owner));
}

/* At home. Its owner is of t's color then: one that has hopped and waits is a stranger. */
void wf_scope_leave_last(weft_thread *t)
{
	weft_scope *s = t->scope; /* known earlier than t->member, which is made of it */
	weft_thread *owner;

	if (t->member != s ||
	    WF_UNLIKELY(!wf_home_enter_own(&s->home_, wf_home_name(t->event.color)))) {
		leave_somehow_last(t);
		return;
	}
	owner = leave_inside(s, t, WF_HOME_OWN);
	t->member = t->scope = NULL;
	if (WF_UNLIKELY(WF_LOAD(&t->kicked)) ||
	    (owner != NULL && WF_UNLIKELY(owner->event.priority != 0)))
		left_last(t, owner);
	else
		wf_thread_end_for(t, owner);
}

/* The end */

static WF_INLINE void wait_for_members(weft_scope *s, weft_thread *t)
{
	enum wf_home_how how = wf_home_enter_as(&s->home_, t);
	bool waits = s->members_ != NULL;

	s->waiting_ = waits;
	wf_home_exit(&s->home_, how);
	if (waits)
		wf_thread_park(t, &wf_wait_finish);
}

/* In the timer's color, where it does not fire meanwhile. */
static WF_NOINLINE void stop_timer(weft_scope *s, weft_thread *t)
{
	weft_color color = t->event.color;

	(void)weft_hop_at(s->timer_.event.color, s->where_);
	(void)weft_timer_cancel(&s->timer_);
	(void)weft_hop_at(color, s->where_);
	__atomic_store_n(&s->timed_, 0, __ATOMIC_RELAXED);
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

static WF_INLINE int ended(weft_scope *s, weft_thread *t)
{
	t->scope = s->up_;
	if (s->result_ != NULL)
		*s->result_ = s->error_;
	return s->error_;
}

static WF_NOINLINE int end_slowly(weft_scope *s, weft_thread *t)
{
	if (WF_UNLIKELY(s->timed_))
		(void)wf_scope_overdue(s);
	wait_for_members(s, t);
	s = t->scope; /* one pointer less to keep over the switch */
	if (WF_UNLIKELY(s->timed_)) {
		(void)wf_scope_overdue(s);
		stop_timer(s, t);
	}
	return ended(s, t);
}

/* If there are no members, and behind that it is still at home, no stranger was ever inside;
 * and none comes, as nobody is left that it belongs to. So the guard need not be entered. */
int weft_scope_end(weft_scope *s)
{
	weft_thread *t = wf_thread_current;

	if (WF_UNLIKELY(t == NULL || t->scope != s || s->owner_ != t))
		return ends_elsewhere(s);
	if (__atomic_load_n(&s->members_, __ATOMIC_ACQUIRE) == NULL && !s->timed_ &&
	    WF_LIKELY(__atomic_load_n(&s->home_.color, __ATOMIC_RELAXED) ==
		      wf_home_name(t->event.color)))
		return ended(s, t);
	return end_slowly(s, t);
}

/* Of one that is cancelled, what is left to be tidied up may take its time. */
static void expire(void *scope)
{
	if (weft_scope_cancel(scope) == 0)
		wf_scope_note(scope, -ETIMEDOUT);
}

int weft_scope_deadline(weft_scope *s, uint64_t when)
{
	weft_thread *t = wf_thread_self();
	int rc;

	if (t == NULL || t != s->owner_)
		return -EPERM;
	if (s->timed_)
		stop_timer(s, t);
	weft_timer_init(&s->timer_, t->event.color, expire, s);
	__atomic_store_n(&s->deadline_, when, __ATOMIC_RELAXED);
	rc = weft_timer_start_until(&s->timer_, when);
	if (rc == 0)
		__atomic_store_n(&s->timed_, 1, __ATOMIC_RELEASE);
	return rc;
}

static inline bool has_deadline(const weft_scope *s, uint64_t *when)
{
	if (WF_LIKELY(!__atomic_load_n(&s->timed_, __ATOMIC_ACQUIRE)))
		return false;
	*when = __atomic_load_n(&s->deadline_, __ATOMIC_RELAXED);
	return true;
}

bool wf_scope_overdue(weft_scope *s)
{
	uint64_t when, now;

	/* Its owner may have moved it in time, while the caller looked at the clock. */
	if (!has_deadline(s, &when) || !wf_worker_past(wf_worker_self(), when) ||
	    !has_deadline(s, &now) || now != when)
		return false;
	expire(s);
	return true;
}
