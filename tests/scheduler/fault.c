/* backends: both */
/* Every call to the outside world fails once, for the nth of every n: the result
 * is an error code or nothing at all, nothing that was accepted is lost, nothing
 * leaks (E2; the leaks are for ASan to see).
 */
#include "base/fault.h"

#include "common.h"

#include <stdio.h>
#include <unistd.h>

enum { COLORS = 200 };

static atomic_long accepted, ran;

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
}

static void try_post(int rc)
{
	if (rc == 0)
		atomic_fetch_add(&accepted, 1);
	else
		CHECK_EQ(rc, -ENOMEM);
}

static int use_everything(void *unused)
{
	static weft_event event[COLORS];

	(void)unused;
	for (int i = 0; i < COLORS; i++) {
		weft_event_init(&event[i], (weft_color)i, count, NULL);
		try_post(weft_event_post(&event[i]));
		try_post(weft_post((weft_color)(1000 + i), count, NULL));
		try_post(weft_post_shared((weft_color)(1000 + i), count, NULL));
	}
	try_post(weft_after(1, 5, count, NULL));
	return 11;
}

static bool is_lack(int rc)
{
	return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EAGAIN;
}

/* Makes the nth call fail, for every n, until a run did not come so far. */
static void fail_each(int (*fn)(void *), const weft_options *opt, int result)
{
	long n = 0;
	bool fired;

	CHECK_EQ(weft_run(fn, NULL, opt), result); /* what is made once is made now */
	do {
		int rc;

		atomic_store(&accepted, 0);
		atomic_store(&ran, 0);
		wf_fault_arm(++n);
		rc = weft_run(fn, NULL, opt);
		fired = wf_fault_site() != NULL;
		if (fired)
			printf("%ld: %s: %d\n", n, wf_fault_site(), rc);
		wf_fault_arm(0);
		CHECK(rc == result || is_lack(rc));
		CHECK_EQ(atomic_load(&ran), atomic_load(&accepted));
		CHECK(rc == result ? atomic_load(&accepted) > 0 : atomic_load(&accepted) == 0);
	} while (fired);
	CHECK(n > 10);
	CHECK_EQ(weft_run(fn, NULL, opt), result);
}

TEST(a_run_whose_nth_call_fails_is_an_error_code_or_all_well)
{
	for (int workers = 1; workers <= 3; workers++) {
		weft_options opt = { .workers = workers };

		fail_each(use_everything, &opt, 11);
	}
}

/* A stall while something fails: the stand-in may not come, but all runs. */

static int pipes[2];

static void *let_go(void *unused)
{
	CHECK_EQ(write(pipes[1], "x", 1), 1);
	return unused;
}

static int be_stuck(void *unused)
{
	weft_worker_stats w[4];
	pthread_t thread;
	char byte;

	try_post(weft_post(1, count, NULL));
	try_post(weft_post(2, count, NULL));
	do {
		sched_yield();
		weft_stats(NULL, w, 4);
	} while (w[weft_worker_current()].stalls == 0);
	thread = thread_start(let_go, unused);
	CHECK_EQ(read(pipes[0], &byte, 1), 1);
	thread_join(thread);
	return 11;
}

TEST(a_stand_in_that_cannot_be_started_costs_nothing_but_time)
{
	weft_options opt = { .workers = 1, .stall_ms = 1 };

	catch_reports();
	CHECK_EQ(pipe(pipes), 0);
	fail_each(be_stuck, &opt, 11);
}

TEST_MAIN
