/* signals.c - waiting for signals.
 *
 * A signal is watched from the first wait for it on. Its event gives it to the first
 * thread that waits for it, or keeps it until one does.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "base/lock.h"
#include "threads/call.h"
#include "threads/signals.h"

#define SIGNALS 65 /* the kernel's, from 1 */

static struct {
	struct wf_lock lock;
	bool busy[SIGNALS] WF_GUARDED(lock); /* somebody is about to catch it */
	bool caught[SIGNALS] WF_GUARDED(lock);
	bool shared[SIGNALS] WF_GUARDED(lock); /* others count on it, too */
	/* Of which of our watches of it the last is in force, from 1; and of which one
	 * it came while nobody waited. */
	uint32_t life[SIGNALS] WF_GUARDED(lock);
	uint32_t kept[SIGNALS] WF_GUARDED(lock);
	struct wf_waiters waiters WF_GUARDED(lock);
} signals;

void wf_signal_waits_start(void)
{
	wf_lock_init(&signals.lock, WF_RANK_SIGNALS);
	wf_lock_take(&signals.lock);
	memset(signals.busy, 0, sizeof signals.busy);
	memset(signals.life, 0, sizeof signals.life);
	memset(signals.caught, 0, sizeof signals.caught);
	memset(signals.shared, 0, sizeof signals.shared);
	memset(signals.kept, 0, sizeof signals.kept);
	signals.waiters = (struct wf_waiters){ 0 };
	wf_lock_give(&signals.lock);
}

static struct wf_signal_wait *of(struct wf_waiter *w)
{
	return WF_CONTAINER(w, struct wf_signal_wait, waiter);
}

/* Gives it to the first who waits for it, or keeps it. Returns whom to wake. */
static struct wf_waiter *give(int signo, uint32_t life) WF_REQUIRES(signals.lock)
{
	struct wf_waiter *w = signals.waiters.first;

	while (w != NULL && sigismember(&of(w)->set, signo) != 1)
		w = w->next;
	if (w != NULL) {
		of(w)->signo = signo;
		wf_waiters_remove(&signals.waiters, w);
	} else {
		signals.kept[signo] = life;
	}
	return w;
}

/* In a color of the signal's own. */
static void arrived(void *arg)
{
	struct wf_waiter *w;

	wf_lock_take(&signals.lock);
	w = give((int)((uintptr_t)arg % SIGNALS), (uint32_t)((uintptr_t)arg / SIGNALS));
	wf_lock_give(&signals.lock);
	if (w != NULL)
		wf_waiter_wake(w);
}

void wf_signal_put_back(int signo)
{
	struct wf_waiter *w;

	wf_lock_take(&signals.lock);
	w = give(signo, signals.life[signo]);
	wf_lock_give(&signals.lock);
	if (w != NULL)
		wf_waiter_wake(w);
}

bool wf_signal_stop(struct wf_signal_wait *w)
{
	bool ours;

	wf_lock_take(&signals.lock);
	ours = w->waiter.listed;
	if (ours)
		wf_waiters_remove(&signals.waiters, &w->waiter);
	wf_lock_give(&signals.lock);
	return ours;
}

static void cancel(struct wf_wait *wait)
{
	struct wf_waiter *w = WF_CONTAINER(wait, struct wf_waiter, wait);

	if (wf_signal_stop(of(w)))
		wf_waiter_wake(w);
}

/* One at a time for each signal: else who comes second would take the watch of the
 * first for another's. Returns the life of a watch that is made now. */
static uint32_t catching_begin(int signo)
{
	uint32_t life;

	wf_lock_take(&signals.lock);
	while (signals.busy[signo]) {
		wf_lock_give(&signals.lock);
		sched_yield();
		wf_lock_take(&signals.lock);
	}
	signals.busy[signo] = true;
	life = signals.life[signo] + 1;
	wf_lock_give(&signals.lock);
	return life;
}

static void catching_end(int signo)
{
	wf_lock_take(&signals.lock);
	signals.busy[signo] = false;
	wf_lock_give(&signals.lock);
}

/* 1 if it is caught from now on, 0 if it was already, or an error. One that was
 * given up by weft_off_signal is caught anew. */
static int catch_one(int signo)
{
	uint32_t life = catching_begin(signo);
	int rc = weft_on_signal(signo, weft_color_new(), arrived,
				(void *)((uintptr_t)life * SIGNALS + (uintptr_t)signo));

	wf_lock_take(&signals.lock);
	signals.busy[signo] = false;
	if (rc == 0) {
		signals.caught[signo] = true;
		signals.shared[signo] = false;
		signals.life[signo] = life; /* what was kept of earlier ones is void */
		rc = 1;
	} else if (rc == -EEXIST && signals.caught[signo]) {
		signals.shared[signo] = true;
		rc = 0;
	}
	wf_lock_give(&signals.lock);
	return rc;
}

/* Gives up one that the caller caught, unless somebody else has begun to wait for it. */
static void let_go(int signo)
{
	bool ours;

	(void)catching_begin(signo);
	wf_lock_take(&signals.lock);
	ours = !signals.shared[signo];
	if (ours)
		signals.caught[signo] = false;
	wf_lock_give(&signals.lock);
	if (ours)
		(void)weft_off_signal(signo);
	catching_end(signo);
}

/* All of the set, or none that was not caught before and that nobody else wants. */
static int catch_all(const sigset_t *set)
{
	bool fresh[SIGNALS] = { false };
	int rc = -EINVAL;

	for (int signo = 1; signo < SIGNALS; signo++) {
		if (sigismember(set, signo) != 1)
			continue;
		rc = catch_one(signo);
		if (rc < 0)
			break;
		fresh[signo] = rc > 0;
	}
	for (int signo = 1; rc < 0 && signo < SIGNALS; signo++) {
		if (fresh[signo])
			let_go(signo);
	}
	return rc < 0 ? rc : 0;
}

/* Takes one that was kept, or puts w into the list. */
static int take_or_list(struct wf_signal_wait *w)
{
	int found = 0;

	wf_lock_take(&signals.lock);
	for (int signo = 1; found == 0 && signo < SIGNALS; signo++) {
		if (signals.kept[signo] != 0 && signals.kept[signo] == signals.life[signo] &&
		    sigismember(&w->set, signo) == 1)
			found = signo;
	}
	if (found != 0)
		signals.kept[found] = 0;
	else
		wf_waiters_add(&signals.waiters, &w->waiter);
	wf_lock_give(&signals.lock);
	return found;
}

int wf_signal_begin(struct wf_signal_wait *w)
{
	int rc = catch_all(&w->set);

	return rc < 0 ? rc : take_or_list(w);
}

int weft_signal_wait_until(const sigset_t *set, uint64_t deadline)
{
	int rc = wf_call_allowed(-1, "weft_signal_wait", WF_CALLER);
	struct wf_signal_wait w;

	if (rc == 0 && set == NULL)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	wf_waiter_init(&w.waiter, "signal", set, cancel);
	w.set = *set;
	w.signo = 0;
	rc = wf_signal_begin(&w);
	if (rc != 0)
		return rc;
	wf_live_add(1);
	wf_waiter_sleep(&w.waiter, deadline, NULL);
	wf_live_add(-1);
	return w.signo != 0 ? w.signo : w.waiter.wait.error;
}
