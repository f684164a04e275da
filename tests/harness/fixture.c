/* fixture.c - tests that go wrong on purpose; tests/checks/harness looks at what
 * the harness makes of them.
 */
#include "harness/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(passes)
{
	CHECK(1 + 1 == 2);
	CHECK_EQ(UINT64_MAX, UINT64_MAX);
	CHECK_STR("a", "a");
	puts("what a passing test prints is not shown");
}

TEST(fails_a_check)
{
	puts("what a failing test prints is shown");
	CHECK(1 + 1 == 3);
}

TEST(fails_with_both_numbers)
{
	int64_t left = INT64_C(0x123456789abc);

	CHECK_EQ(left, -EINVAL);
}

TEST(fails_with_both_strings)
{
	CHECK_STR("left", "right");
}

static void *fail_elsewhere(void *arg)
{
	(void)arg;
	CHECK(!"on another thread");
	return NULL;
}

TEST(fails_on_another_thread)
{
	pthread_t thread;

	CHECK_EQ(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
	for (;;)
		pause();
}

TEST(aborts)
{
	abort();
}

TEST(exits_early)
{
	exit(7);
}

TEST(exits_early_as_if_all_were_well)
{
	exit(0);
}

TEST(hangs)
{
	for (;;)
		pause();
}

TEST(is_skipped)
{
	puts("what a skipped test prints is not shown");
	SKIP("there is no %s here", "moon");
}

TEST(is_skipped_too_late)
{
	if (fork() == 0)
		test_fail("a child", 1, "fails");
	CHECK_EQ(wait(NULL) > 0, true);
	SKIP("for no reason");
}

TEST(is_random)
{
	uint64_t state = TEST_SEED;

	CHECK(test_random(&state) != test_random(&state));
	CHECK_EQ(TEST_SIZE(100), test_quick() ? 10 : 100);
}

TEST_MAIN
