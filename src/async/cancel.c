/* cancel.c - cancelling a scope: who is told, in which color, and what is done to them.
 *
 * No step recurses, and none waits: threads to be told are put into a list, and telling
 * one may add to it.
 */
#include <errno.h>

#include "async/scope.h"

/* Threads of the caller's color that are still to be told, by `told`. The last one's is
 * itself: who is in no list, another's neither, has none. */
struct telling {
	weft_color color;
	bool nowhere; /* the caller is in no color, or not alone there */
	weft_thread *first, *last;
};

static struct telling begin_telling(void)
{
	const struct wf_worker *w = wf_worker_self();
	struct telling list = { .color = weft_color_current(), .nowhere = w == NULL || w->shared };

	return list;
}

/* Whether t is in the color. One of another color may be on its way: then it is a guess,
 * right if no. One that hops here has not arrived. */
static WF_NO_TSAN bool is_here(const weft_thread *t, weft_color color)
{
	if (*(const volatile weft_color *)&t->event.color != color)
		return false;
	atomic_thread_fence(memory_order_acquire);
	return WF_LOAD(&t->state) != WF_THREAD_HOPS;
}

static WF_NO_TSAN weft_color guess_color(const weft_thread *t)
{
	return *(const volatile weft_color *)&t->event.color;
}

static void kicked(void *thread);

static void post_kick(weft_thread *t)
{
	struct wf_worker *self = wf_worker_self();

	weft_event_init(&t->kick, guess_color(t), kicked, t);
	(void)wf_sched_post(&wf_rt->sched, self, self != NULL ? self : wf_worker_by_id(0), &t->kick,
			    WF_FROM_CPU, NULL, true);
}

/* It lives: the caller is inside a scope's guard that it must pass before it ends. */
void wf_cancel_kick(weft_thread *t)
{
	uint8_t was = atomic_load(&t->kicked);

	while (!atomic_compare_exchange_weak(&t->kicked, &was,
					     was == WF_KICK_NONE   ? WF_KICK_POSTED
					     : was == WF_KICK_RUNS ? WF_KICK_AGAIN
								   : was))
		;
	if (was == WF_KICK_NONE)
		post_kick(t);
}

static void tell(struct telling *list, weft_thread *t)
{
	if (list->nowhere || !is_here(t, list->color)) {
		wf_cancel_kick(t);
		return;
	}
	if (t->told != NULL)
		return; /* a cancel is under way that this one lies on, and will come to it */
	t->told = t;
	if (list->last != NULL)
		list->last->told = t;
	else
		list->first = t;
	list->last = t;
}

/* False: it was marked before. */
static bool mark(struct telling *list, weft_scope *s, bool tell_owner)
{
	enum wf_home_how how = wf_home_enter(&s->home_);
	bool first = !s->cancelled_;
	weft_thread *t = s->members_;

	if (first) {
		__atomic_store_n(&s->cancelled_, 1, __ATOMIC_RELAXED);
		atomic_thread_fence(memory_order_seq_cst);
		while (t != NULL) {
			tell(list, t);
			t = t->member_next != s->members_ ? t->member_next : NULL;
		}
		if (tell_owner)
			tell(list, s->owner_);
	}
	wf_home_leave(&s->home_, how);
	return first;
}

/* Marks those of t's own scopes that are inside of a cancelled one. */
static void mark_own(struct telling *list, weft_thread *t)
{
	weft_scope *low = t->scope; /* the innermost that the next cancelled one reaches */
	weft_scope *s;

	for (s = low; s != NULL; s = s->up_) {
		if (__atomic_load_n(&s->cancelled_, __ATOMIC_RELAXED)) {
			for (; low != s; low = low->up_)
				(void)mark(list, low, false);
		}
		if (s->owner_ != t)
			return;
		if (s->shield_)
			low = s->up_;
	}
}

static void run_items(weft_thread *t)
{
	for (weft_cancel_item *i = t->items; i != NULL; i = i->next_) {
		if (!i->ran_ && i->scope_ != NULL &&
		    __atomic_load_n(&i->scope_->cancelled_, __ATOMIC_RELAXED)) {
			i->ran_ = true;
			i->run(i->arg);
		}
	}
}

/* t does not run, or is the caller, or lies under it. */
static void look(struct telling *list, weft_thread *t)
{
	struct wf_wait *wait = WF_LOAD(&t->wait);

	mark_own(list, t);
	run_items(t);
	if (WF_LOAD(&t->state) == WF_THREAD_PARKED && wait != NULL && wf_thread_cancelled(t))
		wf_wait_cancel(wait, -ECANCELED);
}

static void finish_telling(struct telling *list)
{
	while (list->first != NULL) {
		weft_thread *t = list->first;

		list->first = t->told != t ? t->told : NULL;
		if (list->first == NULL)
			list->last = NULL;
		t->told = NULL;
		look(list, t);
	}
}

/* Bodies that have not waited are in no list. Those that run now lie on each other; the
 * lowest is looked at first, as what is marked there reaches those on top of it. */
static void look_at_running(struct telling *list)
{
	weft_thread *self = wf_thread_self(), *t = NULL;

	while (t != self) {
		weft_thread *above = self;

		while (above->under != t && above->under != &wf_nobody)
			above = above->under;
		t = above;
		look(list, t);
		finish_telling(list);
	}
}

/* In the color where t was: if it is here it does not run. Else the kick goes after it. */
static void kicked(void *thread)
{
	struct telling list = begin_telling();
	weft_thread *t = thread;
	uint8_t state;

	if (!is_here(t, list.color)) {
		post_kick(t);
		return;
	}
	do {
		/* Sees what they marked who have found it under way. */
		(void)atomic_exchange(&t->kicked, WF_KICK_RUNS);
		look(&list, t);
		finish_telling(&list);
		state = WF_KICK_RUNS;
	} while (!atomic_compare_exchange_strong(&t->kicked, &state, WF_KICK_NONE));
	/* It does not go on, and end, before we return. */
	if (t->settles) {
		t->settles = false;
		wf_thread_wake(t);
	}
}

void wf_cancel_settle(weft_thread *t)
{
	struct wf_wait wait = { .what = "cancel" };

	t->settles = true;
	wf_park(&wait);
}

void wf_scope_hopped(weft_thread *t)
{
	struct telling list = begin_telling();

	atomic_thread_fence(memory_order_seq_cst);
	look(&list, t);
	finish_telling(&list);
}

int weft_scope_cancel(weft_scope *s)
{
	struct telling list = begin_telling();

	if (!mark(&list, s, true))
		return -EALREADY;
	finish_telling(&list);
	look_at_running(&list);
	return 0;
}

int weft_scope_fail(weft_scope *s, int error)
{
	wf_scope_note(s, error);
	return weft_scope_cancel(s);
}

/* Looks at those around, too: the innermost may still be to be told, and if the caller
 * never waits it never is. They last, as the caller is in them. */
bool weft_cancelled(void)
{
	const weft_thread *t = wf_thread_current;
	weft_scope *s = t != NULL ? t->scope : NULL;

	for (; s != NULL; s = s->shield_ ? NULL : s->up_) {
		if (__atomic_load_n(&s->cancelled_, __ATOMIC_RELAXED) || wf_scope_overdue(s))
			return true;
	}
	return false;
}

int weft_cancel_item_add(weft_cancel_item *item, weft_fn *run, void *arg)
{
	weft_thread *t = wf_thread_current;

	if (t == NULL)
		return -EPERM;
	if (wf_thread_cancelled(t))
		return -ECANCELED;
	*item = (weft_cancel_item){ .run = run, .arg = arg, .next_ = t->items, .scope_ = t->scope };
	t->items = item;
	return 0;
}

int weft_cancel_item_remove(weft_cancel_item *item)
{
	weft_thread *t = wf_thread_current;
	weft_cancel_item **at;

	if (t == NULL)
		return -EPERM;
	for (at = &t->items; *at != NULL; at = &(*at)->next_) {
		if (*at == item) {
			*at = item->next_;
			break;
		}
	}
	return item->ran_ ? -EALREADY : 0;
}
