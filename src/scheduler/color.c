/* color.c - posting to colors, owning them, and running what they hold. */
#include "scheduler/color.h"

#include <errno.h>

#include "base/probe.h"
#include "base/report.h"
#include "platform/clock.h"
#include "scheduler/handler.h"
#include "scheduler/scheduler.h"
#include "scheduler/table.h"
#include "scheduler/turn.h"
#include "scheduler/worker.h"

static void append(struct wf_events *list, weft_event *ev)
{
	weft_event *tail = WF_LOAD(&list->tail);

	ev->next_ = NULL;
	ev->prev_ = tail;
	if (tail != NULL)
		tail->next_ = ev;
	else
		list->head = ev;
	WF_STORE(&list->tail, ev);
}

static void detach(struct wf_events *list, weft_event *ev)
{
	if (ev->prev_ != NULL)
		ev->prev_->next_ = ev->next_;
	else
		list->head = ev->next_;
	if (ev->next_ != NULL)
		ev->next_->prev_ = ev->prev_;
	else
		WF_STORE(&list->tail, ev->prev_);
}

/* Moves the inbox behind the local events. The caller owns the color. */
static WF_HOT void refill_locked(struct wf_color *c)
{
	weft_event *tail = WF_LOAD(&c->local.tail);

	if (c->inbox.head == NULL)
		return;
	if (tail != NULL) {
		tail->next_ = c->inbox.head;
		c->inbox.head->prev_ = tail;
	} else {
		c->local.head = c->inbox.head;
	}
	WF_STORE(&c->local.tail, WF_LOAD(&c->inbox.tail));
	c->inbox.head = NULL;
	WF_STORE(&c->inbox.tail, NULL);
	WF_ADD_OWN(&c->local_count, WF_LOAD(&c->inbox_count));
	WF_ADD_OWN(&c->local_cost, WF_LOAD(&c->inbox_cost));
	WF_STORE(&c->inbox_count, 0);
	WF_STORE(&c->inbox_cost, 0);
}

/* Also waits for a post that is being made. */
static void refill_always(struct wf_sched *s, struct wf_color *c)
{
	struct wf_shard *shard = wf_table_shard(&s->table, c->id);

	wf_lock_take(&shard->lock);
	refill_locked(c);
	wf_lock_give(&shard->lock);
}

static WF_HOT void refill(struct wf_sched *s, struct wf_color *c)
{
	if (atomic_load_explicit(&c->inbox_count, memory_order_acquire) != 0)
		refill_always(s, c);
}

static uint64_t time_left(const struct wf_color *c)
{
	return WF_LOAD(&c->local_cost) + WF_LOAD(&c->inbox_cost);
}

static enum wf_source source(const weft_event *ev)
{
	return ev->flags_ & WF_EVENT_IO ? WF_FROM_IO : WF_FROM_CPU;
}

static unsigned event_level(const weft_event *ev)
{
	return wf_policy_level(ev->priority, source(ev));
}

/* Wakes a thief when worker `t` has more than it can run at once; `busy`: any
 * color is more, as t runs something else. */
static WF_NOINLINE void wake_for_surplus(struct wf_sched *s, struct wf_worker *t, bool busy)
{
	if (WF_LOAD(&t->queue.colors) < (busy ? 1u : 2u))
		return;
	if (wf_policy_worth_waking(&s->policy, WF_LOAD(&t->queue.steal_time)) ||
	    (WF_LOAD(&t->swamped) && wf_runq_has_loot(&t->queue, wf_loot_lanes(WF_WORTH_KEPT))) ||
	    (t->id >= s->workers && wf_runq_has_loot(&t->queue, WF_LOOT_LANES)))
		wf_sched_wake_thief(t);
}

static inline void share_surplus(struct wf_sched *s, struct wf_worker *t, bool busy)
{
	if (WF_LOAD(&s->idle) != 0 && WF_LOAD(&s->searching) == 0)
		wake_for_surplus(s, t, busy);
}

void wf_sched_busy(struct wf_worker *w, uint64_t now)
{
	if (WF_LIKELY(now - w->idle_at <= w->sched->policy.swamped))
		return;
	WF_STORE(&w->swamped, true);
	share_surplus(w->sched, w, false);
}

/* Queues an active color that nobody owns, at worker `t` or where it is pinned. */
static void enqueue(struct wf_sched *s, struct wf_worker *self, struct wf_worker *t,
		    struct wf_color *c, unsigned level)
{
	int pin = WF_LOAD(&c->place.pin);
	uint64_t left = time_left(c);
	unsigned worth = pin >= 0 ? WF_WORTH_PINNED
				  : wf_policy_worth(&s->policy, left, source(c->local.head));

	if (pin >= 0)
		t = wf_sched_worker(s, pin);
	wf_lock_take(&t->queue.lock);
	wf_runq_push(&t->queue, &c->place, level, worth, left);
	wf_lock_give(&t->queue.lock);
	if (t != self)
		wf_worker_wake(t);
}

/* A post made a queued color more urgent or more worth: tells its queue. The
 * shard's lock keeps the record alive. */
static void requeue_better(struct wf_sched *s, struct wf_color *c, unsigned level)
{
	struct wf_runq *q = atomic_load_explicit(&c->place.at, memory_order_acquire);
	unsigned worth, worth_at = WF_LOAD(&c->place.worth);
	enum wf_source from = worth_at == WF_WORTH_KEPT ? WF_FROM_IO : WF_FROM_CPU;
	uint64_t left;

	if (q == NULL)
		return;
	left = time_left(c);
	worth = wf_policy_worth(&s->policy, left, from);
	/* Only a higher priority counts: a CPU event does not take a color past
	 * others that came before. */
	if (level / 2 <= WF_LOAD(&c->place.level) / 2)
		level = 0;
	if (worth <= worth_at && level == 0)
		return;
	wf_lock_take(&q->lock);
	if (WF_LOAD(&c->place.at) == q)
		wf_runq_move(q, &c->place, level, worth, left);
	wf_lock_give(&q->lock);
}

/* What the estimate says of an event: its handler's time, or for a handler
 * never seen, worth a steal and not kept, so that the first thief finds out. */
static inline uint32_t estimate(const struct wf_policy *p, weft_fn *fn, enum wf_source from)
{
	struct wf_handler *h = wf_handler_find(fn);
	uint64_t ticks = h ? wf_handler_ticks(h) : 0;

	if (WF_UNLIKELY(ticks == 0))
		ticks = 2 * wf_policy_trip(p) + (from == WF_FROM_IO ? p->kept : 0);
	return wf_policy_event_cost(p, ticks, h ? WF_LOAD(&h->penalty) : 1);
}

static WF_NOINLINE void prepare_drop(struct wf_sched *s, weft_event *ev, uint64_t depth)
{
	ev->posted_ = wf_ticks();
	if (wf_policy_too_deep(&s->policy, depth, s->policy.queue_depth ? wf_sched_queued(s) : 0))
		ev->flags_ |= WF_EVENT_DROPPED;
}

static inline void prepare(struct wf_sched *s, weft_event *ev, uint32_t cost, uint64_t depth)
{
	ev->cost_ = cost;
	if (WF_UNLIKELY(ev->drop != NULL))
		prepare_drop(s, ev, depth);
}

/* Marks an event as queued, with what is known of its post. False if it is
 * queued already; callers also look at the end of the lists, for an event that was
 * initialised again while it stood there has lost its mark. Whoever sees the mark
 * finds the event in its color's lists: it is set under the shard's lock, or by the
 * color's owner. */
static bool mark(weft_event *ev, enum wf_source from, const char *where)
{
	if (WF_UNLIKELY(__atomic_load_n(&ev->state_, __ATOMIC_RELAXED) != 0))
		return false;
	ev->flags_ =
		(uint8_t)((ev->flags_ & WF_EVENT_POOLED) | (from == WF_FROM_IO ? WF_EVENT_IO : 0));
	if (where != NULL)
		ev->where_ = where;
	__atomic_store_n(&ev->state_, 1, __ATOMIC_RELAXED);
	return true;
}

/* The caller owns the color, or made it active and has not queued it yet. */
static inline void append_local(struct wf_color *c, weft_event *ev)
{
	append(&c->local, ev);
	WF_ADD_OWN(&c->local_count, 1u);
	WF_ADD_OWN(&c->local_cost, ev->cost_);
}

static void append_inbox(struct wf_color *c, weft_event *ev)
{
	append(&c->inbox, ev);
	WF_ADD_OWN(&c->inbox_cost, ev->cost_);
	atomic_store_explicit(&c->inbox_count, WF_LOAD(&c->inbox_count) + 1, memory_order_release);
}

/* Posting to the color that the caller owns: no lock, no lookup. */
static WF_HOT int post_own(struct wf_sched *s, struct wf_worker *self, struct wf_color *c,
			   weft_event *ev, enum wf_source from, const char *where)
{
	if (ev == WF_LOAD(&c->local.tail) || !mark(ev, from, where))
		return -EALREADY;
	refill(s, c);
	prepare(s, ev, estimate(&s->policy, ev->run, from), WF_LOAD(&c->local_count));
	append_local(c, ev);
	WF_ADD_OWN(&self->counters.posted, 1u);
	return 0;
}

/* Removes the record if nothing holds it; under the shard's lock. */
static void forget_if_idle(struct wf_sched *s, struct wf_worker *self, struct wf_shard *shard,
			   struct wf_color *c) WF_REQUIRES(shard->lock)
{
	if (!c->active && WF_LOAD(&c->place.pin) < 0 &&
	    atomic_load_explicit(&c->readers, memory_order_acquire) == 0)
		wf_table_remove(&s->table, shard, c, self != NULL ? &self->free_colors : NULL);
}

/* Takes it from the worker it dozes with; false if it does not, or no longer. */
static bool wake_dozing(struct wf_color *c)
{
	struct wf_worker *w = WF_LOAD(&c->dozes_with);
	struct wf_color *dozing = c;

	if (WF_LIKELY(w == NULL) || !atomic_compare_exchange_strong(&w->dozing, &dozing, NULL))
		return false;
	WF_STORE(&c->dozes_with, NULL);
	return true;
}

/* Takes back what dozes with w, if anything. */
static struct wf_color *take_dozing(struct wf_worker *w)
{
	struct wf_color *c = atomic_exchange(&w->dozing, NULL);

	if (WF_LIKELY(c != NULL))
		WF_STORE(&c->dozes_with, NULL);
	return c;
}

/* Posts those of one color that the caller does not own; what was queued already stays in
 * `evs`, the others become NULL. Returns how many were posted, or -ENOMEM. */
static WF_NOINLINE int post_other(struct wf_sched *s, struct wf_worker *self, struct wf_worker *at,
				  weft_event **evs, int n, enum wf_source from, const char *where,
				  bool must)
{
	weft_color id = evs[0]->color;
	struct wf_shard *shard = wf_table_shard(&s->table, id);
	weft_fn *fn = NULL;
	uint32_t cost = 0; /* of fn's events; most of what comes at once is alike */
	unsigned level = 0;
	struct wf_color *c;
	bool activate;
	int posted = 0;

	wf_table_expect(shard, id);
	wf_lock_take(&shard->lock);
	c = wf_table_find_or_add(&s->table, shard, id, self != NULL ? &self->free_colors : NULL,
				 must);
	if (WF_UNLIKELY(c == NULL)) {
		wf_lock_give(&shard->lock);
		return -ENOMEM;
	}
	activate = !c->active || wake_dozing(c);
	if (activate)
		c->found = from == WF_FROM_IO && self == at;
	for (int i = 0; i < n; i++) {
		weft_event *ev = evs[i];

		if (WF_UNLIKELY(ev == WF_LOAD(&c->inbox.tail) || ev == WF_LOAD(&c->local.tail) ||
				!mark(ev, from, where)))
			continue;
		if (ev->run != fn) {
			fn = ev->run;
			cost = estimate(&s->policy, fn, from);
		}
		prepare(s, ev, cost, WF_LOAD(&c->inbox_count) + WF_LOAD(&c->local_count));
		if (activate)
			append_local(c, ev);
		else
			append_inbox(c, ev);
		if (event_level(ev) > level)
			level = event_level(ev);
		evs[i] = NULL;
		posted++;
	}
	if (WF_UNLIKELY(posted == 0)) {
		if (activate)
			c->active = false;
		forget_if_idle(s, self, shard, c);
	} else if (activate) {
		c->active = true;
	} else {
		requeue_better(s, c, level);
	}
	wf_lock_give(&shard->lock);
	if (WF_UNLIKELY(posted == 0))
		return 0;

	if (self != NULL)
		WF_ADD_OWN(&self->counters.posted, (unsigned)posted);
	else
		atomic_fetch_add_explicit(&s->foreign_posted, (unsigned)posted,
					  memory_order_relaxed);
	if (activate)
		enqueue(s, self, at, c, level);
	share_surplus(s, at, WF_LOAD(&at->running) != NULL);
	return posted;
}

void wf_sched_post_here(struct wf_worker *w, weft_event *ev, const char *where)
{
	(void)post_own(w->sched, w, w->current, ev, WF_FROM_CPU, where);
}

static inline struct wf_color *owned(const struct wf_worker *self, weft_color id)
{
	struct wf_color *c = self != NULL && !self->shared ? self->current : NULL;

	return c != NULL && c->id == id ? c : NULL;
}

int wf_sched_post(struct wf_sched *s, struct wf_worker *self, struct wf_worker *at, weft_event *ev,
		  enum wf_source from, const char *where, bool must)
{
	struct wf_color *c = owned(self, ev->color);
	int posted;

	if (c != NULL)
		return post_own(s, self, c, ev, from, where);
	posted = post_other(s, self, at, &ev, 1, from, where, must);
	return WF_LIKELY(posted == 1) ? 0 : posted < 0 ? posted : -EALREADY;
}

/* Makes w the owner of a color just taken from a queue, or sends the color on
 * to the worker where it has been pinned meanwhile. */
static WF_HOT bool own(struct wf_worker *w, struct wf_color *c)
{
	int pin = WF_LOAD(&c->place.pin);

	if (WF_UNLIKELY(pin >= 0 && pin != w->id)) {
		enqueue(w->sched, w, w, c, WF_LOAD(&c->place.level));
		return false;
	}
	w->current = c;
	w->shared = false;
	WF_ADD_OWN(&w->counters.turns, 1u);
	return true;
}

/* A limit of colors is for those that have work; a pinned one stays anyway. */
static inline bool may_doze(const struct wf_worker *w, const struct wf_color *c)
{
	return c->found && WF_LOAD(&w->queue.colors) == 0 && WF_LOAD(&c->place.pin) < 0 &&
	       w->sched->table.colors.limit == 0;
}

/* Under the shard's lock: who posts next finds it there. */
static void doze(struct wf_worker *w, struct wf_color *c)
{
	w->dozing_id = c->id;
	WF_STORE(&c->dozes_with, w);
	WF_STORE(&w->dozing, c);
}

/* Gives up a color that w owns: into the queue if it has work, else it dozes, or becomes
 * inactive, which only the shard's lock can decide. */
static WF_INLINE void give_up(struct wf_worker *w, struct wf_color *c, bool dozes)
{
	struct wf_sched *s = w->sched;

	if (WF_LIKELY(c->local.head == NULL)) {
		struct wf_shard *shard = wf_table_shard(&s->table, c->id);

		wf_lock_take(&shard->lock);
		refill_locked(c);
		if (WF_LIKELY(c->local.head == NULL)) {
			if (dozes && may_doze(w, c)) {
				doze(w, c);
			} else {
				c->active = false;
				forget_if_idle(s, w, shard, c);
			}
			wf_lock_give(&shard->lock);
			return;
		}
		wf_lock_give(&shard->lock);
	}
	/* It had its turn: behind the kernel's events of its priority, not ahead of
	 * them, or a color that posts to itself would starve them (S3). */
	enqueue(s, w, w, c, event_level(c->local.head) & ~1u);
	share_surplus(s, w, w->shared);
}

static void release(struct wf_worker *w, struct wf_color *c)
{
	give_up(w, c, false);
}

/* Puts the one in w's hand into the queue. Nothing is in it if what the kernel had for it was posted
 * by hand: then it goes. */
static void put_down(struct wf_worker *w)
{
	struct wf_color *c = w->ready;

	w->ready = NULL;
	release(w, c);
}

/* Between two turns: the color, if it is in self's hand or dozes there, and no other is queued. */
static inline struct wf_color *dozes_here(struct wf_worker *self, weft_color id)
{
	if (self->dozing_id != id || WF_LOAD(&self->queue.colors) != 0)
		return NULL;
	if (self->ready == NULL && WF_LOAD(&self->dozing) != NULL)
		self->ready = take_dozing(self);
	return self->ready;
}

/* Whether it is more urgent than what is at the head of the color, which is queued by that. */
static inline bool goes_before(const weft_event *ev, const struct wf_color *c)
{
	const weft_event *head = c->local.head;

	return head != NULL && wf_policy_level(ev->priority, WF_FROM_IO) >
				       wf_policy_level(head->priority, WF_FROM_IO);
}

WF_HOT void wf_sched_post_io(struct wf_sched *s, struct wf_worker *self, struct wf_worker *at,
			     weft_event **evs, int n)
{
	struct wf_color *c = NULL;

	if (WF_UNLIKELY(self == NULL || self->current != NULL))
		c = owned(self, evs[0]->color);
	else if (WF_LIKELY(at == self))
		c = dozes_here(self, evs[0]->color);
	if (c == NULL) {
		(void)post_other(s, self, at, evs, n, WF_FROM_IO, NULL, true);
		return;
	}
	for (int i = 0; i < n; i++) {
		if (WF_UNLIKELY(goes_before(evs[i], c)) && c == self->ready) {
			put_down(self); /* in a queue it moves up */
			(void)post_other(s, self, at, evs + i, n - i, WF_FROM_IO, NULL, true);
			return;
		}
		if (post_own(s, self, c, evs[i], WF_FROM_IO, NULL) == 0)
			evs[i] = NULL;
	}
}

/* The one in w's hand, unless it has to stand in line with others, or elsewhere. */
static bool own_ready(struct wf_worker *w)
{
	struct wf_color *c = w->ready;

	if (WF_LIKELY(c->local.head != NULL && WF_LOAD(&w->queue.colors) == 0 &&
		      WF_LOAD(&c->place.pin) < 0)) {
		w->ready = NULL;
		return own(w, c);
	}
	put_down(w);
	return false;
}

WF_HOT bool wf_sched_next(struct wf_worker *w)
{
	if (w->ready != NULL && own_ready(w))
		return true;
	while (WF_LOAD(&w->queue.colors) != 0) {
		struct wf_place *place;

		wf_lock_take(&w->queue.lock);
		place = wf_runq_pop(&w->queue, (enum wf_order)w->takes);
		wf_lock_give(&w->queue.lock);
		if (place == NULL)
			break;
		if (own(w, WF_CONTAINER(place, struct wf_color, place)))
			return true;
	}
	return false;
}

/* Takes whole colors out of `victim`'s queue: the worthiest, and with it others that are worth
 * the trip, up to half of what is there. Most of a trip is the way to the victim's queue and
 * back, for both. Only from one lane, where each theft brings those behind closer to their turn:
 * one of a low level could be taken along for ever, behind urgent ones (S3). */
static int grab(struct wf_worker *victim, uint64_t lanes, struct wf_color *loot[WF_LOOT])
{
	struct wf_runq *q = &victim->queue;
	uint64_t half = WF_LOAD(&q->steal_time) / 2, taken = 0;
	struct wf_place *place;
	unsigned worth;
	bool more;
	int n = 0;

	/* Whoever holds the lock may be a thief too. To stand in line would make
	 * the victim wait behind all thieves, and make theft look dear. */
	if (!wf_lock_try(&q->lock))
		return 0;
	do {
		place = wf_runq_steal(q, lanes);
		if (place == NULL)
			break;
		loot[n++] = WF_CONTAINER(place, struct wf_color, place);
		taken += place->left;
		worth = WF_LOAD(&place->worth);
		more = worth == WF_WORTH_KEPT ? (unsigned)n < WF_LOAD(&q->colors)
					      : worth > 0 && taken < half;
	} while (n < WF_LOOT && more && wf_runq_more_there(q, place));
	wf_lock_give(&q->lock);
	return n;
}

/* Robs `victim` of colors, never of one that runs, for those are in no queue (S5). */
static bool rob(struct wf_worker *thief, struct wf_worker *victim, uint64_t lanes)
{
	/* All read the cost at each post, so that to write it is dear: now and then. */
	bool sample = WF_LOAD(&thief->counters.steals) < WF_SAMPLES_FIRST ||
		      wf_sample_now(&thief->sampler);
	struct wf_color *loot[WF_LOOT];
	uint64_t began;
	int n;

	if (!wf_runq_has_loot(&victim->queue, lanes))
		return false;
	began = wf_ticks();
	n = grab(victim, lanes, loot);
	if (n == 0)
		return false;
	/* What each brings along comes from the victim's cache: all at the same time. */
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&loot[i]->local, 1);
	for (int i = 0; i < n; i++) {
		struct wf_color *c = loot[i];

		__builtin_prefetch(c->local.head, 1);
		WF_PROBE3(steal, thief->id, victim->id, c->id);
		WF_ADD_OWN(&thief->counters.steals, 1u);
		WF_ADD_OWN(&thief->counters.classes[wf_color_class(c->id)].stolen, 1u);
		if (i > 0)
			enqueue(thief->sched, thief, thief, c, WF_LOAD(&c->place.level));
	}
	/* The first event is a good part of the price. */
	refill(thief->sched, loot[0]);
	(void)*(volatile uint8_t *)&loot[0]->local.head->state_;
	if (sample)
		wf_policy_steal_took(&thief->sched->policy, (wf_ticks() - began) / (unsigned)n);
	/* On its way it was in no queue, and one who looked went to sleep. */
	if (n > 1)
		share_surplus(thief->sched, thief, true);
	return own(thief, loot[0]);
}

void wf_sched_rescue(struct wf_worker *w, struct wf_worker *stuck)
{
	struct wf_sched *s = w->sched;
	uint64_t lanes = w->reserve ? WF_LOOT_LANES & WF_IO_LANES : WF_LOOT_LANES;

	if (!wf_runq_has_loot(&stuck->queue, lanes))
		return;
	while (wf_runq_has_loot(&stuck->queue, lanes)) {
		struct wf_place *place;

		wf_lock_take(&stuck->queue.lock);
		place = wf_runq_steal(&stuck->queue, lanes);
		wf_lock_give(&stuck->queue.lock);
		if (place == NULL)
			break;
		enqueue(s, w, w, WF_CONTAINER(place, struct wf_color, place),
			WF_LOAD(&place->level));
	}
	share_surplus(s, w, false);
}

/* The victim that has the most colors queued: where to begin without the
 * locality heuristic, as libasync-smp did. */
static int richest(const struct wf_sched *s, int n)
{
	uint32_t most = 0;
	int best = 0;

	for (int i = 0; i < n; i++) {
		uint32_t colors = WF_LOAD(&wf_sched_worker(s, i)->queue.colors);

		if (colors > most) {
			most = colors;
			best = i;
		}
	}
	return best;
}

bool wf_sched_steal(struct wf_worker *w)
{
	struct wf_sched *s = w->sched;
	const struct wf_policy *p = &s->policy;
	int n = atomic_load_explicit(&s->started, memory_order_acquire);
	bool near_first = p->steal & WF_STEAL_LOCALITY && w->id < s->workers;
	int first = near_first ? 0 : richest(s, n);

	for (int i = 0; i < n - near_first; i++) {
		/* The order has one less than there are regular workers; stand-ins,
		 * if any, come behind. */
		int id = !near_first          ? (first + i) % n
			 : i < s->workers - 1 ? WF_LOAD(&w->order[i])
					      : i + 1;
		struct wf_worker *victim = wf_sched_worker(s, id);

		if (victim == w || !(WF_LOAD(&victim->stuck) || p->steal & WF_STEAL_ON))
			continue;
		if (rob(w, victim, wf_loot_lanes(wf_worker_least_worth(victim))))
			return true;
	}
	WF_ADD_OWN(&w->counters.steal_misses, 1u);
	return false;
}

static WF_HOT weft_event *pop(struct wf_color *c)
{
	weft_event *ev = c->local.head;

	c->local.head = ev->next_;
	if (ev->next_ != NULL)
		ev->next_->prev_ = NULL;
	else
		WF_STORE(&c->local.tail, NULL);
	WF_ADD_OWN(&c->local_count, -1u);
	WF_ADD_OWN(&c->local_cost, -(uint64_t)ev->cost_);
	return ev;
}

void wf_turn_queue_young(struct wf_worker *w)
{
	struct wf_color *c = w->current;
	struct wf_flow *f = &w->flow;
	weft_event *head = c->local.head;

	if (head == NULL || !wf_turn_may_overtake(w)) {
		refill(w->sched, c);
		c->overtaken = 0;
		f->young->prev_ = WF_LOAD(&c->local.tail);
		if (f->young->prev_ != NULL)
			f->young->prev_->next_ = f->young;
		else
			c->local.head = f->young;
		WF_STORE(&c->local.tail, f->youngest);
	} else {
		f->youngest->next_ = head;
		head->prev_ = f->youngest;
		c->local.head = f->young;
	}
	WF_ADD_OWN(&c->local_count, f->young_count);
	WF_ADD_OWN(&c->local_cost, (uint64_t)f->young_count * f->young_cost);
	f->young_cost = estimate(&w->sched->policy, f->young->run, WF_FROM_CPU);
	f->young = f->youngest = NULL;
	f->young_count = 0;
}

/* Whether readers still run, in which case the last of them owns the color from
 * now on. An owner that sees none sees all that they did. */
static bool readers_left(struct wf_color *c)
{
	if (WF_LIKELY(atomic_load_explicit(&c->readers, memory_order_acquire) == 0))
		return false;
	if (atomic_fetch_or(&c->readers, WF_READERS_WAITING) != 0)
		return true;
	WF_STORE(&c->readers, 0);
	return false;
}

static weft_event *give_to_readers(struct wf_worker *w)
{
	w->current = NULL;
	return NULL;
}

WF_HOT weft_event *wf_sched_take(struct wf_worker *w)
{
	struct wf_color *c = w->current;
	weft_event *ev;

	if (WF_UNLIKELY(c == NULL))
		return NULL;
	if (c->local.head == NULL) {
		refill(w->sched, c);
		if (WF_LIKELY(c->local.head == NULL))
			return NULL;
	}
	if (WF_LIKELY(!c->local.head->shared)) {
		if (readers_left(c))
			return give_to_readers(w);
		ev = pop(c);
		if (c->local.head == NULL)
			wf_table_expect(wf_table_shard(&w->sched->table, c->id), c->id);
		return ev;
	}
	atomic_fetch_add(&c->readers, 1);
	ev = pop(c);
	w->shared = true;
	release(w, c);
	return ev;
}

static WF_NOINLINE void reader_ran(struct wf_worker *w)
{
	struct wf_color *c = w->current;
	struct wf_sched *s = w->sched;
	struct wf_shard *shard;
	weft_color id = c->id;
	unsigned left;

	w->current = NULL;
	w->shared = false;
	left = atomic_fetch_sub(&c->readers, 1) - 1u;
	if (left == WF_READERS_WAITING) {
		WF_STORE(&c->readers, 0);
		enqueue(s, w, w, c, event_level(c->local.head));
	} else if (left == 0) {
		/* Others may have removed the record by now: look it up again. */
		shard = wf_table_shard(&s->table, id);
		wf_lock_take(&shard->lock);
		c = wf_table_find(shard, id);
		if (c != NULL)
			forget_if_idle(s, w, shard, c);
		wf_lock_give(&shard->lock);
	}
}

WF_HOT void wf_sched_ran(struct wf_worker *w)
{
	if (WF_UNLIKELY(w->shared))
		reader_ran(w);
}

static WF_NOINLINE void let_dozing_go(struct wf_worker *w)
{
	struct wf_color *c = take_dozing(w);

	if (c != NULL)
		release(w, c);
}

WF_HOT void wf_sched_turn_end(struct wf_worker *w)
{
	struct wf_color *c = w->current;

	w->current = NULL;
	if (WF_LOAD(&w->dozing) != NULL)
		let_dozing_go(w);
	if (WF_LIKELY(c != NULL))
		give_up(w, c, true);
}

int wf_sched_cancel(struct wf_worker *w, weft_event *ev)
{
	struct wf_color *c = w->current;

	if (c == NULL || w->shared || c->id != ev->color)
		return -EPERM;
	if (__atomic_load_n(&ev->state_, __ATOMIC_RELAXED) == 0)
		return -ENOENT;
	refill_always(w->sched, c); /* now it can only be in the local list */
	detach(&c->local, ev);
	WF_ADD_OWN(&c->local_count, -1u);
	WF_ADD_OWN(&c->local_cost, -(uint64_t)ev->cost_);
	__atomic_store_n(&ev->state_, 0, __ATOMIC_RELAXED);
	WF_ADD_OWN(&w->counters.cancelled, 1u);
	return 0;
}

int wf_sched_pin(struct wf_sched *s, struct wf_worker *self, weft_color id, int worker)
{
	struct wf_shard *shard = wf_table_shard(&s->table, id);
	struct wf_color *c;

	wf_lock_take(&shard->lock);
	c = wf_table_find_or_add(&s->table, shard, id, self != NULL ? &self->free_colors : NULL,
				 false);
	if (c != NULL) {
		WF_STORE(&c->place.pin, (int16_t)worker);
		forget_if_idle(s, self, shard, c);
	}
	wf_lock_give(&shard->lock);
	return c != NULL ? 0 : -ENOMEM;
}

static void discard(struct wf_events *list)
{
	for (weft_event *ev = list->head, *next; ev != NULL; ev = next) {
		next = ev->next_;
		__atomic_store_n(&ev->state_, 0, __ATOMIC_RELAXED);
	}
}

void wf_sched_discard(struct wf_color *c)
{
	discard(&c->local);
	discard(&c->inbox);
}

uint64_t wf_sched_queued(const struct wf_sched *s)
{
	int n = atomic_load_explicit(&s->started, memory_order_acquire);
	int64_t queued = (int64_t)WF_LOAD(&s->foreign_posted);

	for (int i = 0; i < n; i++) {
		const struct wf_worker *w = wf_sched_worker(s, i);

		/* Each event that begins is a beat. */
		queued += (int64_t)(WF_LOAD(&w->counters.posted) - WF_LOAD(&w->beat) -
				    WF_LOAD(&w->counters.cancelled));
	}
	return queued > 0 ? (uint64_t)queued : 0;
}
