/* condition.c - waiting for a change of what a mutex guards.
 *
 * A signal moves the waiter from the condition's list to the mutex's, where it is
 * woken in its turn. A deadline does the same, and only the result differs. So a
 * broadcast wakes no herd, and a signal that found a waiter in the list is never lost
 * (X1).
 */
#include <errno.h>

#include "base/report.h"
#include "threads/locks.h"
#include "threads/mutex.h"

struct cond_waiter {
	struct wf_mutex_waiter base;
	weft_mutex *mutex;
	bool moved; /* to the mutex's list */
	bool signalled;
};

static struct cond_waiter *as_cond_waiter(struct wf_waiter *w)
{
	return WF_CONTAINER(w, struct cond_waiter, base.waiter);
}

static void stop_waiting(struct wf_wait *wait)
{
	struct cond_waiter *w = as_cond_waiter(WF_CONTAINER(wait, struct wf_waiter, wait));
	weft_cond *c = (weft_cond *)wait->on;
	enum wf_home_how how = wf_home_enter(&c->home_);
	bool waits = !w->moved;

	if (waits) {
		wf_waiters_remove(&c->waiters_, &w->base.waiter);
		w->moved = true;
	}
	wf_home_leave(&c->home_, how);
	if (waits) {
		wf_waiter_part(&w->base.waiter, true);
		wf_mutex_queue(w->mutex, &w->base);
	}
}

static bool owns(weft_mutex *m, uintptr_t who)
{
	enum wf_home_how how = wf_home_enter(&m->home_);
	bool yes = m->owner_ == who;

	wf_home_leave(&m->home_, how);
	return yes;
}

static int wait_for_signal(weft_cond *c, struct cond_waiter *w, uint64_t deadline)
{
	enum wf_home_how how = wf_home_enter(&c->home_);

	if (wf_home_waiters_left(&c->waiters_.of_run))
		return wf_home_left_over(&c->home_, how, "condition", w->base.where);
	wf_waiters_add(&c->waiters_, &w->base.waiter);
	wf_home_leave(&c->home_, how);
	(void)wf_locks_lost(w->mutex);
	(void)wf_mutex_release(w->mutex, w->base.who, w->base.where);
	wf_waiter_sleep(&w->base.waiter, deadline, w->base.where);
	wf_mutex_woken(w->mutex, &w->base);
	wf_locks_got(w->mutex, "mutex", w->base.where);
	return w->signalled ? 0 : w->base.waiter.wait.error;
}

WF_NOINLINE int weft_cond_wait_until_at(weft_cond *c, weft_mutex *m, uint64_t deadline,
					const char *where)
{
	struct cond_waiter w = { .base = { .who = wf_home_who(), .where = where }, .mutex = m };
	int rc;

	if (!owns(m, w.base.who))
		return wf_misuse(where, -EPERM, "waits with mutex %p, which it does not own",
				 (void *)m);
	/* Even if the deadline is past others get a turn with the mutex: else who looks
	 * again and again would lock them out. */
	rc = wf_home_may_wait(WEFT_FOREVER);
	if (rc < 0)
		return rc;
	wf_waiter_init(&w.base.waiter, "condition", c, stop_waiting);
	return wait_for_signal(c, &w, deadline);
}

int weft_cond_wait_at(weft_cond *c, weft_mutex *m, const char *where)
{
	return weft_cond_wait_until_at(c, m, WEFT_FOREVER, where);
}

/* Takes the first waiter off the list: 1, or 0 if nobody waits, or -EOWNERDEAD. The waiter no
 * longer uses the condition. *home: it was taken in the condition's home color, which is also its
 * own. */
static int take_first(weft_cond *c, struct wf_waiter **taken, bool *home, const char *where)
{
	enum wf_home_how how = wf_home_enter_as(&c->home_, wf_thread_current);
	struct wf_waiter *first = c->waiters_.first;

	if (wf_home_waiters_left(&c->waiters_.of_run))
		return wf_home_left_over(&c->home_, how, "condition", where);
	if (first != NULL) {
		wf_waiters_remove(&c->waiters_, first);
		as_cond_waiter(first)->moved = as_cond_waiter(first)->signalled = true;
	}
	wf_home_leave(&c->home_, how);
	*home = how == WF_HOME_OWN;
	if (first != NULL)
		wf_waiter_part(first, *home);
	*taken = first;
	return first != NULL;
}

static void pass_on(struct wf_waiter *w)
{
	wf_mutex_queue(as_cond_waiter(w)->mutex, &as_cond_waiter(w)->base);
}

/* As a guest of home.h, from the one object to the other. */
static bool guest_begin(void)
{
	return WF_UNLIKELY(wf_thread_current == NULL) && wf_enter() == 0;
}

static void guest_end(bool guest)
{
	if (WF_UNLIKELY(guest))
		wf_leave();
}

/* Whether nobody waits, as is seen in its home color: most signals come to nothing. */
static inline bool nobody_at_home(weft_cond *c)
{
	weft_thread *t = wf_thread_current;
	bool nobody;

	if (WF_UNLIKELY(t == NULL) || !wf_home_enter_own(&c->home_, wf_home_name(t->event.color)))
		return false;
	nobody = c->waiters_.first == NULL;
	wf_home_exit(&c->home_, WF_HOME_OWN);
	return nobody;
}

static WF_NOINLINE int signal_one(weft_cond *c, const char *where)
{
	bool guest = guest_begin(), home;
	struct wf_waiter *w;
	int rc = take_first(c, &w, &home, where);

	if (rc > 0)
		pass_on(w);
	guest_end(guest);
	return rc;
}

int weft_cond_signal_at(weft_cond *c, const char *where)
{
	return nobody_at_home(c) ? 0 : signal_one(c, where);
}

/* Taken one at a time, so that the condition is not held for long, and passed on when
 * all are taken: who goes on may be the last to use the condition, and free it. In its
 * home color nobody goes on meanwhile, and each is passed on while it is warm. */
int weft_cond_broadcast_at(weft_cond *c, const char *where)
{
	struct wf_waiter *chain = NULL, **end = &chain, *w;
	bool guest = guest_begin(), home;
	int n = 0, rc;

	for (; (rc = take_first(c, &w, &home, where)) > 0; n++) {
		if (home) {
			pass_on(w);
			continue;
		}
		*end = w;
		end = &w->next;
	}
	*end = NULL;
	while ((w = chain) != NULL) {
		chain = w->next;
		pass_on(w);
	}
	guest_end(guest);
	return rc < 0 ? rc : n;
}

int weft_cond_fini_at(weft_cond *c, const char *where)
{
	enum wf_home_how how = wf_home_enter(&c->home_);
	bool used = c->waiters_.first != NULL && !wf_home_waiters_left(&c->waiters_.of_run);

	wf_home_leave(&c->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "somebody waits for condition %p", (void *)c);
	*c = (weft_cond)WEFT_COND_INIT;
	return 0;
}
