/* rwlock.c - many readers or one writer, in the order of coming.
 *
 * Who comes while somebody waits queues up behind, reader or writer. When the lock
 * falls free, or a waiter leaves, the head of the queue is let in: a writer alone,
 * readers until the next writer. A few at a time, so that the lock's own lock is
 * never held for long.
 */
#include <errno.h>

#include "base/report.h"
#include "threads/home.h"
#include "threads/locks.h"

enum { LET_IN = 8 };

struct rw_waiter {
	struct wf_waiter waiter;
	uintptr_t who;
	const char *where;
	bool writes;
};

static struct rw_waiter *as_rw_waiter(struct wf_waiter *w)
{
	return WF_CONTAINER(w, struct rw_waiter, waiter);
}

static bool may_enter(const weft_rwlock *l, bool writes)
{
	return l->owner_ == 0 && (!writes || l->readers_ == 0);
}

static void enter(weft_rwlock *l, uintptr_t who, const char *where, bool writes)
{
	l->where_ = where;
	if (writes)
		l->owner_ = who;
	else
		l->readers_++;
	if (!writes && wf_run_marked(who) != 0)
		wf_of_run_add(&l->readers_of_run_);
}

/* A reader has left; they have no names. */
static void reader_leaves(weft_rwlock *l, uintptr_t who)
{
	l->readers_--;
	if (l->readers_ == 0)
		l->readers_of_run_.count = 0;
	else if (wf_run_marked(who) != 0 && l->readers_of_run_.count > 0)
		wf_of_run_drop(&l->readers_of_run_);
}

static bool left_over(const weft_rwlock *l)
{
	return wf_home_owner_left(l->owner_) || wf_home_waiters_left(&l->readers_of_run_) ||
	       wf_home_waiters_left(&l->waiters_.of_run);
}

/* Takes some of those off the queue who can have it now, gives it to them, and adds
 * them to a chain. False: there are no more. */
static bool take_some(weft_rwlock *l, struct wf_waiters *chain)
{
	for (int n = 0; n < LET_IN; n++) {
		struct wf_waiter *w = l->waiters_.first;
		struct rw_waiter *rw;

		if (w == NULL)
			return false;
		rw = as_rw_waiter(w);
		if (!may_enter(l, rw->writes))
			return false;
		wf_waiters_remove(&l->waiters_, w);
		wf_waiters_add(chain, w);
		w->listed = false;
		enter(l, rw->who, rw->where, rw->writes);
		__atomic_store_n(&w->granted, true, __ATOMIC_RELAXED); /* locks.c looks */
	}
	return true;
}

/* The caller is inside, and after this is not. Nobody is woken before the last was let
 * in: who is woken may be the last to use the lock, and free it. A guest does it all at
 * once: if it left, the chain might be freed under it. */
static void let_in(weft_rwlock *l, enum wf_home_how how)
{
	struct wf_waiters chain = WEFT_WAITERS_INIT_;

	while (take_some(l, &chain)) {
		if (WF_UNLIKELY(how == WF_HOME_GUEST))
			continue;
		wf_home_leave(&l->home_, how);
		how = wf_home_enter(&l->home_);
	}
	(void)wf_home_leave_waking_all(&l->home_, how, &chain);
}

static void stop_waiting(struct wf_wait *wait)
{
	struct wf_waiter *w = WF_CONTAINER(wait, struct wf_waiter, wait);
	weft_rwlock *l = (weft_rwlock *)wait->on;
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool listed = w->listed;

	if (listed)
		wf_waiters_remove(&l->waiters_, w);
	let_in(l, how); /* readers who came behind a writer that leaves */
	if (listed)
		wf_waiter_wake(w);
}

/* Takes the lock: 0, -EBUSY, -EDEADLK or -EOWNERDEAD. If it is busy, queues `w` if given. */
static inline int take(weft_rwlock *l, uintptr_t who, const char *where, bool writes,
		       struct wf_waiter *w)
{
	enum wf_home_how how = wf_home_enter(&l->home_);
	int rc = -EBUSY;

	if (WF_UNLIKELY(left_over(l)))
		return wf_home_left_over(&l->home_, how, "rwlock", where);
	if (l->owner_ == who)
		rc = -EDEADLK;
	else if (l->waiters_.first == NULL && may_enter(l, writes))
		rc = 0;
	if (rc == 0)
		enter(l, who, where, writes);
	else if (rc == -EBUSY && w != NULL)
		wf_waiters_add(&l->waiters_, w);
	wf_home_leave(&l->home_, how);
	return rc;
}

static WF_NOINLINE int wait_for(weft_rwlock *l, bool writes, uintptr_t who, uint64_t deadline,
				const char *where)
{
	struct rw_waiter w = { .who = who, .where = where, .writes = writes };
	struct wf_locks_wait circle;
	int rc = wf_home_may_wait(deadline);

	if (rc < 0)
		return rc;
	wf_waiter_init(&w.waiter, "rwlock", l, stop_waiting);
	if (deadline == WEFT_FOREVER)
		rc = wf_locks_wait_begin(&circle, l, "rwlock", where, &w.waiter);
	if (rc == 0)
		rc = take(l, who, where, writes, &w.waiter);
	if (rc == -EBUSY) {
		wf_waiter_sleep(&w.waiter, deadline, where);
		rc = w.waiter.granted ? 0 : w.waiter.wait.error;
	}
	if (deadline == WEFT_FOREVER)
		wf_locks_wait_end(&circle);
	return rc;
}

static int lock(weft_rwlock *l, bool writes, uint64_t deadline, const char *where)
{
	uintptr_t who = wf_home_who();
	int rc = take(l, who, where, writes, NULL);

	if (rc == -EDEADLK)
		return wf_misuse(where, rc, "rwlock %p is locked already by its caller, at %s",
				 (void *)l, l->where_);
	if (rc == -EBUSY)
		rc = wait_for(l, writes, who, deadline, where);
	if (rc == 0)
		wf_locks_got(l, "rwlock", where);
	return rc;
}

int weft_rwlock_rdlock_until_at(weft_rwlock *l, uint64_t deadline, const char *where)
{
	return lock(l, false, deadline, where);
}

int weft_rwlock_wrlock_until_at(weft_rwlock *l, uint64_t deadline, const char *where)
{
	return lock(l, true, deadline, where);
}

static int try_lock(weft_rwlock *l, bool writes, const char *where)
{
	int rc = take(l, wf_home_who(), where, writes, NULL);

	if (rc == 0)
		wf_locks_got(l, "rwlock", where);
	return rc == -EDEADLK ? -EBUSY : rc;
}

int weft_rwlock_tryrdlock_at(weft_rwlock *l, const char *where)
{
	return try_lock(l, false, where);
}

int weft_rwlock_trywrlock_at(weft_rwlock *l, const char *where)
{
	return try_lock(l, true, where);
}

int weft_rwlock_unlock_at(weft_rwlock *l, const char *where)
{
	uintptr_t who = wf_home_who();
	bool held = wf_locks_lost(l);
	enum wf_home_how how = wf_home_enter(&l->home_);

	if (left_over(l))
		return wf_home_left_over(&l->home_, how, "rwlock", where);
	if (held && l->owner_ == who) {
		l->owner_ = 0;
	} else if (held && l->owner_ == 0 && l->readers_ > 0) {
		reader_leaves(l, who);
	} else {
		wf_home_leave(&l->home_, how);
		return wf_misuse(where, -EPERM, "rwlock %p is unlocked by who did not lock it",
				 (void *)l);
	}
	if (l->waiters_.first == NULL)
		wf_home_leave(&l->home_, how);
	else
		let_in(l, how);
	return 0;
}

int weft_rwlock_fini_at(weft_rwlock *l, const char *where)
{
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool used = (l->owner_ != 0 || l->readers_ != 0) && !left_over(l);

	wf_home_leave(&l->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "rwlock %p is still locked, since %s", (void *)l,
				 l->where_);
	*l = (weft_rwlock)WEFT_RWLOCK_INIT;
	return 0;
}
