/* Everything that can happen to an event, by chance: tamed functions in several colors make events
 * and hand them to each other's colors, to shared events and to foreign threads; these
 * trigger them, give them back, and ask to be told of cancels. Each value comes to its slot, no slot
 * changes after a cancel, nothing is reported and nothing is left.
 *
 * WEFT_TEST_EVENTS is the number of events, for long runs.
 */
#include "handmade.h"

#include <stdio.h>

enum { COLORS = 16, FOREIGN = 2, RING = 1024, BLOCK = 6, OF_R = 10, CANCELLED = -7 };

enum action { TRIGGER, DROP };

/* An event on its way to who acts on it; the lowest bit says how. */
typedef uintptr_t parcel;

static int_event event_in(parcel p)
{
	return (int_event)(p & ~(parcel)1);
}

/* Events of rendezvous are triggered with their id, others with 1. */
static void act(void *arg)
{
	int_event e = event_in((parcel)arg);
	const struct made_of_r *of_r = (const void *)e;

	if (((parcel)arg & 1) == DROP)
		weft_event_drop(e);
	else if (of_r->of_r.event.site_ == &collect_s1)
		weft_trigger(e, of_r->id);
	else
		weft_trigger(e, 1);
}

/* Foreign threads, each with a queue. */
static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	parcel ring[RING];
	unsigned first, count;
	bool busy, enough;
} queues[FOREIGN];

static bool give(struct queue *q, parcel p)
{
	bool room;

	pthread_mutex_lock(&q->lock);
	room = q->count < RING;
	if (room)
		q->ring[(q->first + q->count++) % RING] = p;
	pthread_mutex_unlock(&q->lock);
	pthread_cond_signal(&q->changed);
	return room;
}

/* Waits for one. 0: there will be none. */
static parcel take(struct queue *q)
{
	parcel p = 0;

	pthread_mutex_lock(&q->lock);
	q->busy = false;
	while (q->count == 0 && !q->enough)
		pthread_cond_wait(&q->changed, &q->lock);
	if (q->count > 0) {
		q->busy = true;
		p = q->ring[q->first];
		q->first = (q->first + 1) % RING;
		q->count--;
	}
	pthread_mutex_unlock(&q->lock);
	return p;
}

static void end_queue(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->enough = true;
	pthread_mutex_unlock(&q->lock);
	pthread_cond_signal(&q->changed);
	thread_join(q->thread);
}

static bool is_idle(struct queue *q)
{
	bool idle;

	pthread_mutex_lock(&q->lock);
	idle = q->count == 0 && !q->busy;
	pthread_mutex_unlock(&q->lock);
	return idle;
}

static void *serve(void *queue)
{
	parcel p;

	while ((p = take(queue)) != 0)
		act((void *)p);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

/* One that asks to be told of a cancel. */
struct hooked {
	parcel p;
	bool over;
};

static void on_cancel(void *arg)
{
	struct hooked *h = arg;

	h->over = true;
	act((void *)h->p);
}

static void end_hooked(void *arg)
{
	struct hooked *h = arg;

	if (!h->over)
		act((void *)h->p);
	free(h);
}

static void begin_hooked(void *arg)
{
	struct hooked *h = malloc(sizeof *h);

	CHECK(h != NULL);
	*h = (struct hooked){ (parcel)arg, false };
	weft_on_cancel(event_in(h->p), on_cancel, h);
	CHECK_EQ(weft_post(weft_color_current(), end_hooked, h), 0);
}

/* tamed churn(struct driver *d): see churn_body. */
struct driver {
	uint64_t seed;
	weft_color color;
	long wanted_events;
	int block[BLOCK]; /* slots */
	int of_r[OF_R];
	int in_block, in_r, sure, wanted, count;
	long made, waited, cancelled;
};
static struct driver drivers[COLORS];
static weft_sem ended;

struct churn_c {
	weft_tame_closure c;
	struct driver *d;
	weft_tame_rendezvous r;
	int id;
	int a;
	uint32_t join;
	struct made_inside inside;
};

static void churn(struct driver *d);
static void churn_body(void *closure);

static const weft_tame_wait_point churn_waits[] = {
	{ "churn.tame.c:1", "twait { }", NULL },
	{ "churn.tame.c:2", "twait(r, id)", NULL },
	{ "churn.tame.c:3", "twait { }", NULL },
};
static const weft_tame_function churn_f = {
	.name = "churn",
	.where = "churn.tame.c:0",
	.body = churn_body,
	.entry = (void (*)(void))churn,
	.waits = churn_waits,
	.wait_count = 3,
	.size = sizeof(struct churn_c),
};
static const weft_tame_site churn_inside = {
	.where = "churn.tame.c:1",
	.text = "mkevent(a)",
	.function = "churn",
	.deliver = deliver_inside,
	.kind = WEFT_TAME_INSIDE,
	.size = sizeof(struct made_inside),
	.offset = offsetof(struct churn_c, inside),
	.join = offsetof(struct churn_c, join),
};
static const weft_tame_site churn_apart = {
	.where = "churn.tame.c:1",
	.text = "mkevent(block[i])",
	.function = "churn",
	.deliver = deliver_apart,
	.kind = WEFT_TAME_APART,
	.size = sizeof(struct made_apart),
	.join = offsetof(struct churn_c, join),
};

static unsigned chance(struct driver *d, unsigned n)
{
	return (unsigned)random_below(&d->seed, n);
}

/* Somebody acts on it, now or later. */
static void hand_out(struct driver *d, void *event, enum action action, bool can_hook)
{
	parcel p = (parcel)event | action;
	weft_color color = drivers[chance(d, 2) ? chance(d, COLORS) : 0].color;

	d->made++;
	switch (chance(d, can_hook ? 7 : 6)) {
	case 0:
		act((void *)p);
		return;
	case 1:
		CHECK_EQ(weft_post(color, act, (void *)p), 0);
		return;
	case 2:
		CHECK_EQ(weft_post_shared(color, act, (void *)p), 0);
		return;
	case 6:
		if (chance(d, 2))
			begin_hooked((void *)p);
		else
			CHECK_EQ(weft_post(color, begin_hooked, (void *)p), 0);
		return;
	default:
		if (!give(&queues[chance(d, FOREIGN)], p))
			act((void *)p);
	}
}

static void make_inside(struct churn_c *c)
{
	weft_tame_event_init(&c->inside.event, trigger_inside, &churn_inside);
	c->inside.slot = &c->a;
	c->a = 0;
	c->join++;
	hand_out(c->d, &c->inside, TRIGGER, false);
}

static void make_block(struct churn_c *c)
{
	struct driver *d = c->d;

	d->in_block = (int)chance(d, BLOCK + 1);
	make_inside(c);
	for (int i = 0; i < d->in_block; i++) {
		struct made_apart *e =
			weft_tame_event_new(&c->c, &churn_apart, (void (*)(void))trigger_apart);

		d->block[i] = 0;
		e->slot = &d->block[i];
		hand_out(d, e, TRIGGER, false);
	}
}

static void check_block(struct churn_c *c)
{
	CHECK_EQ(c->a, 1);
	for (int i = 0; i < c->d->in_block; i++)
		CHECK_EQ(c->d->block[i], 1);
}

/* Some will be triggered for sure: for fewer than these it will wait. */
static void make_of_r(struct churn_c *c)
{
	int_event made[OF_R];
	struct driver *d = c->d;

	d->in_r = (int)chance(d, OF_R + 1);
	d->sure = d->count = 0;
	for (int i = 0; i < d->in_r; i++) {
		d->of_r[i] = -1;
		made[i] = collect_mk1(&c->c, &c->r, i, &d->of_r[i]);
	}
	for (int i = 0; i < d->in_r; i++) {
		enum action action = chance(d, 4) ? TRIGGER : DROP;

		d->sure += action == TRIGGER;
		hand_out(d, (void *)(uintptr_t)made[i], action, true);
	}
	d->wanted = (int)chance(d, (unsigned)d->sure + 1);
}

static void cancel_rest(struct churn_c *c)
{
	struct driver *d = c->d;

	weft_tame_rendezvous_cancel(&c->r);
	d->waited += d->count;
	d->cancelled += d->in_r - d->count;
	for (int i = 0; i < d->in_r; i++)
		d->of_r[i] = CANCELLED;
}

static void churn(struct driver *d)
{
	struct churn_c *c = (struct churn_c *)weft_tame_enter(&churn_f);

	CHECK(c != NULL);
	c->d = d;
	if (weft_tame_begins(&c->c))
		churn_body(&c->c);
}

static void churn_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct churn_c *c = (struct churn_c *)h;
	struct driver *d = c->d;

	if (h->state_ == 1)
		goto L1;
	if (h->state_ == 2)
		goto L2;
	if (h->state_ == 3)
		goto L3;
	while (d->made < d->wanted_events) {
		c->join = 1;
		make_block(c);
		h->state_ = 1;
		if (--c->join)
			return;
	L1:
		check_block(c);
		weft_tame_rendezvous_init(&c->r, h, &collect_r);
		make_of_r(c);
		while (d->count < d->wanted) {
			h->state_ = 2;
		L2:
			if (!weft_tame_next(&c->r, h, &c->id, sizeof c->id))
				return;
			d->count++;
			CHECK_EQ(d->of_r[c->id], c->id);
		}
		cancel_rest(c);
		c->join = 1;
		make_inside(c);
		h->state_ = 3;
		if (--c->join)
			return;
	L3:
		for (int i = 0; i < d->in_r; i++)
			CHECK_EQ(d->of_r[i], CANCELLED);
	}
	CHECK_EQ(weft_sem_post(&ended), 0);
	weft_tame_leave(h);
}

/* Lets all come to its end that is on its way. */
static void flush(void)
{
	for (int i = 0; i < FOREIGN; i++)
		YIELD_UNTIL(is_idle(&queues[i]));
	for (int i = 0; i < 10 * COLORS; i++)
		CHECK_EQ(weft_hop(drivers[i % COLORS].color), 0);
}

static void begin(uint64_t seed, long wanted)
{
	weft_sem_init(&ended, 0);
	for (int i = 0; i < FOREIGN; i++) {
		queues[i] = (struct queue){ .lock = PTHREAD_MUTEX_INITIALIZER,
					    .changed = PTHREAD_COND_INITIALIZER };
		CHECK_EQ(weft_hold(), 0);
		queues[i].thread = thread_start(serve, &queues[i]);
	}
	for (int i = 0; i < COLORS; i++)
		drivers[i] = (struct driver){
			.seed = seed + (uint64_t)i,
			.color = weft_color_new(),
			.wanted_events = wanted / COLORS,
		};
	for (int i = 0; i < COLORS; i++)
		weft_ton(drivers[i].color, churn, &drivers[i]);
}

static long how_many(void)
{
	const char *wanted = getenv("WEFT_TEST_EVENTS");

	return wanted != NULL ? atol(wanted) : TEST_SIZE(40000);
}

static int all_at_once(void *seed)
{
	long made = 0, waited = 0, cancelled = 0;

	begin(*(uint64_t *)seed, how_many());
	for (int i = 0; i < COLORS; i++)
		CHECK_EQ(weft_sem_wait(&ended), 0);
	flush();
	flush();
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	for (int i = 0; i < FOREIGN; i++)
		end_queue(&queues[i]);
	for (int i = 0; i < COLORS; i++) {
		made += drivers[i].made;
		waited += drivers[i].waited;
		cancelled += drivers[i].cancelled;
	}
	printf("%ld events: of rendezvous %ld waited for, %ld cancelled or given back\n", made,
	       waited, cancelled);
	return 0;
}

static void stress(const char *mode)
{
	uint64_t seed = TEST_SEED;

	setenv("WEFT_TAME", mode, 1);
	catch_reports();
	CHECK_EQ(run_on(2, all_at_once, &seed), 0);
	if (caught.count[WEFT_REPORT_MISUSE] > 0)
		CHECK_STR(caught.last[WEFT_REPORT_MISUSE], "");
}

TEST(whatever_happens_to_events_nothing_is_lost_or_left)
{
	stress("no");
}

TEST(whatever_happens_to_events_nothing_is_lost_or_left_while_it_is_checked)
{
	stress("check");
}

TEST_MAIN
