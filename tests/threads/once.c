/* Once: the first runs it, the others wait until it is done. */
#include "threads/sync.h"

static weft_once once;
static int runs;
static atomic_bool go;

static void slow(void *unused)
{
	(void)unused;
	YIELD_UNTIL(atomic_load(&go));
	runs++;
}

static int run_it(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, slow, NULL), 0);
	return runs; /* no race: it is done */
}

static int many_run_it(void *unused)
{
	weft_thread *t[8];

	(void)unused;
	once = (weft_once)WEFT_ONCE_INIT;
	runs = 0;
	atomic_store(&go, false);
	for (int i = 0; i < 8; i++)
		t[i] = start(run_it, NULL);
	YIELD_UNTIL(waiting_inside(&once.home_, &once.waiters_) == 7);
	CHECK_EQ(weft_once_run_until(&once, slow, NULL, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_once_run_until(&once, slow, NULL, 0), -ETIMEDOUT);
	atomic_store(&go, true);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(join(t[i]), 1);
	CHECK_EQ(weft_once_run_until(&once, slow, NULL, 0), 0);
	CHECK_EQ(runs, 1);
	return 0;
}

TEST(it_runs_once_and_all_wait_for_it)
{
	run_all(many_run_it);
}

static void run_itself(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, run_itself, NULL), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "called from the function that it runs"));
	runs++;
}

static int recurse(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, run_itself, NULL), 0);
	return runs - 1;
}

TEST(to_run_it_from_itself_is_an_error)
{
	catch_reports();
	run_with(2, recurse);
}

static void exit_first(void *unused)
{
	(void)unused;
	YIELD_UNTIL(atomic_load(&go));
	if (runs++ == 0)
		weft_exit(5);
}

static int run_exiting(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, exit_first, NULL), 0);
	return 6;
}

static int let_the_first_exit(void *unused)
{
	weft_thread *t[4];
	int fives = 0;

	(void)unused;
	once = (weft_once)WEFT_ONCE_INIT;
	runs = 0;
	atomic_store(&go, false);
	for (int i = 0; i < 4; i++)
		t[i] = start(run_exiting, NULL);
	YIELD_UNTIL(waiting_inside(&once.home_, &once.waiters_) == 3);
	atomic_store(&go, true);
	for (int i = 0; i < 4; i++)
		fives += join(t[i]) == 5;
	CHECK_EQ(fives, 1);
	CHECK_EQ(runs, 2);
	return 0;
}

TEST(if_its_thread_ends_the_next_one_runs_it)
{
	run_all(let_the_first_exit);
}

static int run_with_deadline(void *unused)
{
	(void)unused;
	return weft_once_run_until(&once, slow, NULL, weft_now() + 1000 * WEFT_SEC);
}

static weft_thread *late;

static void wait_for_another(void *unused)
{
	weft_thread *t = start(run_with_deadline, NULL);

	(void)unused;
	YIELD_UNTIL(waits(t));
	expire_now(t);
	CHECK_EQ(join(t), -ETIMEDOUT);
	late = start(run_with_deadline, NULL);
	YIELD_UNTIL(waits(late));
}

static int expire_before_and_after(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, wait_for_another, NULL), 0);
	expire_now(late); /* it is done, but the other has not gone on */
	CHECK_EQ(join(late), 0);
	return 0;
}

TEST(a_deadline_after_it_is_done_changes_nothing)
{
	run_with(2, expire_before_and_after);
}

static void run_in_foreign(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_once_run(&once, slow, NULL), 0);
	CHECK_EQ(runs, 1);
}

static int race_with_foreign(void *unused)
{
	struct foreign f[3];

	(void)unused;
	atomic_store(&go, true);
	for (int n = 0; n < TEST_SIZE(200); n++) {
		once = (weft_once)WEFT_ONCE_INIT;
		runs = 0;
		for (int i = 0; i < 3; i++)
			foreign_start(&f[i], run_in_foreign, NULL);
		CHECK_EQ(weft_once_run(&once, slow, NULL), 0);
		CHECK_EQ(runs, 1);
		for (int i = 0; i < 3; i++)
			foreign_join(&f[i]);
	}
	return 0;
}

TEST(foreign_kernel_threads_take_part)
{
	run_with(2, race_with_foreign);
}

TEST_MAIN
