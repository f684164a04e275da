/* Bodies and scopes where it is rare: plain handlers, callbacks that cancel, forks. */
#include "scheduler/common.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "base/compiler.h"

/* What a body of a handler starts runs, and in that handler's color. */
static _Atomic int started, misplaced;

static int child(void *color)
{
	atomic_fetch_add(&started, 1);
	if (weft_color_current() != (weft_color)(uintptr_t)color)
		atomic_fetch_add(&misplaced, 1);
	return 0;
}

static int starts_and_returns(void *color)
{
	CHECK_EQ(weft_go(child, color), 0);
	return 0;
}

static int starts_and_waits(void *color)
{
	CHECK_EQ(weft_go(child, color), 0);
	return weft_sleep(WEFT_US);
}

static void handler(void *color)
{
	CHECK_EQ(weft_async_call(starts_and_returns, color), 0);
	CHECK_EQ(weft_async_call(starts_and_waits, color), 0);
}

static int post_handlers(void *unused)
{
	(void)unused;
	for (int i = 1; i <= 100; i++) {
		CHECK_EQ(weft_post((weft_color)i, handler, (void *)(uintptr_t)i), 0);
		CHECK_EQ(weft_yield(), 0);
	}
	return weft_sleep(WEFT_MS);
}

TEST(what_a_body_of_a_handler_starts_runs_in_the_color_of_the_handler)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(post_handlers, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&started), 200);
	CHECK_EQ(atomic_load(&misplaced), 0);
}

/* One who is told of a cancel cancels the scope of another who is about to be told. */
static weft_scope *inner;

static void cancel_inner(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_scope_cancel(inner), 0);
}

static int cancels_inner(void *unused)
{
	weft_cancel_item item;

	(void)unused;
	CHECK_EQ(weft_cancel_item_add(&item, cancel_inner, NULL), 0);
	CHECK_EQ(weft_sleep(WEFT_SEC * 1000), -ECANCELED);
	CHECK_EQ(weft_cancel_item_remove(&item), -EALREADY);
	return 0;
}

static int owns_inner(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	inner = &s;
	CHECK_EQ(weft_sleep(WEFT_SEC * 1000), -ECANCELED);
	return weft_scope_end(&s);
}

static int sleeps(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_sleep(WEFT_SEC * 1000), -ECANCELED);
	return 0;
}

static int cancel_in_cancel(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(cancels_inner, NULL), 0);
	CHECK_EQ(weft_async_call(owns_inner, NULL), 0);
	CHECK_EQ(weft_async_call(sleeps, NULL), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	return weft_scope_end(&s);
}

TEST(who_is_told_of_a_cancel_may_cancel)
{
	CHECK_EQ(weft_run(cancel_in_cancel, NULL, NULL), 0);
}

/* Readers of the color of those who wait, at the same time. */
struct readers {
	weft_scope outer, inner;
	_Atomic int came;
};

static void cancel_outer_shared(void *arg)
{
	struct readers *r = arg;

	(void)weft_scope_cancel(&r->outer);
	atomic_fetch_add(&r->came, 1);
}

static void cancel_inner_shared(void *arg)
{
	struct readers *r = arg;

	(void)weft_scope_cancel(&r->inner);
	atomic_fetch_add(&r->came, 1);
}

static int cancel_shared(void *unused)
{
	(void)unused;
	for (int i = 0; i < (int)TEST_SIZE(1000); i++) {
		struct readers r = { .came = 0 };

		weft_scope_begin(&r.outer);
		CHECK_EQ(weft_async_call(sleeps, NULL), 0);
		weft_scope_begin(&r.inner);
		for (int j = 0; j < 5; j++)
			CHECK_EQ(weft_async_call(sleeps, NULL), 0);
		CHECK_EQ(weft_post_shared(WEFT_MAIN, cancel_outer_shared, &r), 0);
		CHECK_EQ(weft_post_shared(WEFT_MAIN, cancel_inner_shared, &r), 0);
		while (atomic_load(&r.came) < 2)
			CHECK_EQ(weft_yield(), 0);
		CHECK_EQ(weft_scope_end(&r.inner), 0);
		CHECK_EQ(weft_scope_end(&r.outer), 0);
	}
	return 0;
}

TEST(readers_of_a_color_may_cancel_at_a_time)
{
	weft_options opt = { .workers = 4 };

	CHECK_EQ(weft_run(cancel_shared, NULL, &opt), 0);
}

/* Colors where nobody but bodies is ready are worth stealing. */
static _Atomic int seen[2];

static int yields_until_stolen(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_yield(), 0);
	while (atomic_load(&seen[0]) == 0 || atomic_load(&seen[1]) == 0) {
		uint64_t until = weft_now() + 100 * WEFT_US;

		while (weft_now() < until)
			;
		atomic_fetch_add(&seen[weft_worker_current()], 1);
		CHECK_EQ(weft_yield(), 0);
	}
	return 0;
}

static int starts_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_async_call(yields_until_stolen, NULL), 0);
	return 0;
}

static int unpin(void *unused)
{
	(void)unused;
	for (int i = 1; i <= 2; i++) {
		CHECK_EQ(weft_color_pin((weft_color)i, 0), 0);
		CHECK_EQ(weft_go_on((weft_color)i, starts_some, NULL), 0);
	}
	CHECK_EQ(weft_sleep(10 * WEFT_MS), 0);
	for (int i = 1; i <= 2; i++)
		CHECK_EQ(weft_color_pin((weft_color)i, -1), 0);
	return 0;
}

TEST(colors_of_bodies_are_stolen)
{
	weft_options opt = { .workers = 2, .stall_ms = -1 };

	CHECK_EQ(weft_run(unpin, NULL, &opt), 0);
}

/* A child that comes back from the body where it was forked has no runtime there either. */
static int forks(void *arg)
{
	weft_scope s;

	weft_scope_begin(&s);
	*(pid_t *)arg = fork();
	CHECK_EQ(weft_scope_end(&s), 0);
	return 0;
}

static int fork_in_body(void *unused)
{
	pid_t pid = -1;
	int status = 0;

	(void)unused;
	CHECK_EQ(weft_async_call(forks, &pid), 0);
	if (pid == 0)
		_exit(weft_self() != NULL || weft_yield() != -ESHUTDOWN ||
		      weft_async_call(forks, &pid) != -EPERM);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	return 0;
}

TEST(a_forked_child_leaves_the_body_where_it_was_forked)
{
#ifdef WF_TSAN
	SKIP("ThreadSanitizer knows nothing of the child's switches");
#endif
	CHECK_EQ(weft_run(fork_in_body, NULL, NULL), 0);
}

/* Bodies that lie on each other, some of which wait, or have something to tidy up, or are
 * too many: each has a stack of its own. */
static uint64_t chance;
static int lived;

static int lies_on_others(void *depth)
{
	unsigned char mine[512], own = (unsigned char)test_random(&chance);

	memset(mine, own, sizeof mine);
	__asm__ volatile("" : : "r"(mine) : "memory");
	for (int i = 0; i < 3; i++) {
		unsigned what = (unsigned)test_random(&chance) % 8;

		if (what < 4 && (intptr_t)depth > 0)
			CHECK_EQ(weft_async_call(lies_on_others, (void *)((intptr_t)depth - 1)), 0);
		else if (what == 4)
			CHECK_EQ(weft_thread_set_name(NULL, "untidy"), 0);
		else if (what == 5)
			CHECK_EQ(weft_yield(), 0);
		__asm__ volatile("" : : "r"(mine) : "memory");
		for (size_t k = 0; k < sizeof mine; k++)
			CHECK_EQ(mine[k], own);
	}
	lived++;
	return 0;
}

static int let_them_lie(void *unused)
{
	weft_scope all;

	(void)unused;
	for (int i = 0; i < 300; i++) {
		weft_scope_begin(&all);
		CHECK_EQ(weft_async_call(lies_on_others, (void *)8), 0);
		CHECK_EQ(weft_scope_end(&all), 0);
	}
	return 0;
}

TEST(bodies_that_lie_on_each_other_have_a_stack_each)
{
	weft_options opt = { .workers = 1 };

	chance = TEST_SEED;
	CHECK_EQ(weft_run(let_them_lie, NULL, &opt), 0);
	CHECK(lived >= 300);
}

TEST_MAIN
