/* Bodies that hop run in parallel, and still belong to their scope: it counts them, and
 * cancels them, wherever they are.
 */
#include "scheduler/common.h"

#include <weft/weft.h>

enum { COLORS = 6 };

static weft_color colors[COLORS];

static void make_colors(void)
{
	for (int i = 0; i < COLORS; i++)
		colors[i] = weft_color_new();
}

static unsigned next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33);
}

static _Atomic int running, ended;

struct task {
	uint64_t seed;
	int depth;
	weft_scope *outer;
};

static int wander(void *arg);

/* Starts some, in a scope of its own, and perhaps cancels that. */
static void start_some(struct task *t)
{
	int n = (int)(next(&t->seed) % 3) + 1;
	struct task kids[3];
	weft_scope s;

	if (next(&t->seed) % 8 == 0)
		weft_shield_begin(&s);
	else
		weft_scope_begin(&s);
	if (next(&t->seed) % 4 == 0)
		CHECK_EQ(weft_hop(colors[next(&t->seed) % COLORS]), 0);
	for (int i = 0; i < n; i++) {
		kids[i] =
			(struct task){ .seed = next(&t->seed), .depth = t->depth - 1, .outer = &s };
		if (next(&t->seed) % 3 == 0)
			CHECK_EQ(weft_go_on(colors[next(&t->seed) % COLORS], wander, &kids[i]), 0);
		else
			CHECK_EQ(weft_async_call(wander, &kids[i]), 0);
	}
	if (next(&t->seed) % 3 == 0)
		CHECK_EQ(weft_hop(colors[next(&t->seed) % COLORS]), 0);
	/* What waits for long is cancelled by somebody, here at the latest. */
	(void)weft_scope_cancel(&s);
	(void)weft_scope_end(&s);
	for (int i = 0; i < n; i++)
		CHECK_EQ(kids[i].depth, -1);
}

static int wander(void *arg)
{
	struct task *t = arg;
	int steps = (int)(next(&t->seed) % 6);

	atomic_fetch_add(&running, 1);
	for (int i = 0; i < steps; i++) {
		switch (next(&t->seed) % 7) {
		case 0:
			CHECK_EQ(weft_hop(colors[next(&t->seed) % COLORS]), 0);
			break;
		case 1:
			CHECK_EQ(weft_yield(), 0);
			break;
		case 2:
			(void)weft_sleep(next(&t->seed) % 20 * WEFT_US);
			break;
		case 3:
			/* For ever, unless somebody cancels it. */
			CHECK_EQ(weft_sleep(100000 * WEFT_SEC), -ECANCELED);
			CHECK(weft_cancelled());
			CHECK_EQ(weft_sleep(100000 * WEFT_SEC), -ECANCELED);
			break;
		case 4:
			if (next(&t->seed) % 2 == 0)
				(void)weft_scope_cancel(t->outer);
			break;
		default:
			if (t->depth > 0)
				start_some(t);
		}
	}
	t->depth = -1;
	atomic_fetch_sub(&running, 1);
	atomic_fetch_add(&ended, 1);
	return 0;
}

static int wander_all(void *arg)
{
	uint64_t seed = *(uint64_t *)arg;
	int rounds = (int)TEST_SIZE(500);

	make_colors();
	for (int i = 0; i < rounds; i++) {
		struct task top = { .seed = next(&seed), .depth = 4 };
		weft_scope s;

		weft_scope_begin(&s);
		top.outer = &s;
		CHECK_EQ(weft_async_call(wander, &top), 0);
		if (i % 2 == 0)
			CHECK_EQ(weft_hop(colors[next(&seed) % COLORS]), 0);
		(void)weft_yield();
		(void)weft_scope_cancel(&s);
		CHECK_EQ(weft_scope_end(&s), 0);
		CHECK_EQ(atomic_load(&running), 0);
	}
	return 0;
}

TEST(scopes_count_and_cancel_bodies_that_wander_through_colors)
{
	uint64_t seed = TEST_SEED;
	weft_options opt = { .workers = 4 };

	CHECK_EQ(weft_run(wander_all, &seed, &opt), 0);
	CHECK(atomic_load(&ended) > 0);
}

/* Two cancels at a time, of scopes one in the other, from different colors. */
struct both {
	weft_scope outer, inner;
	_Atomic int gate;
};

static int cancel_outer(void *arg)
{
	struct both *b = arg;

	atomic_fetch_add(&b->gate, 1);
	(void)weft_scope_cancel(&b->outer);
	return 0;
}

static int sleep_in_color(void *arg)
{
	CHECK_EQ(weft_hop(colors[(uintptr_t)arg % COLORS]), 0);
	CHECK_EQ(weft_sleep(100000 * WEFT_SEC), -ECANCELED);
	return 0;
}

static int cancel_both(void *unused)
{
	(void)unused;
	make_colors();
	for (int i = 0; i < (int)TEST_SIZE(1000); i++) {
		struct both b = { .gate = 0 };

		weft_scope_begin(&b.outer);
		CHECK_EQ(weft_async_call(sleep_in_color, (void *)(uintptr_t)(i + 1)), 0);
		weft_scope_begin(&b.inner);
		CHECK_EQ(weft_async_call(sleep_in_color, (void *)(uintptr_t)(i + 2)), 0);
		CHECK_EQ(weft_async_call(sleep_in_color, (void *)(uintptr_t)(i + 3)), 0);
		CHECK_EQ(weft_go_on(colors[i % COLORS], cancel_outer, &b), 0);
		if (i % 2 == 0)
			(void)weft_scope_cancel(&b.inner);
		CHECK_EQ(weft_scope_end(&b.inner), 0);
		CHECK_EQ(weft_scope_end(&b.outer), 0);
	}
	return 0;
}

TEST(two_may_cancel_at_a_time)
{
	weft_options opt = { .workers = 4 };

	CHECK_EQ(weft_run(cancel_both, NULL, &opt), 0);
}

/* A thousand scopes deep in one thread, and a body in each: cancelled at the top. */
static int nest(void *arg)
{
	intptr_t depth = (intptr_t)arg;
	weft_scope s;

	if (depth == 0) {
		CHECK_EQ(weft_sleep(100000 * WEFT_SEC), -ECANCELED);
		return 0;
	}
	weft_scope_begin(&s);
	if (depth % 2 == 0)
		CHECK_EQ(weft_async_call(nest, (void *)(depth - 1)), 0);
	else
		CHECK_EQ(nest((void *)(depth - 1)), 0);
	CHECK(weft_cancelled() || depth % 2 == 0);
	return weft_scope_end(&s);
}

static int cancel_nest(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(nest, (void *)1000), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	return weft_scope_end(&s);
}

TEST(cancelling_reaches_a_thousand_scopes_deep)
{
	CHECK_EQ(weft_run(cancel_nest, NULL, NULL), 0);
}

TEST_MAIN
