/* home.c - finding a home for an object, and ending it. */
#include "threads/home.h"

#include <errno.h>

#include "base/report.h"
#include "platform/clock.h"
#include "platform/membarrier.h"

/* Ending a home costs a hundred times what it saves by a section. Where most homes
 * are ended again (objects made in one color and used in another) none should be
 * made: each kernel thread keeps a score of what it has seen, up by END for each
 * home ended, down by one for each made. Above HIGH only one of TRY new objects
 * gets a home, to find out when that has changed. */
enum { SCORE_END = 4, SCORE_HIGH = 256, SCORE_MOST = 512, TRY = 16 };

static _Thread_local struct {
	int ended;
	unsigned refused;
} score;

static bool home_is_worth_it(void)
{
	if (score.ended > SCORE_HIGH && ++score.refused % TRY != 0)
		return false;
	if (score.ended > 0)
		score.ended--;
	return true;
}

static void end_home(struct wf_home *h, uint64_t was)
{
	/* If another is at it already, so much the better: but it may not have come to
	 * its barrier yet. */
	(void)__atomic_compare_exchange_n(&h->color, &was, WF_HOME_LEAVING, false, __ATOMIC_SEQ_CST,
					  __ATOMIC_SEQ_CST);
	wf_membarrier();
	for (int i = 0; __atomic_load_n(&h->inside, __ATOMIC_ACQUIRE); i++) {
		if (i < 64)
			wf_relax();
		else
			sched_yield();
	}
	__atomic_store_n(&h->color, WF_HOME_SHARED, __ATOMIC_RELEASE);
	if (score.ended < SCORE_MOST)
		score.ended += SCORE_END;
}

/* The object is new: makes it the caller's, or everybody's. */
static void begin_home(struct wf_home *h, const struct weft_thread *t)
{
	uint64_t none = 0, name = WF_HOME_SHARED;

	if (t != NULL && wf_membarrier_works && home_is_worth_it())
		name = wf_home_name(t->event.color);
	(void)__atomic_compare_exchange_n(&h->color, &none, name, false, __ATOMIC_ACQ_REL,
					  __ATOMIC_ACQUIRE);
}

static void lock(struct wf_home *h)
{
	do {
		for (int i = 0; __atomic_load_n(&h->lock, __ATOMIC_RELAXED); i++) {
			if (i < 64)
				wf_relax();
			else
				sched_yield();
		}
	} while (!wf_home_try_lock(h));
}

WF_NOINLINE enum wf_home_how wf_home_enter_slow(struct wf_home *h, const struct weft_thread *t)
{
	bool guest = t == NULL && wf_enter() == 0;

	for (;;) {
		uint64_t color = __atomic_load_n(&h->color, __ATOMIC_ACQUIRE);

		if (t != NULL && wf_home_enter_own(h, wf_home_name(t->event.color)))
			return WF_HOME_OWN;
		if (color == WF_HOME_SHARED) {
			lock(h);
			return guest ? WF_HOME_GUEST : WF_HOME_LOCKED;
		}
		if (color == 0)
			begin_home(h, t);
		else
			end_home(h, color);
	}
}

WF_NOINLINE uintptr_t wf_home_who(void)
{
	static _Thread_local uint32_t here;
	weft_thread *t = wf_thread_self();

	return t != NULL ? wf_home_who_is(t) : (uintptr_t)&here | 1;
}

int wf_home_left_over(struct wf_home *h, enum wf_home_how how, const char *what, const char *where)
{
	wf_home_leave(h, how);
	return wf_misuse(where, -EOWNERDEAD,
			 "%s %p was left in use by an earlier run: make it new (fini, init or all "
			 "zeros) before you use it again",
			 what, (void *)h);
}

WF_NOINLINE int wf_home_may_wait(uint64_t deadline)
{
	int rc = 0;

	if (wf_thread_self() != NULL)
		rc = wf_wait_allowed();
	else if (wf_worker_self() != NULL)
		rc = -EPERM;
	if (rc == 0 && deadline != WEFT_FOREVER && deadline <= wf_now())
		rc = -ETIMEDOUT;
	return rc;
}

bool wf_home_unlist(struct wf_home *h, struct wf_waiters *list, struct wf_waiter *w)
{
	enum wf_home_how how = wf_home_enter(h);
	bool listed = w->listed;

	if (listed)
		wf_waiters_remove(list, w);
	wf_home_leave(h, how);
	return listed;
}

/* Nobody is woken before all have parted: who is woken may free the object. */
int wf_home_wake_all(enum wf_home_how how, struct wf_waiters *list)
{
	int n = 0;

	for (struct wf_waiter *w = list->first; w != NULL; w = w->next)
		wf_waiter_part(w, how == WF_HOME_OWN);
	while (list->first != NULL) {
		struct wf_waiter *w = list->first;

		list->first = w->next;
		wf_waiter_wake(w);
		n++;
	}
	if (WF_UNLIKELY(how == WF_HOME_GUEST))
		wf_leave();
	return n;
}
