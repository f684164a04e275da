/* signal.c - tests of signals as events. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "base/fault.h"
#include "harness/test.h"

enum { COLOR = 7 };

static void run(int (*fn)(void *))
{
	weft_options opt = { .workers = 2 };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static _Atomic int calls;
static sem_t called, go_on;

static void count_and_drop(void *arg)
{
	CHECK_EQ(weft_color_current(), COLOR);
	CHECK_EQ(arg, &calls);
	calls++;
	CHECK_EQ(weft_drop(), 0);
}

static int watch_and_raise(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	CHECK_EQ(raise(SIGUSR1), 0);
	return 0;
}

TEST(a_signal_becomes_an_event_in_its_color)
{
	run(watch_and_raise);
	CHECK_EQ(calls, 1);
}

TEST(signals_are_events_again_in_the_next_run)
{
	for (int i = 1; i <= 3; i++) {
		run(watch_and_raise);
		CHECK_EQ(calls, i);
	}
}

static pthread_t sender;

static void *raise_here(void *unused)
{
	(void)unused;
	raise(SIGUSR1);
	return NULL;
}

static int raise_on_foreign_thread(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	pthread_create(&sender, NULL, raise_here, NULL);
	return 0;
}

TEST(a_signal_that_hits_a_foreign_thread_becomes_an_event_too)
{
	run(raise_on_foreign_thread);
	pthread_join(sender, NULL);
	CHECK_EQ(calls, 1);
}

static int only_watch(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	CHECK_EQ(weft_on_signal(SIGTERM, COLOR, count_and_drop, &calls), 0);
	return 0;
}

TEST(a_signal_watch_does_not_keep_the_runtime_from_ending)
{
	run(only_watch);
	CHECK_EQ(calls, 0);
}

static _Atomic int old_calls;

static void old_handler(int signo)
{
	(void)signo;
	old_calls++;
}

static int watch_and_end_watch(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	CHECK_EQ(weft_off_signal(SIGUSR1), 0);
	raise(SIGUSR1);
	CHECK_EQ(old_calls, 1);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	return 0;
}

TEST(the_action_before_comes_back_when_the_watch_or_the_runtime_ends)
{
	signal(SIGUSR1, old_handler);
	run(watch_and_end_watch);
	raise(SIGUSR1);
	CHECK_EQ(old_calls, 2);
	CHECK_EQ(calls, 0);
}

static int fork_with_watch(void *unused)
{
	int status;
	pid_t pid;

	(void)unused;
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	pid = fork();
	if (pid == 0) {
		raise(SIGUSR1);
		_exit(old_calls == 1 ? 0 : 1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	return 0;
}

TEST(a_forked_child_has_the_action_before)
{
	signal(SIGUSR1, old_handler);
	run(fork_with_watch);
	CHECK_EQ(old_calls, 0);
}

static void count(void *unused)
{
	(void)unused;
	calls++;
}

static int raise_and_end_in_own_color(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(weft_on_signal(SIGUSR1, WEFT_MAIN, count, NULL), 0);
		raise(SIGUSR1);
		CHECK_EQ(weft_off_signal(SIGUSR1), 0);
	}
	return 0;
}

TEST(a_watch_that_ends_in_its_own_color_is_never_called_after)
{
	run(raise_and_end_in_own_color);
	CHECK_EQ(calls, 0);
}

static void wait_inside(void *unused)
{
	(void)unused;
	calls++;
	sem_post(&called);
	while (sem_wait(&go_on) < 0)
		;
}

static int end_while_running(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, wait_inside, NULL), 0);
	raise(SIGUSR1);
	sem_wait(&called);
	raise(SIGUSR1);
	CHECK_EQ(weft_off_signal(SIGUSR1), -EINPROGRESS);
	CHECK_EQ(weft_off_signal(SIGUSR1), -ENOENT);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count_and_drop, &calls), 0);
	CHECK_EQ(weft_hold(), 0);
	sem_post(&go_on);
	raise(SIGUSR1);
	return 0;
}

TEST(a_watch_that_ends_from_elsewhere_says_that_a_call_is_under_way)
{
	sem_init(&called, 0, 0);
	sem_init(&go_on, 0, 0);
	run(end_while_running);
	CHECK_EQ(calls, 2);
}

static void end_itself(void *unused)
{
	(void)unused;
	calls++;
	CHECK_EQ(weft_off_signal(SIGUSR1), 0);
	CHECK_EQ(weft_drop(), 0);
}

static int watch_once(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, end_itself, NULL), 0);
	return raise(SIGUSR1);
}

TEST(a_call_may_end_its_own_watch)
{
	signal(SIGUSR1, old_handler);
	run(watch_once);
	CHECK_EQ(calls, 1);
}

static int raise_many_in_own_color(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, WEFT_MAIN, count, NULL), 0);
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	CHECK_EQ(calls, 0);
	return weft_drop();
}

/* One call for all that came before it, and one more for what came up from the
 * kernel while that call began. */
TEST(arrivals_while_a_call_is_queued_count_as_one)
{
	run(raise_many_in_own_color);
	CHECK(calls <= 2);
}

static int misuse(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_on_signal(0, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(65, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(-1, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(SIGKILL, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(SIGSTOP, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(SIGSEGV, COLOR, count, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, NULL, NULL), -EINVAL);
	CHECK_EQ(weft_on_signal(SIGUSR1, ~(weft_color)0, count, NULL), -EINVAL);
	CHECK_EQ(weft_off_signal(SIGUSR1), -ENOENT);
	CHECK_EQ(weft_off_signal(1000), -ENOENT);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count, NULL), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count, NULL), -EEXIST);
	CHECK_EQ(weft_off_signal(SIGUSR1), 0);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count, NULL), -ESHUTDOWN);
	return 0;
}

TEST(wrong_use_is_refused_with_an_error)
{
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, count, NULL), -ESHUTDOWN);
	CHECK_EQ(weft_off_signal(SIGUSR1), -ESHUTDOWN);
	run(misuse);
}

/* A storm: after the last signal at least one call comes. */
static _Atomic bool last_sent;

static void until_last(void *unused)
{
	(void)unused;
	calls++;
	if (last_sent) {
		CHECK_EQ(weft_off_signal(SIGUSR1), 0);
		CHECK_EQ(weft_drop(), 0);
	}
}

static void *storm(void *unused)
{
	(void)unused;
	for (int i = 0; i < TEST_SIZE(20000); i++)
		kill(getpid(), SIGUSR1);
	last_sent = true;
	kill(getpid(), SIGUSR1);
	return NULL;
}

static int start_storm(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	CHECK_EQ(weft_on_signal(SIGUSR1, COLOR, until_last, NULL), 0);
	pthread_create(&sender, NULL, storm, NULL);
	return 0;
}

TEST(after_the_last_of_many_signals_a_call_comes)
{
	signal(SIGUSR1, old_handler);
	run(start_storm);
	pthread_join(sender, NULL);
	CHECK(calls > 0);
}

static _Atomic bool over;

static void *storm_until_over(void *unused)
{
	(void)unused;
	while (!over)
		kill(getpid(), SIGUSR1);
	return NULL;
}

static bool held;

static void count_and_let_end(void *unused)
{
	count(unused);
	if (held)
		CHECK_EQ(weft_drop(), 0);
	held = false;
}

static int watch_until_called(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	held = true;
	return weft_on_signal(SIGUSR1, COLOR, count_and_let_end, NULL);
}

/* In each run the watch is called, and after it the old action. */
TEST(signals_may_come_while_the_runtime_begins_and_ends)
{
	int before;

	signal(SIGUSR1, old_handler);
	run(only_watch); /* what happens once in a process has happened */
	pthread_create(&sender, NULL, storm_until_over, NULL);
	for (int i = 0; i < TEST_SIZE(200); i++) {
		run(watch_until_called);
		before = old_calls;
		while (old_calls == before)
			sched_yield();
	}
	over = true;
	pthread_join(sender, NULL);
	before = calls;
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(calls, before);
}

#ifdef WEFT_FAULTS
static int fail_each(void *unused)
{
	const char *failed;
	long nth = 0;
	int r;

	(void)unused;
	do {
		wf_fault_arm(++nth);
		r = weft_on_signal(SIGUSR1, WEFT_MAIN, count, NULL);
		failed = wf_fault_site(); /* perhaps a call of another worker */
		wf_fault_arm(0);
		CHECK(r == 0 || r == -ENOMEM || r == -EMFILE || r == -EBADF);
		CHECK_EQ(weft_off_signal(SIGUSR1), r == 0 ? 0 : -ENOENT);
	} while (failed != NULL);
	CHECK(nth > 2);
	return 0;
}

TEST(a_failure_on_the_way_leaves_no_watch)
{
	run(fail_each);
}
#endif

TEST_MAIN
