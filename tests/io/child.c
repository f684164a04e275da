/* child.c - tests of child processes as events. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "base/fault.h"
#include "harness/test.h"

enum { COLOR = 5, MANY = 40 };

static weft_child kids[MANY];
static _Atomic int done;

static void run_on(int workers, int (*fn)(void *))
{
	weft_options opt = { .workers = workers };

	CHECK_EQ(weft_run(fn, NULL, &opt), 0);
}

static void run(int (*fn)(void *))
{
	run_on(2, fn);
}

static void on_done(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_current(), COLOR);
	done++;
}

static weft_child *kid(int i)
{
	weft_child_init(&kids[i], COLOR, on_done, NULL);
	return &kids[i];
}

static int shell(weft_child *c, const char *script, const int *fds)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)(uintptr_t)script, NULL };

	return weft_child_spawn(c, "sh", argv, NULL, fds);
}

static int spawn_exit_3(void *unused)
{
	(void)unused;
	CHECK_EQ(shell(kid(0), "exit 3", NULL), 0);
	CHECK(kids[0].pid > 0);
	CHECK_EQ(shell(&kids[0], "exit 4", NULL), -EALREADY);
	return 0;
}

TEST(the_exit_code_of_a_child_comes_as_an_event)
{
	run(spawn_exit_3);
	CHECK_EQ(done, 1);
	CHECK_EQ(kids[0].result, 0);
	CHECK(WIFEXITED(kids[0].status));
	CHECK_EQ(WEXITSTATUS(kids[0].status), 3);
	CHECK_EQ(waitpid(kids[0].pid, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

static int spawn_suicide(void *unused)
{
	(void)unused;
	return shell(kid(0), "kill -TERM $$; exit 1", NULL);
}

TEST(the_signal_that_killed_a_child_is_told)
{
	run(spawn_suicide);
	CHECK_EQ(kids[0].result, 0);
	CHECK(WIFSIGNALED(kids[0].status));
	CHECK_EQ(WTERMSIG(kids[0].status), SIGTERM);
}

static int spawn_nothing(void *unused)
{
	char *argv[] = { (char *)"x", NULL };

	(void)unused;
	CHECK_EQ(weft_child_spawn(kid(0), "/nowhere/no-such-program", argv, NULL, NULL), -ENOENT);
	CHECK_EQ(weft_child_spawn(kid(0), "no-such-program-in-path", argv, NULL, NULL), -ENOENT);
	CHECK_EQ(weft_child_spawn(kid(0), "/", argv, NULL, NULL), -EACCES);
	CHECK_EQ(weft_child_cancel(&kids[0]), -ENOENT);
	return 0;
}

TEST(a_program_that_cannot_be_started_is_an_error_at_once)
{
	run(spawn_nothing);
	CHECK_EQ(done, 0);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

static int spawn_and_cancel(void *unused)
{
	(void)unused;
	CHECK_EQ(shell(kid(0), "exec sleep 600", NULL), 0);
	CHECK_EQ(weft_child_cancel(&kids[0]), 0);
	CHECK_EQ(weft_child_cancel(&kids[0]), -EALREADY);
	return 0;
}

TEST(a_cancelled_wait_leaves_the_child_alone)
{
	int status;

	run(spawn_and_cancel);
	CHECK_EQ(done, 1);
	CHECK_EQ(kids[0].result, -ECANCELED);
	CHECK_EQ(waitpid(kids[0].pid, &status, WNOHANG), 0);
	CHECK_EQ(kill(kids[0].pid, SIGKILL), 0);
	CHECK_EQ(waitpid(kids[0].pid, &status, 0), kids[0].pid);
	CHECK(WIFSIGNALED(status));
}

static int spawn_and_stop(void *unused)
{
	(void)unused;
	CHECK_EQ(shell(kid(0), "exec sleep 600", NULL), 0);
	return weft_stop();
}

TEST(a_child_outlives_a_runtime_that_stops)
{
	int first = dup(0), second;

	close(first);
	run(spawn_and_stop);
	CHECK_EQ(done, 0);
	CHECK_EQ(kill(kids[0].pid, SIGKILL), 0);
	CHECK_EQ(waitpid(kids[0].pid, NULL, 0), kids[0].pid);
	second = dup(0);
	CHECK_EQ(second, first); /* no descriptor was left behind */
}

static int wait_for_others(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_child_wait(kid(0), 1), -ECHILD);
	CHECK_EQ(weft_child_wait(kid(0), getpid()), -ECHILD);
	CHECK_EQ(weft_child_wait(kid(0), 0), -EINVAL);
	CHECK_EQ(weft_child_wait(kid(0), -1), -EINVAL);
	CHECK_EQ(weft_child_wait(NULL, 1), -EINVAL);
	kids[0].event.run = NULL;
	CHECK_EQ(weft_child_wait(&kids[0], 1), -EINVAL);
	CHECK_EQ(weft_child_spawn(kid(0), NULL, NULL, NULL, NULL), -EINVAL);
	CHECK_EQ(weft_child_cancel(NULL), -EINVAL);
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(shell(kid(0), "exit 0", NULL), -ESHUTDOWN);
	return 0;
}

TEST(wrong_use_is_refused_with_an_error)
{
	CHECK_EQ(shell(kid(0), "exit 0", NULL), -ESHUTDOWN);
	CHECK_EQ(weft_child_cancel(&kids[0]), -ESHUTDOWN);
	run(wait_for_others);
	CHECK_EQ(done, 0);
}

static pid_t forked;

static int wait_for_forked(void *unused)
{
	(void)unused;
	return weft_child_wait(kid(0), forked);
}

TEST(a_child_that_ended_before_the_wait_is_told_too)
{
	siginfo_t info;

	forked = fork();
	if (forked == 0)
		_exit(9);
	CHECK_EQ(waitid(P_PID, (id_t)forked, &info, WEXITED | WNOWAIT), 0);
	run(wait_for_forked);
	CHECK_EQ(done, 1);
	CHECK_EQ(WEXITSTATUS(kids[0].status), 9);
}

static int spawn_many(void *unused)
{
	char script[32];

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		snprintf(script, sizeof script, "exit %d", i);
		CHECK_EQ(shell(kid(i), script, NULL), 0);
	}
	return 0;
}

TEST(many_children_each_tell_their_own_status)
{
	run(spawn_many);
	CHECK_EQ(done, MANY);
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(WEXITSTATUS(kids[i].status), i);
}

static int out[2];
static const char *script_to_run;
static int fds_to_give[3];

static int spawn_with_fds(void *unused)
{
	(void)unused;
	return shell(kid(0), script_to_run, fds_to_give);
}

/* What the child wrote to the pipe. */
static const char *said(void)
{
	static char text[256];
	ssize_t n;

	close(out[1]);
	n = read(out[0], text, sizeof text - 1);
	CHECK(n >= 0);
	text[n] = '\0';
	close(out[0]);
	return text;
}

TEST(a_child_gets_the_descriptors_it_is_given)
{
	CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
	script_to_run = "cat; echo out; echo err >&2";
	fds_to_give[0] = -1;
	fds_to_give[1] = fds_to_give[2] = out[1];
	run(spawn_with_fds);
	CHECK_STR(said(), "out\nerr\n");
}

TEST(descriptors_may_be_given_crosswise)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* 1 is the pipe and 2 is /dev/null here, and the other way round there. */
	CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
	CHECK_EQ(dup2(out[1], 1), 1);
	CHECK_EQ(dup2(null, 2), 2);
	script_to_run = "echo lost; echo kept >&2";
	fds_to_give[0] = 0;
	fds_to_give[1] = 2;
	fds_to_give[2] = 1;
	run(spawn_with_fds);
	dup2(null, 1);
	CHECK_STR(said(), "kept\n");
}

TEST(a_child_starts_with_fresh_signals)
{
	sigset_t set;

	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fds_to_give[0] = 0;
	fds_to_give[1] = 1;
	fds_to_give[2] = 2;
	script_to_run = "kill -USR2 $$; exit 0";
	run(spawn_with_fds);
	CHECK(WIFSIGNALED(kids[0].status));
	CHECK_EQ(WTERMSIG(kids[0].status), SIGUSR2);
}

static int spawn_in_environment(void *unused)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"exit $CODE", NULL };
	char *envp[] = { (char *)"CODE=21", NULL };

	(void)unused;
	return weft_child_spawn(kid(0), "/bin/sh", argv, envp, NULL);
}

TEST(a_child_gets_the_environment_it_is_given)
{
	run(spawn_in_environment);
	CHECK_EQ(WEXITSTATUS(kids[0].status), 21);
}

/* Cancel against exit: whoever wins, it is told once and truly. */
static _Atomic int go;
static pthread_t canceller;

static void *cancel_soon(void *unused)
{
	(void)unused;
	for (int i = 0; i < MANY; i++) {
		int r;

		while (go <= i)
			sched_yield();
		r = weft_child_cancel(&kids[i]);
		CHECK(r == 0 || r == -EALREADY);
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int spawn_and_race(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hold(), 0);
	pthread_create(&canceller, NULL, cancel_soon, NULL);
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(shell(kid(i), "exit 1", NULL), 0);
		go = i + 1;
	}
	return 0;
}

TEST(a_cancel_that_races_with_the_end_is_exact)
{
	run(spawn_and_race);
	pthread_join(canceller, NULL);
	CHECK_EQ(done, MANY);
	for (int i = 0; i < MANY; i++) {
		pid_t left = waitpid(kids[i].pid, NULL, 0);

		if (kids[i].result == -ECANCELED) {
			CHECK_EQ(left, kids[i].pid);
		} else {
			CHECK_EQ(kids[i].result, 0);
			CHECK_EQ(WEXITSTATUS(kids[i].status), 1);
			CHECK_EQ(left, -1);
		}
	}
}

/* Waits that another thread cancels as soon as they begin. */
static _Atomic int racing = -1;
static weft_child *racers; /* each is used once: a cancel may come late */
static pid_t sleeper;

static void *cancel_what_begins(void *unused)
{
	(void)unused;
	for (int i = racing; i < TEST_SIZE(2000); i = racing) {
		if (i >= 0)
			(void)weft_child_cancel(&racers[i]);
		sched_yield();
	}
	return NULL;
}

static void wait_again(void *unused)
{
	weft_child *c;

	(void)unused;
	if (racing + 1 == TEST_SIZE(2000)) {
		racing++;
		return;
	}
	c = &racers[racing + 1];
	weft_child_init(c, COLOR, wait_again, NULL);
	racing++;
	CHECK_EQ(weft_child_wait(c, sleeper), 0);
}

static int race_with_the_beginning(void *unused)
{
	(void)unused;
	pthread_create(&canceller, NULL, cancel_what_begins, NULL);
	return weft_post(COLOR, wait_again, NULL);
}

TEST(a_cancel_that_races_with_the_beginning_is_exact)
{
	sleeper = fork();
	if (sleeper == 0) {
		pause();
		_exit(0);
	}
	racers = calloc((size_t)TEST_SIZE(2000), sizeof *racers);
	run(race_with_the_beginning);
	pthread_join(canceller, NULL);
	CHECK_EQ(racing, TEST_SIZE(2000));
	free(racers);
	kill(sleeper, SIGKILL);
	CHECK_EQ(waitpid(sleeper, NULL, 0), sleeper);
}

#ifdef WEFT_FAULTS
/* Where faults are counted nobody else may ask for them: no second worker, and no stand-in
 * for one that takes long to start a process. */
static void run_alone(int (*fn)(void *))
{
	CHECK_EQ(setenv("WEFT_STALL_MS", "-1", 1), 0);
	run_on(1, fn);
}

/* Each failure is either told at once, and nothing runs, or made up for. */
static long spawned, refused;

static int spawn_with_faults(void *unused)
{
	int fds[3] = { 0, 2, 1 }, r;

	(void)unused;
	for (long nth = 1; nth <= 12; nth++) {
		weft_child *c = kid((int)nth);

		wf_fault_arm(nth);
		r = shell(c, "exit 6", fds);
		wf_fault_arm(0);
		if (r == 0)
			spawned++;
		else
			refused++;
		CHECK(r == 0 || r == -ENOMEM || r == -EMFILE || r == -EAGAIN);
	}
	return 0;
}

TEST(a_spawn_that_fails_starts_nothing_and_one_that_succeeds_is_waited_for)
{
	run_alone(spawn_with_faults);
	CHECK_EQ(done, spawned);
	CHECK(refused >= 4); /* memory, two descriptors, the process */
	CHECK(spawned >= 4); /* no pidfd, no watch: a timer looks */
	for (int i = 1; i <= 12; i++) {
		if (kids[i].pid > 0)
			CHECK_EQ(WEXITSTATUS(kids[i].status), 6);
	}
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
}

static int cancel_without_pidfd(void *unused)
{
	(void)unused;
	wf_fault_arm(3); /* memory, the process, the pidfd */
	CHECK_EQ(shell(kid(0), "exec sleep 600", NULL), 0);
	wf_fault_arm(0);
	return weft_child_cancel(&kids[0]);
}

TEST(without_a_pidfd_a_wait_can_be_cancelled_too)
{
	run_alone(cancel_without_pidfd);
	CHECK_EQ(kids[0].result, -ECANCELED);
	CHECK_EQ(kill(kids[0].pid, SIGKILL), 0);
	CHECK_EQ(waitpid(kids[0].pid, NULL, 0), kids[0].pid);
}

static int stop_without_pidfd(void *unused)
{
	(void)unused;
	wf_fault_arm(3);
	CHECK_EQ(shell(kid(0), "exec sleep 600", NULL), 0);
	wf_fault_arm(0);
	return weft_stop();
}

TEST(without_a_pidfd_a_runtime_can_stop_too)
{
	run_alone(stop_without_pidfd);
	CHECK_EQ(kill(kids[0].pid, SIGKILL), 0);
	CHECK_EQ(waitpid(kids[0].pid, NULL, 0), kids[0].pid);
}
#endif

/* Programs that reap children by themselves */

static void reap_all(int signo)
{
	int was = errno;

	(void)signo;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = was;
}

static char report[1024];

static void keep_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)unused;
	if (kind == WEFT_REPORT_MISUSE) /* not that a slow build is stuck */
		snprintf(report, sizeof report, "%s", text);
}

/* Ends when its input does: not before Weft waits for it. */
static int held[2];

static int spawn_held(void *unused)
{
	(void)unused;
	CHECK_EQ(shell(kid(0), "read line; exit 9", (const int[]){ held[0], 1, 2 }), 0);
	close(held[1]);
	return 0;
}

static bool kernel_remembers(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	CHECK_EQ(uname(&name), 0);
	CHECK_EQ(sscanf(name.release, "%d.%d", &major, &minor), 2);
	return major > 6 || (major == 6 && minor >= 15);
}

/* With Linux 6.15 nothing is lost; before, the report says what to do. */
static void end_reaped_by_others(const char *advice)
{
	CHECK_EQ(pipe2(held, O_CLOEXEC), 0);
	weft_on_report(keep_report, NULL);
	run(spawn_held);
	CHECK_EQ(done, 1);
	if (kids[0].result == 0) {
		CHECK(WIFEXITED(kids[0].status));
		CHECK_EQ(WEXITSTATUS(kids[0].status), 9);
		CHECK_STR(report, "");
	} else {
		CHECK(!kernel_remembers());
		CHECK_EQ(kids[0].result, -ECHILD);
		CHECK(strstr(report, "SIGCHLD") != NULL);
		CHECK(strstr(report, advice) != NULL);
	}
}

static void handle(void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	CHECK_EQ(sigaction(SIGCHLD, &sa, NULL), 0);
}

TEST(a_handler_that_reaps_every_child_takes_no_status_unsaid)
{
	handle(reap_all, SA_RESTART);
	end_reaped_by_others("waitpid");
}

TEST(where_sigchld_is_ignored_no_status_is_lost_unsaid)
{
	handle(SIG_IGN, 0);
	end_reaped_by_others("SIG_IGN");
}

TEST(where_children_leave_no_zombies_no_status_is_lost_unsaid)
{
	handle(SIG_DFL, SA_NOCLDWAIT);
	end_reaped_by_others("SA_NOCLDWAIT");
}

/* It may be gone before anybody could wait for it. */
static int spawn_short(void *unused)
{
	(void)unused;
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(shell(kid(i), "exit 9", NULL), 0);
	return 0;
}

TEST(short_children_that_are_reaped_by_others_are_told_all_the_same)
{
	handle(reap_all, SA_RESTART);
	weft_on_report(keep_report, NULL);
	run(spawn_short);
	CHECK_EQ(done, MANY);
	for (int i = 0; i < MANY; i++) {
		if (kids[i].result == 0)
			CHECK_EQ(WEXITSTATUS(kids[i].status), 9);
		else
			CHECK_EQ(kids[i].result, -ECHILD);
	}
}

#ifdef WEFT_FAULTS
static int spawn_without_pidfd(void *unused)
{
	wf_fault_arm(3); /* memory, the process, the pidfd */
	spawn_held(unused);
	wf_fault_arm(0);
	return 0;
}

/* Older kernels do not know it with a pidfd either. */
TEST(without_a_pidfd_a_status_that_is_lost_is_reported)
{
	handle(SIG_IGN, 0);
	CHECK_EQ(pipe2(held, O_CLOEXEC), 0);
	weft_on_report(keep_report, NULL);
	run_alone(spawn_without_pidfd);
	CHECK_EQ(kids[0].result, -ECHILD);
	CHECK(strstr(report, "SIGCHLD") != NULL);
}
#endif

TEST_MAIN
