/* outcome.c - how a finish comes to its end: errors, deadlines, a fork in its midst, and
 * scopes that are used as they must not be. */
#include "threads/common.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static void run_with(int workers, weft_thread_fn *fn)
{
	weft_options opt = { .workers = workers, .stall_ms = -1 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static int sleeps(void *rc)
{
	*(int *)rc = weft_sleep(1000 * WEFT_SEC);
	return 0;
}

/* Errors */

static int returns(void *arg)
{
	return (int)(intptr_t)arg;
}

static int returns_later(void *arg)
{
	CHECK_EQ(weft_yield(), 0);
	return (int)(intptr_t)arg;
}

#define FAIL(fn, error) CHECK_EQ(weft_async_call(fn, (void *)(intptr_t)(error)), 0)

static int first_error(void *unused)
{
	weft_scope s, in;

	(void)unused;
	weft_scope_begin(&s);
	FAIL(returns, 5);
	FAIL(returns_later, 6);
	CHECK_EQ(weft_scope_end(&s), 0);

	weft_scope_begin(&s);
	FAIL(returns_later, -1);
	FAIL(returns, -2); /* comes to its end first */
	FAIL(returns, -3);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_scope_end(&s), -2);

	weft_scope_begin(&s);
	CHECK_EQ(weft_go_on(weft_color_new(), returns_later, (void *)(intptr_t)-4), 0);
	CHECK_EQ(weft_scope_end(&s), -4);

	/* Of the inner one it is not the outer one's, unless somebody says so. */
	weft_scope_begin(&s);
	weft_scope_begin(&in);
	FAIL(returns_later, -7);
	CHECK_EQ(weft_scope_end(&in), -7);
	CHECK_EQ(weft_scope_end(&s), 0);
	return 0;
}

TEST(a_scope_keeps_its_first_error)
{
	run_with(2, first_error);
}

static int failing(void *unused)
{
	weft_scope s;
	int rc = 0;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(sleeps, &rc), 0);
	CHECK_EQ(weft_scope_fail(&s, -EIO), 0);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_scope_fail(&s, -ENOENT), -EALREADY);
	FAIL(returns, -2);
	CHECK_EQ(weft_scope_end(&s), -EIO);
	CHECK_EQ(rc, -ECANCELED);

	weft_scope_begin(&s); /* cancelled, and then there is an error */
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_fail(&s, -ENOENT), -EALREADY);
	CHECK_EQ(weft_scope_end(&s), -ENOENT);
	return 0;
}

TEST(failing_cancels_and_keeps_the_error)
{
	run_with(1, failing);
}

/* Deadlines */

static int timed(void *unused)
{
	weft_scope outer, s, in;
	int rc = 0;

	(void)unused;
	weft_scope_begin(&s); /* one in the past */
	CHECK_EQ(weft_scope_deadline(&s, 1), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);

	weft_scope_begin(&s); /* made earlier */
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + 1000 * WEFT_SEC), 0);
	CHECK_EQ(weft_async_call(sleeps, &rc), 0);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_US), 0);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	CHECK_EQ(rc, -ECANCELED);

	weft_scope_begin(&s); /* made later, and not reached */
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + 50 * WEFT_SEC), 0);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + 1000 * WEFT_SEC), 0);
	CHECK_EQ(weft_sleep(1), 0);
	CHECK_EQ(weft_scope_end(&s), 0);

	weft_scope_begin(&outer); /* of several the earliest counts */
	CHECK_EQ(weft_scope_deadline(&outer, weft_now() + 1000 * WEFT_SEC), 0);
	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	weft_scope_begin(&in);
	CHECK_EQ(weft_scope_deadline(&in, weft_now() + 900 * WEFT_SEC), 0);
	CHECK_EQ(weft_sleep(800 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&in), 0);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	CHECK_EQ(weft_sleep(1), 0);
	CHECK_EQ(weft_scope_end(&outer), 0);

	weft_scope_begin(&s); /* an error that came before stays the first */
	FAIL(returns, -EIO);
	CHECK_EQ(weft_scope_deadline(&s, 1), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK_EQ(weft_scope_end(&s), -EIO);
	return 0;
}

TEST(the_earliest_deadline_cancels)
{
	run_with(1, timed);
}

static int not_its_own(void *scope)
{
	CHECK_EQ(weft_scope_deadline(scope, 1), -EPERM);
	return 0;
}

/* The owner is elsewhere when the deadline comes, or when its scope ends. */
static int timed_elsewhere(void *unused)
{
	weft_color here = weft_color_current();
	weft_scope s;
	int rc = 0;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(not_its_own, &s), 0);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), sleeps, &rc), 0);
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	CHECK_EQ(weft_sleep(1000 * WEFT_SEC), -ECANCELED);
	CHECK(weft_color_current() != here);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	CHECK(weft_color_current() != here);
	CHECK_EQ(rc, -ECANCELED);

	for (int i = 0; i < TEST_SIZE(300); i++) {
		weft_scope_begin(&s);
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + 10 * WEFT_US), 0);
		CHECK_EQ(weft_hop(weft_color_new()), 0);
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + 5 * WEFT_US), 0);
		CHECK_EQ(weft_hop(here), 0);
		rc = weft_scope_end(&s);
		CHECK(rc == 0 || rc == -ETIMEDOUT);
		weft_scope_begin(&s); /* nothing of it comes later */
		rc = weft_sleep(10 * WEFT_US);
		CHECK_EQ(rc, 0);
		CHECK_EQ(weft_scope_end(&s), 0);
	}
	return 0;
}

TEST(a_deadline_finds_its_scope_in_whatever_color)
{
	run_with(2, timed_elsewhere);
}

/* Nothing waits, so no timer comes. */

static void never_waits(void)
{
	while (!weft_cancelled())
		;
}

static int computes(void *unused)
{
	(void)unused;
	never_waits();
	CHECK_EQ(weft_sleep(1), -ECANCELED);
	return 0;
}

static int computes_elsewhere(void *unused)
{
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	return computes(unused);
}

static int computes_late(void *hops)
{
	CHECK_EQ(weft_yield(), 0);
	if (hops != NULL)
		CHECK_EQ(weft_hop(weft_color_new()), 0);
	for (uint64_t until = weft_now() + 2 * WEFT_MS; weft_now() < until;)
		;
	return 0;
}

static int overdue(void *unused)
{
	weft_scope outer, s, shield;
	int rc = 0;

	for (int i = 0; i < 2; i++) { /* nobody asks, while its end waits */
		weft_scope_begin(&s);
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
		CHECK_EQ(weft_async_call(computes_late, i == 0 ? NULL : &rc), 0);
		CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	}

	weft_scope_begin(&s);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	never_waits();
	CHECK_EQ(weft_sleep(1), -ECANCELED);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);

	weft_scope_begin(&outer); /* one around counts, but not in a shield */
	CHECK_EQ(weft_scope_deadline(&outer, 1), 0);
	weft_shield_begin(&shield);
	weft_scope_begin(&s);
	CHECK(!weft_cancelled());
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(weft_scope_end(&shield), 0);
	weft_scope_begin(&s);
	CHECK(weft_cancelled());
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(weft_scope_end(&outer), -ETIMEDOUT);

	weft_scope_begin(&s); /* bodies, here and elsewhere, and what waits beside them */
	CHECK_EQ(weft_async_call(sleeps, &rc), 0);
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	CHECK_EQ(weft_async_call(computes_elsewhere, unused), 0);
	CHECK_EQ(weft_async_call(computes, unused), 0);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	CHECK_EQ(rc, -ECANCELED);

	weft_scope_begin(&s); /* one that is cancelled may be late */
	CHECK_EQ(weft_scope_deadline(&s, weft_now() + WEFT_MS), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	weft_shield_begin(&shield);
	CHECK_EQ(weft_sleep(WEFT_MS), 0);
	CHECK_EQ(weft_scope_end(&shield), 0);
	CHECK_EQ(weft_scope_end(&s), 0);

	weft_scope_begin(&s); /* nobody asks, and it is late all the same */
	CHECK_EQ(weft_scope_deadline(&s, 1), 0);
	CHECK_EQ(weft_scope_end(&s), -ETIMEDOUT);
	return 0;
}

TEST(who_never_waits_sees_a_deadline_by_asking)
{
	run_with(1, overdue);
	run_with(2, overdue);
}

/* Fork */

static int forks(void *unused)
{
	weft_scope s, in;
	int status;
	pid_t pid;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(returns_later, (void *)(intptr_t)-EIO), 0);
	pid = fork();
	if (pid == 0) {
		/* Nothing runs here but this; it must be able to leave. */
		if (weft_sleep(1) != -ESHUTDOWN || weft_async_call(returns, NULL) >= 0 ||
		    weft_cancelled())
			_exit(1);
		weft_scope_begin(&in);
		if (weft_scope_end(&in) != 0 || weft_scope_end(&s) != 0)
			_exit(2);
		_exit(7);
	}
	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 7);
	CHECK_EQ(weft_scope_end(&s), -EIO);
	return 0;
}

static int fork_in_bodies(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(forks, NULL), 0); /* one that has not waited */
	CHECK_EQ(weft_go(forks, NULL), 0);
	return weft_scope_end(&s);
}

TEST(a_body_may_fork_and_the_child_leaves_its_scopes)
{
	run_with(2, fork_in_bodies);
}

/* Misuse */

static void begin_in_handler(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
}

static int misuse_handler(void *unused)
{
	return weft_post(WEFT_MAIN, begin_in_handler, unused);
}

static int misuse_order(void *unused)
{
	weft_scope s, in;

	(void)unused;
	weft_scope_begin(&s);
	weft_scope_begin(&in);
	return weft_scope_end(&s);
}

static int ends_anothers(void *scope)
{
	return weft_scope_end(scope);
}

static int misuse_thread(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	(void)weft_async_call(ends_anothers, &s);
	return 0;
}

static void check_aborts(weft_thread_fn *fn)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		catch_reports();
		signal(SIGABRT, SIG_DFL);
		(void)weft_run(fn, NULL, &opt);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

TEST(a_scope_begun_in_a_handler_or_ended_out_of_order_aborts)
{
	check_aborts(misuse_handler);
	check_aborts(misuse_order);
}

TEST(a_scope_ended_by_another_thread_aborts)
{
	check_aborts(misuse_thread);
}

TEST_MAIN
