/* Wait groups: who waits goes on when all is done, and not before. */
#include "threads/sync.h"

static weft_waitgroup group;
static atomic_int finished;

static int work(void *unused)
{
	(void)unused;
	weft_yield();
	atomic_fetch_add(&finished, 1);
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	return 0;
}

static int wait_for_all(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_waitgroup_wait(&group), 0);
	return atomic_load(&finished);
}

enum { WORKERS = 50 };

static int work_together(void *unused)
{
	weft_thread *t[WORKERS], *w[3];

	(void)unused;
	atomic_store(&finished, 0);
	CHECK_EQ(weft_waitgroup_wait_until(&group, 0), 0);
	CHECK_EQ(weft_waitgroup_add(&group, WORKERS), 0);
	CHECK_EQ(weft_waitgroup_wait_until(&group, 0), -ETIMEDOUT);
	for (int i = 0; i < 3; i++)
		w[i] = start(wait_for_all, NULL);
	YIELD_UNTIL(waiting_inside(&group.home_, &group.waiters_) == 3);
	for (int i = 0; i < WORKERS; i++)
		t[i] = start(work, NULL);
	CHECK_EQ(weft_waitgroup_wait(&group), 0);
	CHECK_EQ(atomic_load(&finished), WORKERS);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(join(w[i]), WORKERS);
	for (int i = 0; i < WORKERS; i++)
		join(t[i]);
	CHECK_EQ(weft_waitgroup_fini(&group), 0);
	return 0;
}

TEST(who_waits_goes_on_when_all_is_done)
{
	run_all(work_together);
}

TEST(counting_below_zero_or_too_far_is_an_error)
{
	catch_reports();
	CHECK_EQ(weft_waitgroup_done(&group), -EINVAL);
	CHECK(reported(WEFT_REPORT_MISUSE, "tests/threads/waitgroup.c:"));
	CHECK_EQ(weft_waitgroup_add(&group, INT64_MAX), 0);
	CHECK_EQ(weft_waitgroup_add(&group, 1), -EOVERFLOW);
	CHECK_EQ(weft_waitgroup_fini(&group), -EBUSY);
	CHECK_EQ(weft_waitgroup_add(&group, -INT64_MAX), 0);
	CHECK_EQ(weft_waitgroup_fini(&group), 0);
}

static int wait_with_deadline(void *unused)
{
	(void)unused;
	return weft_waitgroup_wait_until(&group, weft_now() + 1000 * WEFT_SEC);
}

static int expire_before_and_after(void *unused)
{
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_waitgroup_add(&group, 1), 0);
	t = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	expire_now(t);
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);

	CHECK_EQ(weft_waitgroup_add(&group, 1), 0);
	t = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	CHECK_EQ(weft_waitgroup_add(&group, 1), 0); /* it has been 0 */
	expire_now(t);
	CHECK_EQ(join(t), 0);
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	return 0;
}

TEST(a_deadline_after_the_end_changes_nothing)
{
	run_with(2, expire_before_and_after);
}

/* Rounds of work by foreign kernel threads and threads, and waits with deadlines. */
static long plain[4];

static void work_foreign(void *arg)
{
	(*(long *)arg)++;
	CHECK_EQ(weft_waitgroup_done(&group), 0);
}

static int work_thread(void *arg)
{
	work_foreign(arg);
	return 0;
}

static int work_in_rounds(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f[2];

	(void)unused;
	memset(plain, 0, sizeof plain);
	for (int round = 1; round <= TEST_SIZE(300); round++) {
		CHECK_EQ(weft_waitgroup_add(&group, 4), 0);
		for (int i = 0; i < 2; i++)
			foreign_start(&f[i], work_foreign, &plain[i]);
		for (int i = 2; i < 4; i++)
			CHECK_EQ(weft_go_on(weft_color_new(), work_thread, &plain[i]), 0);
		while (weft_waitgroup_wait_until(&group, soon(&seed)) == -ETIMEDOUT)
			;
		for (int i = 0; i < 4; i++)
			CHECK_EQ(plain[i], round);
		for (int i = 0; i < 2; i++)
			foreign_join(&f[i]);
	}
	return 0;
}

TEST(what_was_done_is_seen_by_who_waited)
{
	run_with(2, work_in_rounds);
}

TEST_MAIN
