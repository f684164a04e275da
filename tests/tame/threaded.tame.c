/* Threaded functions that end their thread, or wait in vain. */
#include "tame/common.h"

#include <errno.h>
#include <stdio.h>

static event(int) left_out;

static threaded int exits(void *where)
{
	rendezvous() r;
	int lost;

	left_out = mkevent(r, lost);
	twait {
		later(1, mkevent(((int *)where)[0]));
		twait {
			later(2, mkevent(((int *)where)[1]));
			weft_exit(3);
		}
	}
	twait(r);
	return 4;
}

static int joins_who_exits(void *unused)
{
	weft_thread *thread;
	int where[2] = { 0 }, result = 0;

	(void)unused;
	CHECK_EQ(weft_thread_start(&thread, NULL, exits, where), 0);
	CHECK_EQ(weft_join(thread, &result), 0);
	CHECK_EQ(result, 3);
	CHECK_EQ(where[0], 1);
	CHECK_EQ(where[1], 2);
	trigger(left_out, 5);
	return 0;
}

TEST(weft_exit_waits_for_twait_blocks_and_cancels_rendezvous)
{
	catch_reports();
	CHECK_EQ(weft_run(joins_who_exits, NULL, NULL), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 1);
	CHECK(reported(WEFT_REPORT_MISUSE, "exits() ends with 1 event of rendezvous 'r'"));
}

static threaded int waits_in_vain(void *unused)
{
	rendezvous(int) r;
	int i;

	(void)unused;
	left_out = mkevent(r, 3, i);
	twait(r, i);
	return i;
}

TEST(a_deadlock_is_told_with_the_line_of_the_twait)
{
	char wanted[100];

	catch_reports();
	CHECK_EQ(weft_run(waits_in_vain, NULL, NULL), -EDEADLK);
	snprintf(wanted, sizeof wanted, "waits for twait(r, i) at %s:%d ", __FILE__, __LINE__ - 10);
	CHECK(reported(WEFT_REPORT_MISUSE, wanted));
}

TEST_MAIN
