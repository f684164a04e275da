/* locks.c - who holds which lock, who waits for which; circles among them.
 *
 * Two tables, under one lock: records of what is held, found by the lock's address,
 * and of who waits, found by the thread's. A search goes from a lock to those who
 * hold it, and from each to the lock that it waits for. It is made by everyone who is
 * about to wait, after it has put itself on record; so the last to come finds the
 * circle, and only that one.
 *
 * A waiter that was granted its lock may still be on record as waiting, until it
 * runs: it is passed over. One with a deadline is not on record at all: it will not
 * wait for ever.
 */
#include "threads/locks.h"

#ifdef WEFT_DEBUG
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/memory.h"
#include "base/report.h"
#include "threads/dump.h"

enum { BUCKETS = 256, CIRCLE_MAX = 8, STACK_TEXT = 700, CIRCLE_TEXT = 7500 };

struct held {
	struct held *next;     /* in its bucket */
	struct held *previous; /* what the thread got before */
	weft_thread *thread;
	const void *object;
	const char *what, *where;
};

static struct wf_lock lock = { .rank = WF_RANK_HELD };
static struct held *held[BUCKETS];
static struct wf_locks_wait *waiting[BUCKETS];
static bool incomplete;   /* there was no memory for a record */
static uint64_t searches; /* made so far */

static unsigned bucket(const void *p)
{
	return (unsigned)((uint64_t)(uintptr_t)p * 0x9E3779B97F4A7C15u >> 56) % BUCKETS;
}

/* What is held */

void wf_locks_got(const void *object, const char *what, const char *where)
{
	weft_thread *t = wf_thread_self();
	unsigned b = bucket(object);
	struct held *h;

	if (t == NULL)
		return;
	h = WF_NEW(struct held);
	wf_lock_take(&lock);
	if (h != NULL) {
		*h = (struct held){ held[b], t->held, t, object, what, where };
		held[b] = h;
		t->held = h;
	} else {
		incomplete = true;
	}
	wf_lock_give(&lock);
}

static void unlink_held(struct held *h)
{
	struct held **at = &held[bucket(h->object)];

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
}

bool wf_locks_lost(const void *object)
{
	weft_thread *t = wf_thread_self();
	struct held *h, **at;
	bool known;

	if (t == NULL)
		return true;
	wf_lock_take(&lock);
	at = (struct held **)&t->held;
	while ((h = *at) != NULL && h->object != object)
		at = &h->previous;
	if (h != NULL) {
		*at = h->previous;
		unlink_held(h);
	}
	known = h != NULL || incomplete;
	wf_lock_give(&lock);
	free(h);
	return known;
}

/* Circles */

static bool still_waits(const struct wf_locks_wait *w)
{
	return !__atomic_load_n(&w->waiter->granted, __ATOMIC_RELAXED);
}

static struct wf_locks_wait *wait_of(const weft_thread *t)
{
	struct wf_locks_wait *w = waiting[bucket(t)];

	while (w != NULL && w->thread != t)
		w = w->next;
	return w != NULL && still_waits(w) ? w : NULL;
}

/* Looks at those who hold what `w` waits for: true if the searcher is one of them;
 * adds the others, if they wait and were not met before, to the end of the search. */
static bool search_holders(struct wf_locks_wait *w, const weft_thread *searcher,
			   struct wf_locks_wait **end)
{
	for (struct held *h = held[bucket(w->object)]; h != NULL; h = h->next) {
		struct wf_locks_wait *next;

		if (h->object != w->object)
			continue;
		if (h->thread == searcher)
			return true;
		next = wait_of(h->thread);
		if (next != NULL && next->search != searches) {
			next->search = searches;
			next->from = w;
			next->then = NULL;
			(*end)->then = next;
			*end = next;
		}
	}
	return false;
}

/* Returns the last of the circle, who waits for what `me` holds, or NULL. `from` leads
 * back to `me`. */
static struct wf_locks_wait *search(struct wf_locks_wait *me)
{
	struct wf_locks_wait *w, *end = me;

	me->search = ++searches;
	for (w = me; w != NULL; w = w->then)
		if (search_holders(w, me->thread, &end))
			return w;
	return NULL;
}

/* Since when `t` has held `object`. */
static const char *held_since(const weft_thread *t, const void *object)
{
	const struct held *h = t->held;

	while (h != NULL && h->object != object)
		h = h->previous;
	return h != NULL ? h->where : "an unknown place";
}

/* One who waits in a circle, copied, as others go on behind the lock. */
struct link {
	weft_thread *thread, *holder;
	const void *object;
	const char *what, *where, *since;
};

static unsigned copy_circle(struct wf_locks_wait *me, struct wf_locks_wait *last,
			    struct link *links)
{
	weft_thread *holder = me->thread;
	unsigned n = 0;

	for (struct wf_locks_wait *w = last; n < CIRCLE_MAX; w = w->from) {
		links[n++] = (struct link){ w->thread, holder,   w->object,
					    w->what,   w->where, held_since(holder, w->object) };
		holder = w->thread;
		if (w == me)
			break;
	}
	return n;
}

/* Returns how far the text goes now. */
static size_t describe(const struct link *l, char *text, size_t size)
{
	char thread[64], holder[64], stack[STACK_TEXT];
	int n;

	wf_thread_title(l->thread, thread, sizeof thread);
	wf_thread_title(l->holder, holder, sizeof holder);
	wf_thread_backtrace(l->thread, stack, sizeof stack);
	n = snprintf(text, size,
		     "\n%s, started at %s, waits for %s %p at %s, held by %s since %s%s", thread,
		     wf_thread_started(l->thread), l->what, l->object, l->where, holder, l->since,
		     stack);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* They stay as they are, as they wait for each other, until this call returns. */
static int report_circle(const struct link *links, unsigned n, const char *where)
{
	char text[CIRCLE_TEXT];
	size_t at = 0;

	for (unsigned i = 0; i < n; i++)
		at += describe(&links[i], text + at, sizeof text - at);
	return wf_misuse(where, -EDEADLK, "deadlock of %u threads:%s", n, text);
}

int wf_locks_wait_begin(struct wf_locks_wait *wait, const void *object, const char *what,
			const char *where, const struct wf_waiter *waiter)
{
	weft_thread *t = wf_thread_self();
	struct link links[CIRCLE_MAX];
	struct wf_locks_wait *last;
	unsigned b = bucket(t), n = 0;

	*wait = (struct wf_locks_wait){
		.thread = t, .waiter = waiter, .object = object, .what = what, .where = where
	};
	if (t == NULL)
		return 0;
	wf_lock_take(&lock);
	wait->next = waiting[b];
	waiting[b] = wait;
	last = search(wait);
	if (last != NULL)
		n = copy_circle(wait, last, links);
	wf_lock_give(&lock);
	return n > 0 ? report_circle(links, n, where) : 0;
}

void wf_locks_wait_end(struct wf_locks_wait *wait)
{
	struct wf_locks_wait **at = &waiting[bucket(wait->thread)];

	if (wait->thread == NULL)
		return;
	wf_lock_take(&lock);
	while (*at != wait)
		at = &(*at)->next;
	*at = wait->next;
	wf_lock_give(&lock);
}

/* What threads do while they hold something */

/* Called by the thread itself, and nobody else changes its list. */
static void report_held(const weft_thread *t, const char *where, const char *does)
{
	char title[64];

	wf_thread_title(t, title, sizeof title);
	for (const struct held *h = t->held; h != NULL; h = h->previous)
		(void)wf_misuse(where, 0, "%s %s holding %s %p, locked at %s", title, does, h->what,
				h->object, h->where);
}

void wf_locks_thread_hops(weft_thread *t, const char *where)
{
	report_held(t, where, "hops");
}

void wf_locks_thread_ends(weft_thread *t)
{
	report_held(t, t->event.where_, "ended");
	while (t->held != NULL)
		(void)wf_locks_lost(((struct held *)t->held)->object);
}

void wf_locks_run_ends(void)
{
	wf_lock_take(&lock);
	for (unsigned b = 0; b < BUCKETS; b++) {
		while (held[b] != NULL) {
			struct held *h = held[b];

			held[b] = h->next;
			free(h);
		}
		waiting[b] = NULL;
	}
	wf_lock_give(&lock);
}
#endif
