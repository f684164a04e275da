/* handmade.h - tamed and threaded functions as weft-tame makes them, written by hand: so tests of
 * the runtime need no translator, and can do what it would refuse.
 *
 * Each is preceded by its source.
 */
#ifndef TESTS_TAME_HANDMADE_H
#define TESTS_TAME_HANDMADE_H

#include "threads/common.h"

#include <weft/tame_code.h>
#include <weft/weft.h>

#include "tame/tame.h"

typedef WEFT_EVENT(int) int_event;
typedef WEFT_EVENT() plain_event;

enum { MADE_MAX = 64 };

/* Where the last value was given to a slot. */
static _Atomic weft_color delivered_in UNUSED;

static void note_delivery(weft_color color) UNUSED;
static void note_delivery(weft_color color)
{
	CHECK(wf_tame_in_color(wf_worker_self(), color)); /* S1 */
	atomic_store(&delivered_in, color);
}

/* Closures that there are, and memory for events that is in use. */

static void ignore_text(const char *text, void *unused) UNUSED;
static void ignore_text(const char *text, void *unused)
{
	(void)text;
	(void)unused;
}

static int closures(void) UNUSED;
static int closures(void)
{
	return (int)weft_tame_each(ignore_text, NULL);
}

static int events(void) UNUSED;
static int events(void)
{
	return (int)atomic_load(&wf_tame_events_in_use);
}

/* Lets everything happen that is on its way in this color. */
static void settle(void) UNUSED;
static void settle(void)
{
	for (int i = 0; i < 10; i++)
		weft_yield();
}

/* Events with an int, of blocks and of rendezvous. */

struct made_inside {
	weft_tame_event event;
	int *slot;
	int value;
};
struct made_apart {
	weft_tame_event_apart apart;
	int *slot;
	int value;
};
struct made_of_r {
	weft_tame_event_of_rendezvous of_r;
	int *slot;
	int value;
	int id;
};

#define COLOR_OF_inside(e) \
	(((weft_tame_closure *)(void *)((char *)(e) - (e)->event.site_->offset))->color_)
#define COLOR_OF_apart(e) ((e)->apart.closure_->color_)
#define COLOR_OF_of_r(e) ((e)->of_r.color_)

#define MADE_FUNCTIONS(kind) \
	static void deliver_##kind(void *event) UNUSED; \
	static void deliver_##kind(void *event) \
	{ \
		struct made_##kind *e = event; \
\
		note_delivery(COLOR_OF_##kind(e)); \
		*e->slot = e->value; \
	} \
	static void trigger_##kind(weft_tame_event *self, int value) UNUSED; \
	static void trigger_##kind(weft_tame_event *self, int value) \
	{ \
		((struct made_##kind *)self)->value = value; \
		weft_tame_trigger(self); \
	}
MADE_FUNCTIONS(inside)
MADE_FUNCTIONS(apart)
MADE_FUNCTIONS(of_r)

/* tamed add(int n, event(int) *made, event(int) done)
 * {
 *	int a;
 *	twait { *made = mkevent(a); }
 *	trigger(done, a + n);
 * }
 */
struct add_c {
	weft_tame_closure c;
	int n;
	int_event *made;
	int_event done;
	int a;
	uint32_t join;
	struct made_inside e1;
};

static void add(int n, int_event *made, int_event done) UNUSED;
static void add_body(void *closure);

static const weft_tame_wait_point add_waits[] = { { "add.tame.c:4", "twait { }", NULL } };
static const weft_tame_function add_f = {
	.name = "add",
	.where = "add.tame.c:1",
	.body = add_body,
	.entry = (void (*)(void))add,
	.waits = add_waits,
	.wait_count = 1,
	.size = sizeof(struct add_c),
};
static const weft_tame_site add_s1 = {
	.where = "add.tame.c:4",
	.text = "mkevent(a)",
	.function = "add",
	.deliver = deliver_inside,
	.kind = WEFT_TAME_INSIDE,
	.size = sizeof(struct made_inside),
	.offset = offsetof(struct add_c, e1),
	.join = offsetof(struct add_c, join),
};

/* What its trefused block was told; without_trefused: it has none. */
static _Thread_local int add_refused UNUSED;
static bool without_trefused UNUSED;

static void add(int n, int_event *made, int_event done)
{
	struct add_c *c = (struct add_c *)weft_tame_enter(&add_f);

	if (c == NULL) {
		add_refused = weft_tame_refusal(&add_f, !without_trefused);
		return;
	}
	c->n = n;
	c->made = made;
	c->done = done;
	if (weft_tame_begins(&c->c))
		add_body(&c->c);
}

static void add_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct add_c *c = (struct add_c *)h;

	if (h->state_ == 1)
		goto L1;
	c->join = 1;
	weft_tame_event_init(&c->e1.event, trigger_inside, &add_s1);
	c->e1.slot = &c->a;
	c->join++;
	*c->made = (int_event)&c->e1;
	h->state_ = 1;
	if (--c->join)
		return;
L1:
	if (c->done != NULL)
		weft_trigger(c->done, c->a + c->n);
	weft_tame_leave(h);
}

/* tamed sum(int n, event(int) made[], void (*then)(void), int *result)
 * {
 *	int v[MADE_MAX];
 *	twait { for (int i = 0; i < n; i++) made[i] = mkevent(v[i]); }
 *	*result = v[0] + ... + v[n - 1];
 * }
 */
struct sum_c {
	weft_tame_closure c;
	int n;
	int_event *made;
	_Atomic int *result;
	int v[MADE_MAX];
	uint32_t join;
};

static void sum(int n, int_event made[], _Atomic int *result) UNUSED;
static void sum_body(void *closure);

static const weft_tame_wait_point sum_waits[] = { { "sum.tame.c:4", "twait { }", NULL } };
static const weft_tame_function sum_f = {
	.name = "sum",
	.where = "sum.tame.c:1",
	.body = sum_body,
	.entry = (void (*)(void))sum,
	.waits = sum_waits,
	.wait_count = 1,
	.size = sizeof(struct sum_c),
};
static const weft_tame_site sum_s1 = {
	.where = "sum.tame.c:4",
	.text = "mkevent(v[i])",
	.function = "sum",
	.deliver = deliver_apart,
	.kind = WEFT_TAME_APART,
	.size = sizeof(struct made_apart),
	.join = offsetof(struct sum_c, join),
};

static void sum(int n, int_event made[], _Atomic int *result)
{
	struct sum_c *c = (struct sum_c *)weft_tame_enter(&sum_f);

	CHECK(c != NULL);
	c->n = n;
	c->made = made;
	c->result = result;
	if (weft_tame_begins(&c->c))
		sum_body(&c->c);
}

static int_event sum_mk1(struct sum_c *c, int *slot)
{
	struct made_apart *e = weft_tame_event_new(&c->c, &sum_s1, (void (*)(void))trigger_apart);

	e->slot = slot;
	return (int_event)e;
}

static void sum_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct sum_c *c = (struct sum_c *)h;
	int total = 0;

	if (h->state_ == 1)
		goto L1;
	c->join = 1;
	for (int i = 0; i < c->n; i++)
		c->made[i] = sum_mk1(c, &c->v[i]);
	h->state_ = 1;
	if (--c->join)
		return;
L1:
	for (int i = 0; i < c->n; i++)
		total += c->v[i];
	atomic_store(c->result, total);
	weft_tame_leave(h);
}

/* tamed collect(struct collection *k)
 * {
 *	rendezvous(int) r;
 *	int i;
 *	k->r = &r;
 *	for (i = 0; i < k->n; i++)
 *		k->made[i] = mkevent(r, i, k->slot);
 *	while (k->count < k->wanted) {
 *		twait(r, i);
 *		k->id[k->count] = i;
 *		k->value[k->count++] = k->slot;
 *	}
 *	if (k->cancels)
 *		rv_cancel(r);
 *	k->ended = true;
 * }
 */
struct collection {
	int n, wanted;
	bool cancels;
	weft_tame_rendezvous *r;
	int_event made[MADE_MAX];
	int slot;
	int count;
	int id[MADE_MAX], value[MADE_MAX];
	bool ended;
};
struct collect_c {
	weft_tame_closure c;
	struct collection *k;
	int i;
	weft_tame_rendezvous r;
};

static void collect(struct collection *k) UNUSED;
static void collect_body(void *closure);

static const weft_tame_wait_point collect_waits[] = {
	{ "collect.tame.c:9", "twait(r, i)", "mkevent(r, i) of collect.tame.c:6, given to add()" }
};
static const weft_tame_function collect_f = {
	.name = "collect",
	.where = "collect.tame.c:1",
	.body = collect_body,
	.entry = (void (*)(void))collect,
	.waits = collect_waits,
	.wait_count = 1,
	.size = sizeof(struct collect_c),
};
static const weft_tame_rendezvous_site collect_r = { "collect.tame.c:3", "r" };
static const weft_tame_site collect_s1 = {
	.where = "collect.tame.c:7",
	.text = "mkevent(r, i, k->slot)",
	.function = "collect",
	.deliver = deliver_of_r,
	.kind = WEFT_TAME_OF_RENDEZVOUS,
	.size = sizeof(struct made_of_r),
	.id = offsetof(struct made_of_r, id),
	.id_size = sizeof(int),
};

static void collect(struct collection *k)
{
	struct collect_c *c = (struct collect_c *)weft_tame_enter(&collect_f);

	CHECK(c != NULL);
	c->k = k;
	if (weft_tame_begins(&c->c))
		collect_body(&c->c);
}

static int_event collect_mk1(weft_tame_closure *c, weft_tame_rendezvous *r, int id,
			     int *slot) UNUSED;
static int_event collect_mk1(weft_tame_closure *c, weft_tame_rendezvous *r, int id, int *slot)
{
	struct made_of_r *e =
		weft_tame_rendezvous_event(r, c, &collect_s1, (void (*)(void))trigger_of_r);

	e->id = id;
	e->slot = slot;
	return (int_event)e;
}

static void collect_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct collect_c *c = (struct collect_c *)h;
	struct collection *k = c->k;

	if (h->state_ == 1)
		goto L1;
	weft_tame_rendezvous_init(&c->r, h, &collect_r);
	k->r = &c->r;
	for (c->i = 0; c->i < k->n; c->i++)
		k->made[c->i] = collect_mk1(h, &c->r, c->i, &k->slot);
	while (k->count < k->wanted) {
		h->state_ = 1;
	L1:
		if (!weft_tame_next(&c->r, h, &c->i, sizeof c->i))
			return;
		k->id[k->count] = c->i;
		k->value[k->count++] = k->slot;
	}
	if (k->cancels)
		weft_tame_rendezvous_cancel(&c->r);
	k->ended = true;
	weft_tame_leave(h);
}

/* tamed lend(rendezvous(int) *r, int id, event(int) *made, int **slot)
 * {
 *	int x = 0;
 *	*slot = &x;
 *	*made = mkevent(*r, id, x);
 * }
 */
struct lend_c {
	weft_tame_closure c;
	int x;
};

static void lend(weft_tame_rendezvous *r, int id, int_event *made, int **slot) UNUSED;

static const weft_tame_function lend_f = {
	.name = "lend",
	.where = "lend.tame.c:1",
	.body = collect_body, /* it does not wait */
	.entry = (void (*)(void))lend,
	.size = sizeof(struct lend_c),
};

static void lend(weft_tame_rendezvous *r, int id, int_event *made, int **slot)
{
	struct lend_c *c = (struct lend_c *)weft_tame_enter(&lend_f);

	CHECK(c != NULL);
	CHECK_EQ(c->c.state_, 0);
	c->x = 0;
	*slot = &c->x;
	*made = collect_mk1(&c->c, r, id, &c->x);
	weft_tame_leave(&c->c);
}

/* threaded int wait_for(event(int) *made, weft_fn *ready, void *arg)
 * {
 *	int x;
 *	twait { *made = mkevent(x); ready(arg); }
 *	return x;
 * }
 */
struct wait_c {
	weft_tame_thread_closure t;
	uint32_t join;
};
static const weft_tame_function wait_f = { .name = "wait_for", .where = "wait.tame.c:1" };
static const weft_tame_site wait_s1 = {
	.where = "wait.tame.c:4",
	.text = "mkevent(x)",
	.function = "wait_for",
	.deliver = deliver_apart,
	.kind = WEFT_TAME_APART,
	.size = sizeof(struct made_apart),
	.join = offsetof(struct wait_c, join),
};

static int_event wait_mk1(struct wait_c *c, int *slot) UNUSED;
static int_event wait_mk1(struct wait_c *c, int *slot)
{
	struct made_apart *e =
		weft_tame_event_new(&c->t.c, &wait_s1, (void (*)(void))trigger_apart);

	e->slot = slot;
	return (int_event)e;
}

static int wait_for(int_event *made, weft_fn *ready, void *arg) UNUSED;
static int wait_for(int_event *made, weft_fn *ready, void *arg)
{
	struct wait_c c;
	int x = -1;

	weft_tame_thread_enter(&c.t, &wait_f);
	weft_tame_thread_block(&c.t, &c.join);
	*made = wait_mk1(&c, &x);
	ready(arg);
	weft_tame_thread_join(&c.t, &c.join);
	weft_tame_thread_leave(&c.t);
	return x;
}

/* Triggering, from wherever it shall be. */

static void trigger_5(void *made) UNUSED;
static void trigger_5(void *made)
{
	weft_trigger(*(int_event *)made, 5);
}

static void drop_it(void *made) UNUSED;
static void drop_it(void *made)
{
	weft_event_drop(*(int_event *)made);
}

struct foreign_call {
	weft_fn *fn;
	void *arg;
};

static void *make_foreign_call(void *arg) UNUSED;
static void *make_foreign_call(void *arg)
{
	struct foreign_call *f = arg;

	f->fn(f->arg);
	return NULL;
}

/* Calls it on a foreign thread, and waits for that. */
static void foreign(weft_fn *fn, void *arg) UNUSED;
static void foreign(weft_fn *fn, void *arg)
{
	struct foreign_call f = { fn, arg };

	thread_join(thread_start(make_foreign_call, &f));
}

/* Runs it with one worker, or two. */
static int run_on(int workers, int (*fn)(void *), void *arg) UNUSED;
static int run_on(int workers, int (*fn)(void *), void *arg)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	return weft_run(fn, arg, &opt);
}

#endif
