/* lock.c - locks that are held across waits, as events; exclusive and shared, in order.
 *
 * Invariant, outside of its home: the first who waits could not have it now. So who unlocks, and
 * who gives up waiting, hands it on to as many as fit; each is told by an event in its color. One
 * that was cancelled on the way there gives it back (X1).
 */
#include <weft/tame_lock.h>

#include <errno.h>

#include "base/report.h"
#include "tame/primitive.h"
#include "threads/threads.h"

struct wf_tame_locker {
	struct wf_primitive p;
	weft_event granted;
	weft_tame_lock *lock;
	struct wf_tame_locker *next, *prev;
	bool shared, listed;
};

/* Inside */

static bool fits(const weft_tame_lock *l, bool shared)
{
	return l->holders_ == 0 || (shared && l->holders_ > 0);
}

static void hold(weft_tame_lock *l, bool shared)
{
	l->holders_ = shared ? l->holders_ + 1 : -1;
}

static bool take(weft_tame_lock *l, bool shared)
{
	if (l->first_ != NULL || !fits(l, shared))
		return false;
	hold(l, shared);
	return true;
}

static void list(weft_tame_lock *l, struct wf_tame_locker *k)
{
	k->next = NULL;
	k->prev = l->last_;
	*(l->last_ != NULL ? &l->last_->next : &l->first_) = k;
	l->last_ = k;
	wf_of_run_add(&l->of_run_);
	k->listed = true;
}

static void unlist(weft_tame_lock *l, struct wf_tame_locker *k)
{
	*(k->prev != NULL ? &k->prev->next : &l->first_) = k->next;
	*(k->next != NULL ? &k->next->prev : &l->last_) = k->prev;
	wf_of_run_drop(&l->of_run_);
	k->listed = false;
}

/* Takes those off the list that can have it now, and gives it to them. */
static struct wf_tame_locker *hand_on(weft_tame_lock *l)
{
	struct wf_tame_locker *chain = NULL, **end = &chain;

	while (l->first_ != NULL && fits(l, l->first_->shared)) {
		struct wf_tame_locker *k = l->first_;

		unlist(l, k);
		hold(l, k->shared);
		k->next = NULL;
		*end = k;
		end = &k->next;
	}
	return chain;
}

/* Outside */

/* After its event was posted one may be gone. Without a runtime there is nobody to be told. */
static void tell(struct wf_tame_locker *chain)
{
	if (chain == NULL || wf_enter() < 0)
		return;
	while (chain != NULL) {
		struct wf_tame_locker *k = chain;

		chain = k->next;
		wf_event_deliver(NULL, &k->granted);
	}
	wf_leave();
}

static int unlock(weft_tame_lock *l, const char *where)
{
	enum wf_home_how how = wf_home_enter(&l->home_);
	struct wf_tame_locker *chain = NULL;
	bool held = l->holders_ != 0;

	if (wf_home_waiters_left(&l->of_run_))
		return wf_home_left_over(&l->home_, how, "lock", where);
	if (held) {
		l->holders_ = l->holders_ > 0 ? l->holders_ - 1 : 0;
		chain = hand_on(l);
	}
	wf_home_leave(&l->home_, how);
	tell(chain);
	return held ? 0 : -EPERM;
}

static void end(struct wf_tame_locker *k)
{
	WEFT_EVENT() e;

	if (wf_primitive_cancelled(&k->p))
		(void)unlock(k->lock, k->p.event->site_->where);
	e = (void *)wf_primitive_end(&k->p);
	if (e != NULL)
		weft_trigger(e);
}

static void granted(void *arg)
{
	end(arg);
}

static void give_up(struct wf_tame_locker *k)
{
	weft_tame_lock *l = k->lock;
	struct wf_tame_locker *chain = NULL;
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool listed = k->listed;

	if (listed) {
		unlist(l, k);
		chain = hand_on(l);
	}
	wf_home_leave(&l->home_, how);
	tell(chain);
	if (listed)
		(void)wf_primitive_end(&k->p);
}

/* The event has no value: a waiter that is still there could not tell whether it has the lock. */
static void stop(struct wf_primitive *p)
{
	if (!wf_primitive_goes_on(p))
		give_up(WF_CONTAINER(p, struct wf_tame_locker, p));
}

static int trylock(weft_tame_lock *l, bool shared, const char *where)
{
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool taken;

	if (wf_home_waiters_left(&l->of_run_))
		return wf_home_left_over(&l->home_, how, "lock", where);
	taken = take(l, shared);
	wf_home_leave(&l->home_, how);
	return taken ? 0 : -EBUSY;
}

/* Takes the lock if that needs no wait: 0, -EBUSY or -EOWNERDEAD. Now and then a caller that need
 * not wait lets others run. */
static int take_at_once(weft_tame_lock *l, bool shared, const char *where)
{
	enum wf_home_how how;

	if (wf_primitive_at_once())
		return trylock(l, shared, where);
	how = wf_home_enter(&l->home_);
	if (wf_home_waiters_left(&l->of_run_))
		return wf_home_left_over(&l->home_, how, "lock", where);
	wf_home_leave(&l->home_, how);
	return -EBUSY;
}

static bool take_or_list(struct wf_tame_locker *k)
{
	weft_tame_lock *l = k->lock;
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool taken = take(l, k->shared);

	if (!taken)
		list(l, k);
	wf_home_leave(&l->home_, how);
	return taken;
}

static void lock_later(weft_tame_lock *l, bool shared, weft_tame_event *e)
{
	struct wf_tame_locker *k = wf_primitive_new_must(sizeof *k, e);

	weft_event_init(&k->granted, k->p.color, granted, k);
	k->lock = l;
	k->shared = shared;
	if (take_or_list(k))
		end(k);
	else
		wf_primitive_begun(&k->p, stop);
}

static void lock(weft_tame_lock *l, bool shared, WEFT_EVENT() e)
{
	weft_tame_event *event = WF_EVENT_OF(e);
	int rc = -ECANCELED;

	if (!wf_tame_in_color(wf_worker_self(), weft_color_current()))
		(void)wf_misuse(event->site_->where, -EPERM,
				"a lock is waited for outside of handlers and threads");
	else if (!weft_tame_cancelled(event))
		rc = take_at_once(l, shared, event->site_->where);
	if (rc == 0)
		weft_trigger(e);
	else if (rc == -EBUSY)
		lock_later(l, shared, event);
	else
		weft_tame_drop(event);
}

void weft_lock_ev(weft_tame_lock *l, WEFT_EVENT() e)
{
	lock(l, false, e);
}

void weft_lock_shared_ev(weft_tame_lock *l, WEFT_EVENT() e)
{
	lock(l, true, e);
}

int weft_trylock_at(weft_tame_lock *l, const char *where)
{
	return trylock(l, false, where);
}

int weft_trylock_shared_at(weft_tame_lock *l, const char *where)
{
	return trylock(l, true, where);
}

int weft_unlock_at(weft_tame_lock *l, const char *where)
{
	int rc = unlock(l, where);

	if (rc == -EPERM)
		return wf_misuse(where, rc, "lock %p is unlocked, and nobody holds it", (void *)l);
	return rc;
}

int weft_tame_lock_fini_at(weft_tame_lock *l, const char *where)
{
	enum wf_home_how how = wf_home_enter(&l->home_);
	bool used = (l->holders_ != 0 || l->first_ != NULL) && !wf_home_waiters_left(&l->of_run_);

	wf_home_leave(&l->home_, how);
	if (used)
		return wf_misuse(where, -EBUSY, "lock %p is still held, or waited for", (void *)l);
	weft_tame_lock_init(l);
	return 0;
}
