/* A closure lives as long as control or an event needs it (T1: R1, I1), belongs to one color, and a
 * call for which there is none is refused. */
#include "handmade.h"

#include "base/fault.h"

static int_event made, made2;
static _Atomic int result;

static int a_life(void *unused)
{
	(void)unused;
	CHECK_EQ(closures(), 0);
	sum(1, &made, &result);
	CHECK_EQ(closures(), 1);
	CHECK_EQ(events(), 1);
	weft_trigger(made, 4);
	settle();
	CHECK_EQ(atomic_load(&result), 4);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_closure_lives_until_its_function_ends)
{
	CHECK_EQ(run_on(1, a_life, NULL), 0);
}

static int no_wait(void *unused)
{
	(void)unused;
	sum(0, &made, &result);
	CHECK_EQ(closures(), 0);
	return atomic_load(&result);
}

TEST(a_call_that_need_not_wait_has_ended_when_it_returns)
{
	atomic_store(&result, 7);
	CHECK_EQ(run_on(1, no_wait, NULL), 0);
}

enum { MANY = 300 };

static int many_at_once(void *unused)
{
	static int_event e[MANY][3];
	static _Atomic int results[MANY];

	(void)unused;
	for (int i = 0; i < MANY; i++)
		sum(3, e[i], &results[i]);
	CHECK_EQ(closures(), MANY);
	CHECK_EQ(events(), 3 * MANY);
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < MANY; i++)
			weft_trigger(e[(i * 7 + k) % MANY][k], (i * 7 + k) % MANY * (k + 1));
	settle();
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(atomic_load(&results[i]), 6 * i);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(closures_are_apart_from_each_other)
{
	for (int i = 0; i < 3; i++)
		CHECK_EQ(run_on(1, many_at_once, NULL), 0);
}

/* Without checks memory goes another way. */
TEST(closures_are_apart_from_each_other_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(run_on(1, many_at_once, NULL), 0);
}

/* tamed large(int n, event(int) *made, int *result), with so many bytes of variables. */
struct large_c {
	struct add_c add;
	int *result;
	char variables[];
};
static weft_tame_function large_f;

static void large_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct large_c *c = (struct large_c *)h;
	size_t size = large_f.size - sizeof *c;

	if (h->state_ == 1) {
		for (size_t i = 0; i < size; i++)
			CHECK_EQ(c->variables[i], c->add.n);
		*c->result = c->add.a + c->add.n;
		weft_tame_leave(h);
		return;
	}
	memset(c->variables, c->add.n, size);
	c->add.join = 1;
	weft_tame_event_init(&c->add.e1.event, trigger_inside, &add_s1);
	c->add.e1.slot = &c->add.a;
	*c->add.made = (int_event)&c->add.e1;
	h->state_ = 1;
}

static int large(int n, int_event *e, int *to)
{
	struct large_c *c = (struct large_c *)weft_tame_enter(&large_f);

	if (c == NULL)
		return weft_tame_refusal(&large_f, true);
	c->add.n = n;
	c->add.made = e;
	c->result = to;
	if (weft_tame_begins(&c->add.c))
		large_body(&c->add.c);
	return 0;
}

static int two_large(void *size)
{
	int results[2] = { 0, 0 };

	large_f = add_f;
	large_f.body = large_body;
	large_f.size = (uint32_t) * (size_t *)size;
	CHECK_EQ(large(1, &made, &results[0]), 0);
	CHECK_EQ(large(2, &made2, &results[1]), 0);
	CHECK_EQ(closures(), 2);
	weft_trigger(made2, 10);
	foreign(trigger_5, &made);
	YIELD_UNTIL(results[0] != 0);
	CHECK_EQ(results[0], 6);
	CHECK_EQ(results[1], 12);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(large(3, &made, &results[0]), 0); /* is there at the end */
	return 0;
}

TEST(closures_have_any_size)
{
	size_t sizes[] = { 200, 512, 513, 3000, 4608, 4609, 16896, 16897, 70000, 1000000 };

	catch_reports();
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		CHECK_EQ(run_on(1, two_large, &sizes[i]), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], sizeof sizes / sizeof *sizes);
	trigger_5(&made); /* its run has ended */
}

static int many_large(void *unused)
{
	static int_event e[MANY];
	static int results[MANY];

	(void)unused;
	large_f = add_f;
	large_f.body = large_body;
	large_f.size = 20000;
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(large(i % 100, &e[i], &results[i]), 0);
	CHECK_EQ(closures(), MANY);
	for (int i = 0; i < MANY; i++)
		weft_trigger(e[i], 1000);
	settle();
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(results[i], i % 100 + 1000);
	CHECK_EQ(closures(), 0);
	return 0;
}

TEST(large_closures_are_all_told_of)
{
	CHECK_EQ(run_on(1, many_large, NULL), 0);
}

/* Refusal */

static int refused_once(void *unused)
{
	(void)unused;
	wf_fault_arm(1);
	add(1, &made, NULL);
	CHECK_EQ(add_refused, -ENOMEM);
	CHECK_EQ(closures(), 0);
	add_refused = 0;
	add(1, &made, NULL);
	CHECK_EQ(add_refused, 0);
	weft_trigger(made, 1);
	return 0;
}

TEST(a_call_without_memory_is_refused)
{
	catch_reports();
	CHECK_EQ(run_on(1, refused_once, NULL), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 0);
}

TEST(a_refusal_that_nobody_handles_is_reported)
{
	catch_reports();
	without_trefused = true;
	CHECK_EQ(run_on(1, refused_once, NULL), 0);
	CHECK(reported(WEFT_REPORT_MISUSE, "add.tame.c:1: no memory for a call of add()"));
}

static int large_refused(void *unused)
{
	int to;

	(void)unused;
	large_f = add_f;
	large_f.body = large_body;
	large_f.size = 100000;
	wf_fault_arm(1);
	CHECK_EQ(large(1, &made, &to), -ENOMEM);
	return 0;
}

TEST(a_large_closure_without_memory_is_refused)
{
	CHECK_EQ(run_on(1, large_refused, NULL), 0);
}

static int events_all_the_same(void *unused)
{
	int_event e[3];

	(void)unused;
	sum(0, e, &result);
	wf_fault_arm(1);
	sum(3, e, &result);
	CHECK(wf_fault_site() != NULL);
	CHECK_EQ(events(), 3);
	for (int i = 0; i < 3; i++)
		weft_trigger(e[i], 10);
	settle();
	CHECK_EQ(events(), 0);
	return atomic_load(&result);
}

TEST(events_need_no_pool)
{
	for (int i = 0; i < 2; i++)
		CHECK_EQ(run_on(1, events_all_the_same, NULL), 30);
}

TEST(a_call_without_a_runtime_is_refused)
{
	catch_reports();
	without_trefused = true;
	add(1, &made, NULL);
	CHECK_EQ(add_refused, -ESHUTDOWN);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 0);
}

/* Colors */

static _Atomic bool began;
static _Atomic weft_color began_in;
static _Atomic int began_on;

/* tamed tell_color(int on) { ... } */
static void tell_color(int on);
static void tell_color_body(void *closure)
{
	weft_tame_closure *h = closure;
	atomic_store(&began_in, weft_color_current());
	CHECK(wf_tame_in_color(wf_worker_self(), weft_color_current()));
	CHECK_EQ(((struct lend_c *)h)->x, atomic_load(&began_on));
	weft_tame_leave(h);
	atomic_store(&began, true);
}
static const weft_tame_function tell_color_f = {
	.name = "tell_color",
	.where = "tell.tame.c:1",
	.body = tell_color_body,
	.entry = (void (*)(void))tell_color,
	.size = sizeof(struct lend_c),
};

static void tell_color(int on)
{
	struct lend_c *c = (struct lend_c *)weft_tame_enter(&tell_color_f);

	CHECK(c != NULL);
	c->x = on;
	if (weft_tame_begins(&c->c))
		tell_color_body(&c->c);
}

static void call_here(void *unused)
{
	(void)unused;
	tell_color(atomic_load(&began_on));
}

static void call_in_9(void *unused)
{
	(void)unused;
	weft_ton(9, tell_color, atomic_load(&began_on));
}

static bool begins_at_once(weft_fn *fn)
{
	atomic_store(&began, false);
	atomic_fetch_add(&began_on, 1);
	fn(NULL);
	return atomic_load(&began);
}

static void expect(weft_color color)
{
	YIELD_UNTIL(atomic_load(&began));
	CHECK_EQ(atomic_load(&began_in), color);
}

static void not_at_once(void *unused)
{
	(void)unused;
	CHECK(!begins_at_once(call_here));
}

static void at_once_in_9(void *unused)
{
	(void)unused;
	CHECK(begins_at_once(call_in_9));
}

static void foreign_here(void *unused)
{
	(void)unused;
	foreign(call_here, NULL);
}

static void foreign_in_9(void *unused)
{
	(void)unused;
	foreign(call_in_9, NULL);
}

/* `alone`: no other worker can have begun it meanwhile. */
static int in_colors(void *alone)
{
	bool at_once;

	CHECK(begins_at_once(call_here));
	expect(WEFT_MAIN);
	at_once = begins_at_once(call_in_9);
	CHECK(alone == NULL || !at_once);
	expect(9);
	CHECK(begins_at_once(call_here)); /* it was aimed only once */
	expect(WEFT_MAIN);
	CHECK(!begins_at_once(foreign_here));
	expect(WEFT_MAIN);
	begins_at_once(foreign_in_9);
	expect(9);
	atomic_store(&began, false);
	CHECK_EQ(weft_post(9, at_once_in_9, NULL), 0);
	expect(9);
	atomic_store(&began, false);
	CHECK_EQ(weft_post_shared(9, not_at_once, NULL), 0);
	expect(9);
	CHECK_EQ(closures(), 0);
	return 0;
}

TEST(a_call_begins_at_once_only_in_exclusive_use_of_its_color)
{
	CHECK_EQ(run_on(1, in_colors, (void *)1), 0);
	CHECK_EQ(run_on(2, in_colors, NULL), 0);
}

TEST(a_call_begins_at_once_only_in_exclusive_use_of_its_color_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, in_colors, (void *)1), 0);
	CHECK_EQ(run_on(2, in_colors, NULL), 0);
}

/* Foreign threads call whether there is a run or not. */

static _Atomic bool enough;
static atomic_long accepted, refusals, wrong;

static void check_body(void *closure)
{
	weft_tame_closure *h = closure;
	struct large_c *c = (struct large_c *)h;

	if (c->add.n != *c->result || c->add.made != (void *)c->result)
		atomic_fetch_add(&wrong, 1);
	weft_tame_leave(h);
}

static void *call_and_call(void *arg)
{
	static const weft_tame_function small = {
		.name = "small",
		.where = "small.tame.c:1",
		.body = check_body,
		.size = sizeof(struct large_c),
	};
	weft_tame_function big = small;
	int *n = arg;

	big.size = 20000;
	for (unsigned i = 0; !atomic_load(&enough); i++) {
		const weft_tame_function *f = i % 2 ? &small : &big;
		struct large_c *c = (struct large_c *)weft_tame_enter(f);

		if (c == NULL) {
			CHECK_EQ(weft_tame_refusal(f, true), -ESHUTDOWN);
			atomic_fetch_add(&refusals, 1);
			sched_yield();
			continue;
		}
		atomic_fetch_add(&accepted, 1);
		c->add.n = *n;
		c->add.made = (void *)n;
		c->result = n;
		CHECK(!weft_tame_begins(&c->add.c));
	}
	return NULL;
}

static int until_one_more(void *unused)
{
	long before = atomic_load(&accepted);

	(void)unused;
	YIELD_UNTIL(atomic_load(&accepted) > before);
	return weft_stop();
}

TEST(foreign_threads_call_while_runs_end_and_begin)
{
	int numbers[2] = { 11, 22 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		threads[i] = thread_start(call_and_call, &numbers[i]);
	for (int i = 0; i < (int)TEST_SIZE(60) || atomic_load(&refusals) == 0; i++)
		CHECK_EQ(run_on(1, until_one_more, NULL), 0);
	atomic_store(&enough, true);
	for (int i = 0; i < 2; i++)
		thread_join(threads[i]);
	CHECK_EQ(atomic_load(&wrong), 0);
}

TEST_MAIN
