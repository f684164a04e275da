/* suspend.c - waiting for what comes by a callback: weft_suspend, weft_schedule and cancel
 * items, as one would adapt a library with them. */
#include "threads/common.h"

#include <stdio.h>

#include <weft/weft.h>

static void run_with(int workers, weft_thread_fn *fn)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

/* A wait, and what its stop does. */
struct request {
	weft_wait wait;
	bool stops;     /* what stop returns */
	bool completes; /* it calls weft_schedule itself */
	int stopped, result;
	uint64_t deadline;
	weft_thread *thread;
	weft_color color, stop_color;
	bool done;
};

static struct request *of(weft_wait *w)
{
	return (struct request *)((char *)w - offsetof(struct request, wait));
}

static bool stop_request(weft_wait *w)
{
	struct request *r = of(w);

	r->stopped++;
	r->stop_color = weft_color_current();
	if (r->completes)
		CHECK_EQ(weft_schedule(w), 0);
	return r->stops;
}

static void request_init(struct request *r, bool stops)
{
	*r = (struct request){ .wait = WEFT_WAIT_INIT("request", stop_request),
			       .stops = stops,
			       .deadline = WEFT_FOREVER };
}

static int wait_for_request(void *arg)
{
	struct request *r = arg;

	r->thread = weft_self();
	r->color = weft_color_current();
	r->result = weft_suspend_until(&r->wait, r->deadline);
	r->done = true;
	return 0;
}

/* Scheduling */

static int schedule_first(void *unused)
{
	struct request r;

	(void)unused;
	request_init(&r, true);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(weft_schedule(&r.wait), 0);
		CHECK_EQ(weft_schedule(&r.wait), -EALREADY);
		CHECK_EQ(weft_schedule_to(&r.wait), -EALREADY);
		CHECK_EQ(weft_suspend(&r.wait), 0);
	}
	CHECK_EQ(weft_schedule_to(&r.wait), 0);
	CHECK_EQ(weft_suspend_until(&r.wait, 0), 0);
	CHECK_EQ(r.stopped, 0);
	return 0;
}

TEST(a_wait_that_was_scheduled_before_it_began_is_none)
{
	run_with(1, schedule_first);
	CHECK_EQ(weft_schedule(&(weft_wait)WEFT_WAIT_INIT("x", NULL)), -ESHUTDOWN);
	CHECK_EQ(weft_suspend(&(weft_wait)WEFT_WAIT_INIT("x", NULL)), -EPERM);
}

static void schedule_in_handler(void *arg)
{
	struct request *r = arg;

	CHECK_EQ(weft_suspend(&r->wait), -EPERM);
	CHECK_EQ(weft_schedule(&r->wait), 0);
	CHECK_EQ(weft_schedule(&r->wait), -EALREADY);
}

static void schedule_to_in_handler(void *arg)
{
	CHECK_EQ(weft_schedule_to(&((struct request *)arg)->wait), 0);
}

static int by_handlers(void *unused)
{
	struct request r;

	(void)unused;
	request_init(&r, true);
	CHECK_EQ(weft_post(WEFT_MAIN, schedule_in_handler, &r), 0);
	CHECK_EQ(weft_suspend(&r.wait), 0);
	CHECK_EQ(weft_post(WEFT_MAIN, schedule_to_in_handler, &r), 0);
	CHECK_EQ(weft_suspend(&r.wait), 0);
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		CHECK_EQ(weft_post(weft_color_new(), schedule_to_in_handler, &r), 0);
		CHECK_EQ(weft_suspend(&r.wait), 0);
	}
	return 0;
}

TEST(handlers_schedule)
{
	run_with(2, by_handlers);
}

static int schedule_in_thread(void *arg)
{
	CHECK_EQ(weft_schedule(&((struct request *)arg)->wait), 0);
	return 0;
}

static void *schedule_in_foreign(void *arg)
{
	CHECK_EQ(weft_schedule_to(&((struct request *)arg)->wait), 0);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int by_others(void *unused)
{
	struct request r;

	(void)unused;
	request_init(&r, true);
	r.wait.stop = NULL;
	for (int i = 0; i < TEST_SIZE(300); i++) {
		pthread_t t;

		CHECK_EQ(weft_hold(), 0);
		t = thread_start(schedule_in_foreign, &r);
		CHECK_EQ(weft_suspend(&r.wait), 0);
		thread_join(t);
		CHECK_EQ(weft_go_on(weft_color_new(), schedule_in_thread, &r), 0);
		CHECK_EQ(weft_suspend(&r.wait), 0);
	}
	return 0;
}

TEST(foreign_kernel_threads_and_threads_of_other_colors_schedule)
{
	run_with(2, by_others);
}

static int switch_at_once(void *unused)
{
	struct request r, other;
	weft_scope s;

	(void)unused;
	request_init(&r, true);
	request_init(&other, true);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &other), 0);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_schedule(&other.wait), 0);
	CHECK(!other.done);
	/* Ahead of who was scheduled before. */
	CHECK_EQ(weft_schedule_to(&r.wait), 0);
	CHECK(r.done);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK(other.done);
	return 0;
}

TEST(schedule_to_lets_it_run_at_once)
{
	run_with(1, switch_at_once);
}

/* Stopping */

static int stopped_or_not(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	request_init(&r, true); /* it can be stopped */
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(r.stopped, 1);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, -ECANCELED);

	request_init(&r, false); /* it cannot: the answer comes all the same */
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(r.stopped, 1);
	CHECK_EQ(weft_yield(), 0);
	CHECK(!r.done);
	CHECK_EQ(weft_schedule(&r.wait), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, 0);
	CHECK_EQ(r.stopped, 1);

	request_init(&r, true); /* nobody knows how */
	r.wait.stop = NULL;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_yield(), 0);
	CHECK(!r.done);
	CHECK_EQ(weft_schedule(&r.wait), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, 0);
	return 0;
}

TEST(stop_says_whether_a_wait_ends)
{
	run_with(1, stopped_or_not);
}

/* The callback comes while it is stopped, as with libraries that call back from cancel. */
static int completed_by_stop(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	for (int stops = 0; stops < 2; stops++) {
		request_init(&r, stops);
		r.completes = true;
		weft_scope_begin(&s);
		CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
		CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
		CHECK_EQ(r.result, 0);
		CHECK_EQ(r.stopped, 1);
	}
	return 0;
}

TEST(a_callback_that_comes_while_it_is_stopped_counts)
{
	run_with(1, completed_by_stop);
}

static int scheduled_then_cancelled(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	request_init(&r, true);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_schedule(&r.wait), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, 0);
	CHECK_EQ(r.stopped, 0);
	return 0;
}

TEST(what_was_scheduled_is_not_stopped)
{
	run_with(1, scheduled_then_cancelled);
}

static int in_cancelled_scope(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	request_init(&r, true);
	CHECK_EQ(weft_suspend(&r.wait), -ECANCELED);
	CHECK_EQ(r.stopped, 1);
	CHECK_EQ(weft_schedule(&r.wait), 0); /* it may be used again */
	CHECK_EQ(weft_suspend(&r.wait), 0);
	CHECK_EQ(r.stopped, 1);
	request_init(&r, false);
	CHECK_EQ(weft_post(WEFT_MAIN, schedule_to_in_handler, &r), 0);
	CHECK_EQ(weft_suspend(&r.wait), 0);
	CHECK_EQ(r.stopped, 1);
	return weft_scope_end(&s);
}

TEST(a_wait_in_a_cancelled_scope_is_stopped_at_once)
{
	run_with(1, in_cancelled_scope);
}

static int deadlines(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	for (int past = 0; past < 2; past++) {
		uint64_t when = past ? 1 : weft_now() + WEFT_MS;

		request_init(&r, true);
		CHECK_EQ(weft_suspend_until(&r.wait, when), -ETIMEDOUT);
		CHECK_EQ(r.stopped, 1);
		request_init(&r, false);
		r.deadline = when;
		weft_scope_begin(&s);
		CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
		YIELD_UNTIL(r.stopped == 1);
		/* Once: a cancel does not ask again. */
		CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK_EQ(r.stopped, 1);
		CHECK(!r.done);
		CHECK_EQ(weft_schedule(&r.wait), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
		CHECK_EQ(r.result, 0);
	}
	request_init(&r, true);
	r.deadline = weft_now() + 1000 * WEFT_SEC;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_for_request, &r), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, -ECANCELED);
	return 0;
}

TEST(a_deadline_stops_a_wait)
{
	run_with(1, deadlines);
}

static int hop_and_wait(void *arg)
{
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	return wait_for_request(arg);
}

static int stop_elsewhere(void *unused)
{
	struct request r;
	weft_scope s;

	(void)unused;
	request_init(&r, true);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(hop_and_wait, &r), 0);
	CHECK_EQ(weft_sleep(WEFT_US), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(r.result, -ECANCELED);
	CHECK_EQ(r.stop_color, r.color);
	CHECK(r.color != WEFT_MAIN);
	return 0;
}

TEST(stop_runs_in_the_color_of_who_waits)
{
	run_with(2, stop_elsewhere);
}

/* A library whose callbacks come from a kernel thread of its own: a request is answered
 * or stopped, never both and never neither. */
struct library {
	pthread_mutex_t lock;
	struct call *_Atomic call;
	_Atomic bool over;
};

struct call {
	weft_wait wait;
	struct library *library;
	int answers, stops;
};

static void *answer_calls(void *arg)
{
	struct library *l = arg;

	while (!atomic_load(&l->over)) {
		struct call *c;

		pthread_mutex_lock(&l->lock);
		c = atomic_load(&l->call);
		if (c != NULL) {
			atomic_store(&l->call, NULL);
			c->answers++;
			CHECK_EQ(weft_schedule(&c->wait), 0);
		}
		pthread_mutex_unlock(&l->lock);
		sched_yield();
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static bool stop_call(weft_wait *w)
{
	struct call *c = (struct call *)w;
	struct library *l = c->library;
	bool ours;

	pthread_mutex_lock(&l->lock);
	ours = atomic_load(&l->call) == c;
	if (ours) {
		atomic_store(&l->call, NULL);
		c->stops++;
	}
	pthread_mutex_unlock(&l->lock);
	return ours;
}

static int make_call(void *arg)
{
	struct call *c = arg;
	int rc;

	c->wait = (weft_wait)WEFT_WAIT_INIT("call", stop_call);
	atomic_store(&c->library->call, c);
	rc = weft_suspend(&c->wait);
	CHECK_EQ(rc, c->stops ? -ECANCELED : 0);
	CHECK_EQ(c->stops + c->answers, 1);
	return 0;
}

static int use_library(void *unused)
{
	struct library l = { .over = false };
	uint64_t seed = TEST_SEED;
	int answers = 0, n = TEST_SIZE(3000);
	pthread_t t;

	(void)unused;
	pthread_mutex_init(&l.lock, NULL);
	CHECK_EQ(weft_hold(), 0);
	t = thread_start(answer_calls, &l);
	for (int i = 0; i < n; i++) {
		struct call c = { .library = &l };
		weft_scope s;

		weft_scope_begin(&s);
		CHECK_EQ(weft_async_call(make_call, &c), 0);
		if (random_below(&seed, 2))
			CHECK_EQ(weft_yield(), 0);
		if (random_below(&seed, 3))
			CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
		answers += c.answers;
	}
	atomic_store(&l.over, true);
	thread_join(t);
	printf("%d of %d answered\n", answers, n);
	return 0;
}

TEST(a_call_of_a_library_with_its_own_thread_is_answered_or_stopped)
{
	run_with(2, use_library);
}

/* Cancel items */

struct item {
	weft_cancel_item item;
	int runs;
	weft_color color;
	_Atomic bool added;
};

static void item_runs(void *arg)
{
	struct item *i = arg;

	i->runs++;
	i->color = weft_color_current();
}

static int items_once(void *unused)
{
	struct item a = { .runs = 0 }, b = { .runs = 0 }, c = { .runs = 0 };
	weft_scope s, in;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_cancel_item_add(&a.item, item_runs, &a), 0);
	weft_scope_begin(&in);
	CHECK_EQ(weft_cancel_item_add(&b.item, item_runs, &b), 0);
	CHECK_EQ(weft_cancel_item_add(&c.item, item_runs, &c), 0);
	CHECK_EQ(weft_cancel_item_remove(&c.item), 0);
	CHECK_EQ(weft_scope_cancel(&in), 0);
	CHECK_EQ(a.runs, 0);
	CHECK_EQ(b.runs, 1);
	CHECK_EQ(weft_cancel_item_add(&c.item, item_runs, &c), -ECANCELED);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(a.runs, 1);
	CHECK_EQ(b.runs, 1);
	CHECK_EQ(c.runs, 0);
	CHECK_EQ(weft_cancel_item_remove(&b.item), -EALREADY);
	CHECK_EQ(weft_scope_end(&in), 0);
	CHECK_EQ(weft_cancel_item_remove(&a.item), -EALREADY);
	CHECK_EQ(weft_scope_end(&s), 0);
	/* Where there is no scope nothing is ever cancelled. */
	CHECK_EQ(weft_cancel_item_add(&a.item, item_runs, &a), 0);
	CHECK_EQ(weft_cancel_item_remove(&a.item), 0);
	return 0;
}

TEST(a_cancel_item_runs_once_and_not_after_it_was_removed)
{
	struct item a;

	run_with(1, items_once);
	CHECK_EQ(weft_cancel_item_add(&a.item, item_runs, &a), -EPERM);
	CHECK_EQ(weft_cancel_item_remove(&a.item), -EPERM);
}

/* In scopes of bodies that have not waited, which lie on each other. */
static int cancels_around(void *arg)
{
	struct item i = { .runs = 0 };
	weft_scope in;

	weft_scope_begin(&in);
	CHECK_EQ(weft_cancel_item_add(&i.item, item_runs, &i), 0);
	CHECK_EQ(weft_scope_cancel(arg), 0);
	CHECK_EQ(i.runs, 1);
	CHECK_EQ(weft_open("/proc/self/exe", 0, 0), -ECANCELED); /* which need not wait */
	CHECK_EQ(weft_cancel_item_remove(&i.item), -EALREADY);
	return weft_scope_end(&in);
}

static int lies_between(void *arg)
{
	struct item i = { .runs = 0 };
	weft_scope in;

	weft_scope_begin(&in);
	CHECK_EQ(weft_cancel_item_add(&i.item, item_runs, &i), 0);
	CHECK_EQ(weft_async_call(cancels_around, arg), 0);
	CHECK_EQ(weft_cancel_item_remove(&i.item), -EALREADY);
	CHECK_EQ(i.runs, 1);
	return weft_scope_end(&in);
}

static int cancelled_from_above(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(lies_between, &s), 0);
	CHECK(weft_cancelled());
	return weft_scope_end(&s);
}

TEST(bodies_that_have_not_waited_are_told_at_once_by_one_on_top_of_them)
{
	run_with(1, cancelled_from_above);
}

/* One that ends its thread cannot take its item back. */
static weft_scope reused_scope;

static int exits_with_item(void *arg)
{
	struct item *i = arg;

	weft_scope_begin(&reused_scope);
	CHECK_EQ(weft_cancel_item_add(&i->item, item_runs, i), 0);
	weft_exit(0);
}

static int cancels_itself(void *unused)
{
	(void)unused;
	weft_scope_begin(&reused_scope);
	CHECK_EQ(weft_scope_cancel(&reused_scope), 0);
	return weft_scope_end(&reused_scope);
}

static int items_of_the_dead(void *unused)
{
	struct item i = { .runs = 0 };

	(void)unused;
	for (int k = 0; k < 3; k++) {
		CHECK_EQ(weft_async_call(exits_with_item, &i), 0);
		CHECK_EQ(weft_async_call(cancels_itself, NULL), 0);
	}
	CHECK_EQ(i.runs, 0);
	return 0;
}

TEST(an_item_of_a_thread_that_has_ended_does_not_run)
{
	run_with(1, items_of_the_dead);
}

/* With an item, in a scope or shield of its own, in a color of its own. */
static int has_item(void *arg)
{
	struct item *i = arg;
	weft_scope s;

	CHECK_EQ(weft_hop(weft_color_new()), 0);
	weft_scope_begin(&s);
	CHECK_EQ(weft_cancel_item_add(&i->item, item_runs, i), 0);
	atomic_store(&i->added, true);
	while (i->runs == 0)
		CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(i->color, weft_color_current());
	CHECK_EQ(weft_cancel_item_remove(&i->item), -EALREADY);
	return weft_scope_end(&s);
}

static int has_shielded_item(void *arg)
{
	struct item *i = arg;
	weft_scope s;

	weft_shield_begin(&s);
	CHECK_EQ(weft_cancel_item_add(&i->item, item_runs, i), 0);
	CHECK_EQ(weft_sleep(WEFT_MS), 0);
	CHECK_EQ(weft_cancel_item_remove(&i->item), 0);
	return weft_scope_end(&s);
}

static int items_elsewhere(void *unused)
{
	struct item a = { .runs = 0 }, b = { .runs = 0 };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(has_item, &a), 0);
	CHECK_EQ(weft_async_call(has_shielded_item, &b), 0);
	YIELD_UNTIL(atomic_load(&a.added));
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(a.runs, 1);
	CHECK_EQ(b.runs, 0);
	return 0;
}

TEST(a_cancel_item_runs_in_the_color_of_its_thread_even_if_that_does_not_wait)
{
	run_with(2, items_elsewhere);
}

TEST_MAIN
