/* exit.c - functions that end their kernel thread, which is not theirs to end. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "harness/test.h"

/* What was reported, in memory that a test shares with the process that ends. */
static char *report;

static void keep_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)unused;
	if (kind == WEFT_REPORT_MISUSE) /* not that a slow build is stuck */
		snprintf(report, 1024, "%s", text);
}

static void run(int (*fn)(void *))
{
	/* In a slow build a worker could be found stuck, which is reported too. */
	weft_options opt = { .workers = 2, .stall_ms = 3600000 };

	weft_on_report(keep_report, NULL);
	(void)weft_run(fn, NULL, &opt);
}

static int leave(void *unused)
{
	(void)unused;
	pthread_exit(NULL);
}

static void leave_handler(void *unused)
{
	(void)unused;
	pthread_exit(NULL);
}

/* It comes to the end, if nobody ends it: no test may hang for a wait. */
static int wait_for_others(void)
{
	weft_sleep(10 * WEFT_MS);
	return 0;
}

static void leave_first(void)
{
	run(leave);
}

static int go(void *unused)
{
	(void)unused;
	weft_go_on(weft_color_new(), leave, NULL);
	return wait_for_others();
}

static void leave_thread(void)
{
	run(go);
}

static int call(void *unused)
{
	(void)unused;
	weft_async_call(leave, NULL);
	return wait_for_others();
}

static void leave_body(void)
{
	run(call);
}

static int leave_late(void *unused)
{
	weft_sleep(WEFT_MS);
	return leave(unused);
}

static int call_in_a_scope(void *unused)
{
	weft_scope s;

	weft_scope_begin(&s);
	weft_async_call(leave_late, unused);
	return weft_scope_end(&s);
}

static void leave_body_late(void)
{
	run(call_in_a_scope);
}

static int post(void *unused)
{
	(void)unused;
	weft_post(weft_color_new(), leave_handler, NULL);
	return wait_for_others();
}

static void leave_posted(void)
{
	run(post);
}

static int offload(void *unused)
{
	return weft_offload(leave, unused);
}

static void leave_offloaded(void)
{
	run(offload);
}

static int cancel_myself(void *unused)
{
	(void)unused;
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return 0;
}

static void cancelled(void)
{
	run(cancel_myself);
}

/* ThreadSanitizer ends the process by itself where the stack is not the kernel thread's own. */
static void skip_under_tsan(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(UNDER_TSAN)
	SKIP("ThreadSanitizer does not survive pthread_exit on a stack of Weft");
#endif
}

static void must_be_reported(void (*fn)(void), const char *who)
{
	report = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(report != MAP_FAILED);
	CHECK_ABORTS(fn);
	CHECK(strstr(report, "pthread_exit()") != NULL);
	CHECK(strstr(report, who) != NULL);
}

TEST(pthread_exit_in_the_first_function_is_reported)
{
	skip_under_tsan();
	must_be_reported(leave_first, "exit.c:");
}

TEST(pthread_exit_in_a_thread_is_reported)
{
	skip_under_tsan();
	must_be_reported(leave_thread, "exit.c:");
}

TEST(pthread_exit_in_an_async_call_is_reported)
{
	skip_under_tsan();
	must_be_reported(leave_body, "weft_exit()");
}

TEST(pthread_exit_in_an_async_call_that_has_waited_is_reported_with_its_place)
{
	skip_under_tsan();
	must_be_reported(leave_body_late, "exit.c:");
}

TEST(pthread_exit_in_a_handler_is_reported)
{
	must_be_reported(leave_posted, "a handler");
}

TEST(pthread_exit_on_the_offload_pool_is_reported)
{
	must_be_reported(leave_offloaded, "offload pool");
}

TEST(pthread_cancel_of_a_worker_is_reported)
{
	must_be_reported(cancelled, "pthread_cancel()");
}

/* A kernel thread that ran weft_run, and the pool's, may end afterwards. */
static int nothing(void *unused)
{
	(void)unused;
	return 0;
}

static int offload_nothing(void *unused)
{
	return weft_offload(nothing, unused);
}

static void *run_and_leave(void *unused)
{
	weft_on_report(keep_report, NULL);
	CHECK_EQ(weft_run(offload_nothing, unused, NULL), 0);
	pthread_exit(report);
}

TEST(after_its_run_a_kernel_thread_may_end_as_it_likes)
{
	char text[1024] = "";
	pthread_t thread;
	void *result;

	report = text;
	CHECK_EQ(pthread_create(&thread, NULL, run_and_leave, NULL), 0);
	CHECK_EQ(pthread_join(thread, &result), 0);
	CHECK(result == report);
	CHECK_STR(text, "");
}

/* It has no workers. */
static int leave_in_a_child(void *unused)
{
	int status;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0)
		pthread_exit(NULL);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return 0;
}

TEST(a_forked_child_may_end_by_pthread_exit)
{
	char text[1024] = "";

	report = text;
	run(leave_in_a_child);
	CHECK_STR(text, "");
}

TEST_MAIN
