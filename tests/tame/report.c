/* What the user is told of closures and misuse (T2), and what WEFT_TAME makes of it. */
#include "handmade.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int_event made[MADE_MAX];
static _Atomic int result;

/* weft_tame_each */

struct texts {
	int count;
	char text[8][200];
};

static void keep_text(const char *text, void *arg)
{
	struct texts *t = arg;

	CHECK(t->count < 8);
	snprintf(t->text[t->count++], sizeof t->text[0], "%s", text);
}

static bool has(const struct texts *t, const char *text)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->text[i], text) == 0)
			return true;
	return false;
}

static void call_others(const char *text, void *unused)
{
	int_event e;

	(void)text;
	(void)unused;
	sum(1, &e, &result); /* it may do as it likes */
	trigger_5(&e);
}

static int each(void *unused)
{
	struct collection k = { .n = 1, .wanted = 1 };
	struct texts t = { 0 };

	(void)unused;
	CHECK_EQ(weft_tame_each(keep_text, &t), 0);
	sum(1, &made[0], &result);
	add(1, &made[1], NULL);
	collect(&k);
	weft_ton(7, sum, 1, &made[2], &result);
	CHECK_EQ(weft_tame_each(keep_text, &t), 4);
	CHECK_EQ(t.count, 4);
	CHECK(has(&t, "sum() waits at sum.tame.c:4: twait { }"));
	CHECK(has(&t, "add() waits at add.tame.c:4: twait { }"));
	CHECK(has(&t, "collect() waits at collect.tame.c:9: twait(r, i) for mkevent(r, i) of "
		      "collect.tame.c:6, given to add()"));
	CHECK(has(&t, "sum() of sum.tame.c:1 has begun"));
	CHECK(weft_tame_each(call_others, NULL) >= 4);
	settle();
	trigger_5(&made[0]);
	trigger_5(&made[1]);
	trigger_5(&k.made[0]);
	CHECK_EQ(weft_hop(7), 0);
	trigger_5(&made[2]);
	YIELD_UNTIL(closures() == 0);
	return 0;
}

TEST(each_closure_is_told_of_with_the_place_where_it_waits)
{
	CHECK_EQ(run_on(1, each, NULL), 0);
}

TEST(without_a_runtime_there_are_no_closures)
{
	CHECK_EQ(closures(), 0);
}

/* Others come and go meanwhile. */
static _Atomic bool enough;

static void *look_on_and_on(void *unused)
{
	(void)unused;
	while (!atomic_load(&enough))
		CHECK(closures() <= 20);
	return NULL;
}

static int come_and_go(void *unused)
{
	pthread_t thread = thread_start(look_on_and_on, NULL);

	(void)unused;
	for (long i = 0; i < TEST_SIZE(10000); i++) {
		sum((int)(i % 20), made, &result);
		for (int k = 0; k < i % 20; k++)
			trigger_5(&made[k]);
		weft_yield();
	}
	atomic_store(&enough, true);
	thread_join(thread);
	return 0;
}

TEST(closures_come_and_go_while_another_looks)
{
	CHECK_EQ(run_on(1, come_and_go, NULL), 0);
}

static int dump_some(void *path)
{
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);

	CHECK(fd >= 0);
	sum(1, &made[0], &result);
	CHECK_EQ(weft_dump(fd), 0);
	trigger_5(&made[0]);
	return fd;
}

TEST(a_dump_has_the_closures)
{
	char path[] = "/tmp/weft-test-dump-XXXXXX", text[65536];
	int fd = mkstemp(path);
	ssize_t n;

	CHECK(fd >= 0);
	close(fd);
	fd = run_on(1, dump_some, path);
	CHECK(fd >= 0);
	n = pread(fd, text, sizeof text - 1, 0);
	CHECK(n > 0);
	text[n] = '\0';
	close(fd);
	unlink(path);
	CHECK(strstr(text, "sum() waits at sum.tame.c:4: twait { }") != NULL);
}

/* The end of the run */

static int leave_some(void *n)
{
	for (intptr_t i = 0; i < (intptr_t)n; i++)
		sum(1, made, &result);
	return 0;
}

TEST(closures_that_wait_at_the_end_are_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, leave_some, (void *)3), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 3);
	CHECK(reported(WEFT_REPORT_MISUSE,
		       "sum() waits at sum.tame.c:4: twait { }, and nothing is left that could "
		       "trigger its events"));
}

TEST(many_closures_that_wait_at_the_end_are_counted)
{
	catch_reports();
	CHECK_EQ(run_on(1, leave_some, (void *)100), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 21);
	CHECK(reported(WEFT_REPORT_MISUSE, "and 80 more"));
}

static int only_one(void *unused)
{
	(void)unused;
	sum(1, made, &result);
	CHECK_EQ(closures(), 1);
	trigger_5(&made[0]);
	return 0;
}

TEST(the_next_run_knows_nothing_of_closures_that_were_left)
{
	catch_reports();
	CHECK_EQ(run_on(1, leave_some, (void *)100), 0);
	CHECK_EQ(run_on(1, only_one, NULL), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 21);
}

static int leave_and_stop(void *unused)
{
	(void)unused;
	sum(1, made, &result);
	return weft_stop();
}

TEST(closures_that_wait_when_the_run_is_stopped_are_not_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, leave_and_stop, NULL), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 0);
}

/* WEFT_TAME */

static int twice(void *unused)
{
	(void)unused;
	sum(2, made, &result);
	trigger_5(&made[0]);
	trigger_5(&made[0]);
	trigger_5(&made[1]);
	return 0;
}

static void try_setting(const char *setting, int (*fn)(void *), void *arg, int deadly)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setenv("WEFT_TAME", setting, 1);
		_exit(run_on(1, fn, arg));
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, deadly);
	if (deadly == 0)
		CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(reports_are_fatal_if_that_is_asked_for)
{
	try_setting("abort", leave_some, (void *)0, 0);
	try_setting("abort", twice, NULL, SIGABRT);
	try_setting("abort", leave_some, (void *)1, SIGABRT);
	try_setting("check", twice, NULL, 0);
	try_setting("check", leave_some, (void *)1, 0);
	try_setting("no", leave_some, (void *)1, 0);
}

TEST(a_wrong_setting_is_told_of)
{
	catch_reports();
	setenv("WEFT_TAME", "loud", 1);
	CHECK_EQ(run_on(1, leave_some, (void *)0), 0);
	CHECK(reported(WEFT_REPORT_SETTING, "WEFT_TAME=loud"));
	setenv("WEFT_TAME", "", 1);
	CHECK_EQ(run_on(1, leave_some, (void *)0), 0);
	CHECK_EQ(caught.count[WEFT_REPORT_SETTING], 1);
}

TEST_MAIN
