/* reach.c - a cancel finds whom it is meant for, wherever they are: in other colors, on
 * the way to one, in bodies that have not waited, and in scopes that were begun inside. */
#include "threads/common.h"

#include <weft/weft.h>

#include "threads/thread.h"

static void run_with(int workers, weft_thread_fn *fn)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

/* A kernel thread that cancels a scope when told to. */
struct canceller {
	weft_scope *scope;
	pthread_t thread;
	_Atomic bool go, done;
};

static void *cancel_when_told(void *arg)
{
	struct canceller *c = arg;

	WAIT_FOR(atomic_load(&c->go));
	CHECK_EQ(weft_scope_cancel(c->scope), 0);
	atomic_store(&c->done, true);
	return NULL;
}

static void start_canceller(struct canceller *c, weft_scope *s)
{
	*c = (struct canceller){ .scope = s };
	c->thread = thread_start(cancel_when_told, c);
}

/* Nothing else of the color runs before the scope is cancelled. */
static void have_it_cancelled(struct canceller *c)
{
	atomic_store(&c->go, true);
	WAIT_FOR(atomic_load(&c->done));
}

/* Bodies that have not waited: no scope knows them yet */

static int waits_behind_cancel(void *arg)
{
	have_it_cancelled(arg);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	return 0;
}

static int waits_in_its_own_scope(void *arg)
{
	weft_scope s, in;

	weft_scope_begin(&s);
	weft_scope_begin(&in);
	have_it_cancelled(arg);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&in), 0);
	CHECK(weft_cancelled());
	return weft_scope_end(&s);
}

static int is_shielded(void *arg)
{
	weft_scope s;

	weft_shield_begin(&s);
	have_it_cancelled(arg);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_sleep(1), 0);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK(weft_cancelled());
	return 0;
}

static int hops_behind_cancel(void *arg)
{
	weft_scope s;

	weft_scope_begin(&s);
	have_it_cancelled(arg);
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	return weft_scope_end(&s);
}

static _Atomic long posted, counted;

static void count(void *unused)
{
	(void)unused;
	counted++;
}

/* It does not wait at all, but its scope's cancel is still to be told to it. What is queued
 * behind that must not suffer if its record is used again. */
static int cancels_its_own(void *arg)
{
	struct canceller c;
	weft_scope s;

	(void)arg;
	weft_scope_begin(&s);
	start_canceller(&c, &s);
	have_it_cancelled(&c);
	posted++;
	CHECK_EQ(weft_post(weft_color_current(), count, NULL), 0);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK(!weft_cancelled());
	thread_join(c.thread);
	return 0;
}

static int unparted(void *unused)
{
	weft_thread_fn *const all[] = { waits_behind_cancel, waits_in_its_own_scope, is_shielded,
					hops_behind_cancel };

	(void)unused;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct canceller c;
		weft_scope s;

		weft_scope_begin(&s);
		start_canceller(&c, &s);
		CHECK_EQ(weft_async_call(all[i], &c), 0);
		CHECK(weft_cancelled());
		CHECK_EQ(weft_scope_end(&s), 0);
		thread_join(c.thread);
	}
	return 0;
}

TEST(a_body_that_has_not_waited_is_reached_from_another_color)
{
	run_with(2, unparted);
}

static int own_scopes(void *unused)
{
	(void)unused;
	for (int i = 0; i < TEST_SIZE(1000); i++)
		CHECK_EQ(weft_async_call(cancels_its_own, NULL), 0);
	return 0;
}

TEST(a_body_may_end_before_it_was_told_that_its_scope_is_cancelled)
{
	run_with(2, own_scopes);
	CHECK_EQ(counted, posted);
}

static int own_scope_of_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < TEST_SIZE(500); i++)
		(void)join(start(cancels_its_own, NULL));
	return 0;
}

TEST(so_may_a_thread)
{
	many_colors = false;
	run_with(2, own_scope_of_thread);
	many_colors = true;
	run_with(3, own_scope_of_thread);
	CHECK_EQ(counted, posted);
}

/* A loop that never waits */

static int loop_inside(void *arg)
{
	struct canceller *c = arg;
	weft_scope s;

	CHECK_EQ(weft_hop(weft_color_new()), 0);
	weft_scope_begin(&s);
	atomic_store(&c->go, true);
	WAIT_FOR(weft_cancelled());
	return weft_scope_end(&s);
}

static int long_loop(void *unused)
{
	struct canceller c;
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	start_canceller(&c, &s);
	CHECK_EQ(weft_async_call(loop_inside, &c), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	thread_join(c.thread);
	return 0;
}

TEST(a_long_loop_in_a_scope_of_its_own_can_ask)
{
	run_with(2, long_loop);
}

/* Two cancels at once */

struct two {
	weft_scope *outer, *inner;
	_Atomic bool begun, ended;
	uint64_t seed;
};

static void wait_a_bit(uint64_t seed)
{
	for (uint64_t n = test_random(&seed) % 300; n > 0; n--)
		(void)weft_now();
}

static int cancel_outer(void *arg)
{
	struct two *two = arg;

	WAIT_FOR(atomic_load(&two->begun));
	wait_a_bit(two->seed);
	CHECK_EQ(weft_scope_cancel(two->outer), 0);
	atomic_store(&two->ended, true);
	return 0;
}

static int cancel_inner(void *arg)
{
	struct two *two = arg;
	int rc;

	WAIT_FOR(atomic_load(&two->begun));
	wait_a_bit(two->seed + 1);
	rc = weft_scope_cancel(two->inner);
	CHECK(rc == 0 || rc == -EALREADY);
	return 0;
}

/* Sleeps in each, innermost first: each sleep ends by the one cancel or the other. */
static int sleep_in_both(void *arg)
{
	weft_thread_attr attr = { .on = true, .color = weft_color_new(), .apart = true };
	struct two *two = arg;
	weft_scope outer, inner;

	weft_scope_begin(&outer);
	two->outer = &outer;
	weft_scope_begin(&inner);
	two->inner = &inner;
	CHECK_EQ(weft_go_on(weft_color_new(), cancel_inner, two), 0);
	CHECK_EQ(weft_thread_start(NULL, &attr, cancel_outer, two), 0);
	atomic_store(&two->begun, true);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&inner), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	while (!atomic_load(&two->ended))
		CHECK_EQ(weft_yield(), 0);
	return weft_scope_end(&outer);
}

static int two_cancels(void *unused)
{
	uint64_t seed = TEST_SEED;

	(void)unused;
	for (int i = 0; i < TEST_SIZE(1500); i++) {
		struct two two = { .seed = test_random(&seed) };
		weft_scope s;

		weft_scope_begin(&s);
		CHECK_EQ(weft_go_on(weft_color_new(), sleep_in_both, &two), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
	}
	return 0;
}

TEST(of_two_cancels_at_once_none_is_missed)
{
	run_with(3, two_cancels);
}

/* The second comes while the first is being told: the item of the first is where the
 * kernel thread cancels again. */
static void have_more_cancelled(void *canceller)
{
	have_it_cancelled(canceller);
}

static int sleep_in_three(void *unused)
{
	struct canceller first, second;
	weft_scope outer, mid, inner;
	weft_cancel_item item;

	(void)unused;
	weft_scope_begin(&outer);
	weft_scope_begin(&mid);
	weft_scope_begin(&inner);
	start_canceller(&first, &inner);
	start_canceller(&second, &outer);
	CHECK_EQ(weft_cancel_item_add(&item, have_more_cancelled, &second), 0);
	atomic_store(&first.go, true);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_cancel_item_remove(&item), -EALREADY);
	CHECK_EQ(weft_scope_end(&inner), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&mid), 0);
	CHECK_EQ(weft_scope_end(&outer), 0);
	thread_join(first.thread);
	thread_join(second.thread);
	return 0;
}

TEST(a_cancel_that_comes_while_another_is_told_is_told_too)
{
	run_with(1, sleep_in_three);
}

/* A thread whose kick is on its way to the color that it has left */

struct mover {
	weft_scope *_Atomic scope;
	weft_thread *thread;
	int result;
};

static int move_and_wait(void *arg)
{
	struct mover *m = arg;
	weft_scope shield, s;

	CHECK_EQ(weft_hop(weft_color_new()), 0);
	weft_shield_begin(&shield);
	weft_scope_begin(&s);
	m->thread = weft_self();
	atomic_store(&m->scope, &shield);
	m->result = weft_sleep(1000 * WEFT_SEC);
	CHECK_EQ(weft_scope_end(&s), 0);
	return weft_scope_end(&shield);
}

/* Our color has no turn, and so the first kick does not run, before the second cancel. */
static int kick_behind(void *unused)
{
	struct mover m = { .scope = NULL };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_async_call(move_and_wait, &m), 0);
	WAIT_FOR(atomic_load(&m.scope) != NULL);
	WAIT_FOR(atomic_load(&m.thread->wait) != NULL);
	CHECK_EQ(weft_scope_cancel(m.scope), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(m.result, -ECANCELED);
	return 0;
}

TEST(a_kick_goes_after_a_thread_that_has_left)
{
	/* We keep our worker: the other one finds the thread when that is noticed. */
	weft_options opt = { .workers = 2, .stall_ms = 1 };

	catch_reports();
	CHECK_EQ(weft_run(kick_behind, NULL, &opt), 0);
}

/* Those who are always on their way */

struct wanderer {
	weft_color color[3];
	uint64_t seed;
	int hops;
};

static int wander(void *arg)
{
	struct wanderer *w = arg;
	weft_scope s;

	weft_scope_begin(&s);
	while (!weft_cancelled()) {
		CHECK_EQ(weft_hop(w->color[random_below(&w->seed, 3)]), 0);
		w->hops++;
		if (random_below(&w->seed, 4) == 0 && weft_sleep(1000 * WEFT_SEC) != -ECANCELED)
			CHECK(false);
	}
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	return weft_scope_end(&s);
}

static int cancel_wanderers(void *unused)
{
	enum { MANY = 8 };
	weft_color color[3] = { weft_color_new(), weft_color_new(), weft_color_new() };
	uint64_t seed = TEST_SEED;

	(void)unused;
	for (int i = 0; i < TEST_SIZE(600); i++) {
		struct wanderer w[MANY];
		weft_scope s;

		weft_scope_begin(&s);
		for (int k = 0; k < MANY; k++) {
			w[k] = (struct wanderer){ .seed = test_random(&seed) };
			memcpy(w[k].color, color, sizeof color);
			CHECK_EQ(weft_async_call(wander, &w[k]), 0);
		}
		wait_a_bit(test_random(&seed));
		CHECK_EQ(weft_hop(color[random_below(&seed, 3)]), 0);
		CHECK_EQ(weft_scope_cancel(&s), 0);
		CHECK_EQ(weft_scope_end(&s), 0);
	}
	return 0;
}

TEST(threads_that_hop_all_the_time_are_reached)
{
	run_with(2, cancel_wanderers);
	run_with(4, cancel_wanderers);
}

/* One cancel brings about another */

struct chain {
	weft_scope *scope;
	int woken;
};

static void cancel_other(void *arg)
{
	CHECK_EQ(weft_scope_cancel(((struct chain *)arg)->scope), 0);
}

static int has_link(void *arg)
{
	struct chain *c = arg;
	weft_cancel_item item;

	CHECK_EQ(weft_cancel_item_add(&item, cancel_other, c), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_cancel_item_remove(&item), -EALREADY);
	c->woken++;
	return 0;
}

static int owns_another(void *arg)
{
	struct chain *c = arg;
	weft_scope s;

	weft_shield_begin(&s);
	c->scope = &s;
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	c->woken++;
	return weft_scope_end(&s);
}

static int just_sleeps(void *arg)
{
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	((struct chain *)arg)->woken++;
	return 0;
}

/* The first one's item tells the second while that, and the third, are still to be told. */
static int linked(void *unused)
{
	struct chain c = { .woken = 0 };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(has_link, &c), 0);
	CHECK_EQ(weft_async_call(owns_another, &c), 0);
	CHECK_EQ(weft_async_call(just_sleeps, &c), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(c.woken, 3);
	return 0;
}

TEST(a_cancel_item_may_cancel_another_scope)
{
	run_with(1, linked);
}

TEST_MAIN
