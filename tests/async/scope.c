/* Scopes by function: bodies run at once, finish waits for all, errors are gathered. */
#include "scheduler/common.h"

#include <weft/weft.h>

static int log_[64], logged;

static void note(int what)
{
	log_[logged++] = what;
}

static void check_log(const int *want, int n)
{
	CHECK_EQ(logged, n);
	for (int i = 0; i < n; i++)
		CHECK_EQ(log_[i], want[i]);
	logged = 0;
}

#define CHECK_LOG(...) \
	do { \
		const int want_[] = { __VA_ARGS__ }; \
		check_log(want_, (int)(sizeof want_ / sizeof *want_)); \
	} while (0)

static int body_plain(void *arg)
{
	note((int)(intptr_t)arg);
	return 0;
}

static int body_yields(void *arg)
{
	note((int)(intptr_t)arg);
	CHECK_EQ(weft_yield(), 0);
	note((int)(intptr_t)arg + 100);
	return 0;
}

static int order(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(body_plain, (void *)1), 0);
	note(2);
	CHECK_EQ(weft_async_call(body_yields, (void *)3), 0);
	note(4);
	CHECK_EQ(weft_async_call(body_yields, (void *)5), 0);
	note(6);
	CHECK_EQ(weft_scope_end(&s), 0);
	note(7);
	CHECK_LOG(1, 2, 3, 4, 5, 6, 103, 105, 7);
	return 0;
}

TEST(a_body_runs_at_once_and_its_caller_goes_on_when_it_waits)
{
	CHECK_EQ(weft_run(order, NULL, NULL), 0);
}

static void one_of_many(void)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(body_yields, (void *)1), 0);
	CHECK_EQ(weft_async_call(body_plain, (void *)2), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_LOG(1, 2, 101);
}

static int many(void *unused)
{
	weft_stats_all before, after;

	(void)unused;
	one_of_many();
	CHECK(weft_stats(&before, NULL, 0) >= 0);
	for (int i = 0; i < TEST_SIZE(20000); i++)
		one_of_many();
	CHECK(weft_stats(&after, NULL, 0) >= 0);
	CHECK_EQ(after.stacks, before.stacks);
	return 0;
}

TEST(scopes_one_after_the_other_use_the_same_stacks)
{
	CHECK_EQ(weft_run(many, NULL, &(weft_options){ .workers = 1 }), 0);
}

static int fib(void *arg);

struct fib {
	int n, result;
};

static int fib_of(int n)
{
	struct fib a = { .n = n - 1 }, b = { .n = n - 2 };
	weft_scope s;

	if (n < 2)
		return n;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(fib, &a), 0);
	CHECK_EQ(weft_async_call(fib, &b), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	return a.result + b.result;
}

static int fib(void *arg)
{
	struct fib *f = arg;

	if (f->n % 3 == 0)
		CHECK_EQ(weft_yield(), 0);
	f->result = fib_of(f->n);
	if (f->n % 4 == 0)
		CHECK_EQ(weft_yield(), 0);
	return 0;
}

static int run_fib(void *unused)
{
	(void)unused;
	return fib_of(16);
}

TEST(bodies_start_bodies)
{
	CHECK_EQ(weft_run(run_fib, NULL, NULL), 987);
}

static int deep(void *arg)
{
	intptr_t n = (intptr_t)arg;
	weft_scope s;

	if (n == 0)
		return weft_yield();
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(deep, (void *)(n - 1)), 0);
	return weft_scope_end(&s);
}

static int run_deep(void *unused)
{
	(void)unused;
	deep((void *)400);
	return deep((void *)1000);
}

TEST(four_hundred_bodies_deep_one_waits_at_the_bottom)
{
	CHECK_EQ(weft_run(run_deep, NULL, NULL), 0);
}

static int sleeps(void *arg)
{
	int *rc = arg;

	*rc = weft_sleep(1000 * WEFT_SEC);
	return 0;
}

static int cancel_sleepers(void *unused)
{
	int rc[5] = { 0 };
	weft_scope s, inner;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(sleeps, &rc[0]), 0);
	weft_scope_begin(&inner);
	CHECK_EQ(weft_async_call(sleeps, &rc[1]), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), sleeps, &rc[3]), 0);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_scope_cancel(&inner), 0);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_scope_cancel(&inner), -EALREADY);
	CHECK_EQ(weft_sleep(1), -ECANCELED);
	CHECK_EQ(weft_async_call(sleeps, &rc[2]), 0);
	CHECK_EQ(weft_scope_end(&inner), 0);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_sleep(1), 0);
	CHECK_EQ(weft_scope_fail(&s, -EIO), 0);
	CHECK_EQ(weft_scope_end(&s), -EIO);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(rc[i], -ECANCELED);
	return 0;
}

TEST(cancelling_ends_the_waits_of_a_scope_and_of_no_other)
{
	weft_options opt = { .workers = 2 };

	CHECK_EQ(weft_run(cancel_sleepers, NULL, &opt), 0);
}

static int with_deadline(void *unused)
{
	int rc[2] = { 0 };
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	CHECK_EQ(weft_async_call(sleeps, &rc[0]), 0);
	sleeps(&rc[1]);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	CHECK_EQ(rc[0], -ECANCELED);
	CHECK_EQ(rc[1], -ECANCELED);
	return 0;
}

TEST(a_deadline_cancels_a_scope)
{
	CHECK_EQ(weft_run(with_deadline, NULL, NULL), 0);
}

TEST_MAIN
