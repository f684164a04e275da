/* Fork: exec at any time, and a child that goes on finds the runtime stopped,
 * not broken. The parent notices nothing.
 */
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

/* What the sanitizers cannot do in a forked child of many threads: TSan gives up
 * when it starts threads, so its own run makes do with the thread it has; ASan's
 * allocator may be locked for ever by a thread that is not there, so it has no run
 * of its own. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#elif __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define ONE_THREAD 1
#else
#define ONE_THREAD 0
#endif
#ifdef __SANITIZE_ADDRESS__
#define CAN_ALLOCATE 0
#else
#define CAN_ALLOCATE 1
#endif

static const weft_options in_the_child = { .workers = ONE_THREAD ? 1 : 3,
					   .stall_ms = ONE_THREAD ? -1 : 0 };

static atomic_bool enough;
static atomic_long ran;

/* Keeps all workers busy with posting until told otherwise. */
static void keep_busy(void *arg)
{
	uintptr_t c = (uintptr_t)arg;

	atomic_fetch_add(&ran, 1);
	if (!atomic_load(&enough)) {
		CHECK_EQ(weft_post(c, keep_busy, arg), 0);
		CHECK_EQ(weft_post(weft_color_new(), nothing, NULL), 0);
	}
}

static void make_busy(void)
{
	for (uintptr_t c = 1; c <= 20; c++)
		CHECK_EQ(weft_post(c, keep_busy, (void *)c), 0);
}

static void check_exit(pid_t pid, int wanted)
{
	int status;

	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), wanted);
}

/* fork and exec */

static void fork_and_exec(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(99);
	}
	check_exit(pid, 7);
}

static void exec_in_handler(void *unused)
{
	(void)unused;
	for (int i = 0; i < TEST_SIZE(50); i++)
		fork_and_exec();
	atomic_store(&enough, true);
}

static int start_exec(void *unused)
{
	make_busy();
	return weft_post(1000, exec_in_handler, unused);
}

TEST(fork_and_exec_from_a_handler_is_safe_while_workers_are_busy)
{
	weft_options opt = { .workers = 4, .steal = "base", .stall_ms = -1 };

	CHECK_EQ(weft_run(start_exec, NULL, &opt), 0);
}

static void *exec_outside(void *unused)
{
	for (int i = 0; i < TEST_SIZE(50); i++)
		fork_and_exec();
	atomic_store(&enough, true);
	return unused;
}

static pthread_t outside;

static int start_exec_outside(void *unused)
{
	make_busy();
	outside = thread_start(exec_outside, unused);
	return 0;
}

TEST(fork_and_exec_from_a_foreign_thread_is_safe_while_workers_are_busy)
{
	weft_options opt = { .workers = 4, .steal = "base" };

	CHECK_EQ(weft_run(start_exec_outside, NULL, &opt), 0);
	thread_join(outside);
}

/* A child that goes on. Its CHECKs end it with another status than 5. */

static int child_work(void *unused)
{
	(void)unused;
	for (weft_color c = 0; c < 100; c++)
		CHECK_EQ(weft_post(c, nothing, NULL), 0);
	return 12;
}

static void check_stopped(void)
{
	CHECK_EQ(weft_worker_current(), -1);
	CHECK_EQ(weft_workers(), 0);
	CHECK_EQ(weft_post(3, nothing, NULL), -ESHUTDOWN);
	CHECK_EQ(weft_stop(), -ESHUTDOWN);
	CHECK_EQ(weft_hold(), -ESHUTDOWN);
	CHECK_EQ(weft_stats(NULL, NULL, 0), -ESHUTDOWN);
}

static void run_in_child(void)
{
	if (CAN_ALLOCATE)
		CHECK_EQ(weft_run(child_work, NULL, &in_the_child), 12);
}

/* The end of each test whose child tries that. */
static void skip_unless_it_ran(void)
{
	if (!CAN_ALLOCATE)
		SKIP("AddressSanitizer lets no child run its own; the rest was as it should be");
}

static void be_the_child(void)
{
	check_stopped();
	run_in_child();
	run_in_child();
	check_stopped();
	_exit(5);
}

static void go_on_in_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		be_the_child();
	check_exit(pid, 5);
}

static void fork_in_handler(void *unused)
{
	(void)unused;
	for (int i = 0; i < TEST_SIZE(30); i++)
		go_on_in_child();
	atomic_store(&enough, true);
}

static int start_fork(void *unused)
{
	make_busy();
	return weft_post(1000, fork_in_handler, unused);
}

TEST(a_child_forked_in_a_handler_finds_it_stopped_and_can_run_its_own)
{
	weft_options opt = { .workers = 3, .steal = "base", .stall_ms = -1 };

	CHECK_EQ(weft_run(start_fork, NULL, &opt), 0);
	CHECK(atomic_load(&ran) >= 20);
	skip_unless_it_ran();
}

static void *fork_outside(void *unused)
{
	for (int i = 0; i < TEST_SIZE(30); i++)
		go_on_in_child();
	atomic_store(&enough, true);
	return unused;
}

static int start_fork_outside(void *unused)
{
	make_busy();
	outside = thread_start(fork_outside, unused);
	return 0;
}

TEST(a_child_forked_by_a_foreign_thread_finds_it_stopped_and_can_run_its_own)
{
	weft_options opt = { .workers = 3, .steal = "base" };

	CHECK_EQ(weft_run(start_fork_outside, NULL, &opt), 0);
	thread_join(outside);
	skip_unless_it_ran();
}

/* A child that returns from the handler it was forked in */

static bool in_child;
static pid_t children[2];

static void fork_and_return(void *which)
{
	pid_t pid = fork();

	if (pid == 0)
		in_child = true;
	else
		children[(intptr_t)which] = pid;
}

static int start_return(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_color_pin(50, 0), 0);
	CHECK_EQ(weft_color_pin(51, 1), 0);
	CHECK_EQ(weft_post(50, fork_and_return, (void *)0), 0);
	return weft_post(51, fork_and_return, (void *)1);
}

TEST(a_child_that_returns_from_its_handler_leaves_the_runtime)
{
	weft_options opt = { .workers = 2 };
	int rc = weft_run(start_return, NULL, &opt);

	if (in_child) {
		/* Worker 0 is the thread that called weft_run: there it returns. */
		check_stopped();
		CHECK_EQ(rc, -ESHUTDOWN);
		run_in_child();
		_exit(6);
	}
	CHECK_EQ(rc, 0);
	check_exit(children[0], 6);
	/* Worker 1's thread has nowhere to return to. */
	check_exit(children[1], EXIT_FAILURE);
	skip_unless_it_ran();
}

TEST(a_fork_without_a_runtime_changes_nothing)
{
	CHECK_EQ(weft_run(child_work, NULL, NULL), 12);
	go_on_in_child();
	CHECK_EQ(weft_run(child_work, NULL, NULL), 12);
	skip_unless_it_ran();
}

TEST_MAIN
