/* Reports: who gets them, and what ends the process. */
#include "base/report.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

static int calls, last_kind;
static char last_text[16384];

static void keep(int kind, const char *text, void *arg)
{
	CHECK(arg == &calls);
	calls++;
	last_kind = kind;
	snprintf(last_text, sizeof last_text, "%s", text);
}

TEST(a_report_goes_to_the_function_that_took_over)
{
	wf_report_to(keep, &calls);
	wf_report(WF_REPORT_SETTING, "%s=%d", "speed", 3);
	CHECK_EQ(calls, 1);
	CHECK_EQ(last_kind, WF_REPORT_SETTING);
	CHECK_STR(last_text, "speed=3");
}

TEST(misuse_names_the_place_and_gives_the_error_back)
{
	wf_report_to(keep, &calls);
	CHECK_EQ(wf_misuse("a.c:7", -EINVAL, "wrong by %d", 2), -EINVAL);
	CHECK_STR(last_text, "a.c:7: wrong by 2");
	CHECK_EQ(last_kind, WF_REPORT_MISUSE);
	CHECK_EQ(wf_misuse(NULL, -EALREADY, "again"), -EALREADY);
	CHECK_STR(last_text, "unknown place: again");
}

TEST(texts_of_any_length_are_cut_and_harm_nothing)
{
	static char endless[20000];

	memset(endless, 'x', sizeof endless - 1);
	wf_report_to(keep, &calls);
	wf_report(WF_REPORT_STALL, "%s", endless);
	CHECK(strlen(last_text) > 100 && strlen(last_text) < sizeof endless - 1);
	CHECK_EQ(wf_misuse("a.c:1", -1, "%s", endless), -1);
	CHECK(strlen(last_text) > 100 && strlen(last_text) < sizeof endless - 1);
	CHECK_EQ(wf_misuse(endless, -1, "short"), -1);
	CHECK(strlen(last_text) > 100 && strlen(last_text) < sizeof endless - 1);
}

/* Runs `act` in a process of its own; what it wrote to standard error. */
static int in_child(void (*act)(void), char *text, size_t size)
{
	int fds[2], status;
	ssize_t n, used = 0;
	pid_t pid;

	CHECK_EQ(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		act();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], text + used, size - 1 - (size_t)used)) > 0)
		used += n;
	text[used] = '\0';
	close(fds[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void report_something(void)
{
	wf_report(WF_REPORT_SETTING, "hello");
}

static void misuse_something(void)
{
	wf_misuse("b.c:9", -EINVAL, "hello");
}

static void break_something(void)
{
	wf_bug("broken by %d", 5);
}

TEST(without_a_taker_reports_go_to_standard_error)
{
	char text[1024];

	CHECK_EQ(in_child(report_something, text, sizeof text), 0);
	CHECK_STR(text, "weft: hello\n");
}

TEST(misuse_that_nobody_takes_ends_debug_builds_only)
{
	char text[1024];
	int status = in_child(misuse_something, text, sizeof text);

	CHECK(strstr(text, "b.c:9: hello") != NULL);
#ifdef WEFT_DEBUG
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
#else
	CHECK_EQ(status, 0);
#endif
}

TEST(a_bug_of_ours_ends_the_process_with_its_text)
{
	char text[1024];
	int status = in_child(break_something, text, sizeof text);

	CHECK(strstr(text, "broken by 5") != NULL);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

TEST_MAIN
