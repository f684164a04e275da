/* test.c - runs each test in a forked process and says what became of it.
 *
 * The child leaves its reason in a page shared with the parent: that works from
 * any thread, and survives a crash. What it prints is kept in memory and shown
 * only if it fails. It ends by exit(), not _exit(), so that the sanitizers'
 * checks at exit (leaks, races) count. Rejected: threads instead of processes (a
 * crash would take the rest with it), a pipe for the reason (stray children of
 * the test keep it open).
 */
#include "harness/test.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW_BUILD 1
#endif
#endif
#ifndef SLOW_BUILD
#define SLOW_BUILD 0
#endif

enum {
	LIMIT_SECONDS = 60,
	SLOW_FACTOR = 5,
	FAILED_STATUS = 101, /* of a test that a CHECK ended */
	SKIPPED_STATUS = 102,
	REASON_MAX = 2048,
	GRACE_US = 100000,
};

/* Shared between a test's process and the parent. */
struct verdict {
	atomic_bool failed; /* the first thread to set it gives the reason */
	atomic_bool skipped;
	atomic_bool ended; /* the test came to its end */
	atomic_bool random;
	char reason[REASON_MAX];
};

enum outcome { PASSED, FAILED, SKIPPED };

static struct test_case *first, **last = &first;
static struct verdict *verdict;
static uint64_t seed;

void test_register(struct test_case *test)
{
	*last = test;
	last = &test->next;
}

static bool env_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' && strcmp(value, "0") != 0;
}

/* The number in an environment variable; a wrong one ends the program. */
static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);
	char *end;
	uint64_t n;

	if (value == NULL || *value == '\0')
		return otherwise;
	errno = 0;
	n = strtoull(value, &end, 0);
	if (errno != 0 || *end != '\0') {
		fprintf(stderr, "%s: not a number: %s\n", name, value);
		exit(2);
	}
	return n;
}

uint64_t test_seed(void)
{
	atomic_store(&verdict->random, true);
	return seed;
}

uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

bool test_quick(void)
{
	return env_set("WEFT_TEST_QUICK");
}

bool test_full(void)
{
	return env_set("WEFT_TEST_FULL");
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	int at;

	if (atomic_exchange(&verdict->failed, true)) {
		usleep(GRACE_US); /* another thread is giving its reason */
		_exit(FAILED_STATUS);
	}
	at = snprintf(verdict->reason, REASON_MAX, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vsnprintf(verdict->reason + at, (size_t)(REASON_MAX - at), fmt, ap);
	va_end(ap);
	if (env_set("WEFT_TEST_NOFORK"))
		printf("FAILED: %s\n", verdict->reason);
	fflush(stdout);
	_exit(FAILED_STATUS);
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	if (atomic_load(&verdict->failed))
		_exit(FAILED_STATUS);
	va_start(ap, fmt);
	vsnprintf(verdict->reason, REASON_MAX, fmt, ap);
	va_end(ap);
	atomic_store(&verdict->skipped, true);
	if (env_set("WEFT_TEST_NOFORK"))
		printf("skipped: %s\n", verdict->reason);
	fflush(stdout);
	_exit(SKIPPED_STATUS);
}

/* A number as people read it: errors by name, what looks unsigned in hex. */
static const char *number_text(char *buf, size_t size, intmax_t n)
{
	const char *name = n < 0 && n > -4096 ? strerrorname_np((int)-n) : NULL;

	if (name != NULL)
		snprintf(buf, size, "%jd (-%s)", n, name);
	else if (n < -4095 || n > UINT32_MAX)
		snprintf(buf, size, "%jd (%#jx)", n, (uintmax_t)n);
	else
		snprintf(buf, size, "%jd", n);
	return buf;
}

void test_equal(intmax_t a, intmax_t b, const char *text_a, const char *text_b, const char *file,
		int line)
{
	char buf_a[80], buf_b[80];

	if (a != b)
		test_fail(file, line, "%s is %s, but %s is %s", text_a,
			  number_text(buf_a, sizeof buf_a, a), text_b,
			  number_text(buf_b, sizeof buf_b, b));
}

void test_same_text(const char *a, const char *b, const char *text_a, const char *text_b,
		    const char *file, int line)
{
	if (a == NULL || b == NULL ? a != b : strcmp(a, b) != 0)
		test_fail(file, line, "%s is \"%s\", but %s is \"%s\"", text_a, a ? a : "(null)",
			  text_b, b ? b : "(null)");
}

void test_must_abort(void (*fn)(void), const char *text, const char *file, int line)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fn();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		test_fail(file, line, "no process for %s", text);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		test_fail(file, line, "%s did not abort: status %#x", text, (unsigned)status);
}

/* In the child: becomes the test and never comes back. */
static _Noreturn void be_the_test(const struct test_case *test, int output, const sigset_t *mask)
{
	struct rlimit no_core = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (output >= 0) {
		dup2(output, STDOUT_FILENO);
		dup2(output, STDERR_FILENO);
		close(output);
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	test->run();
	atomic_store(&verdict->ended, true);
	exit(0);
}

/* Where a test hangs is what one wants to know; gdb tells if it is there. */
static void show_stacks(pid_t pid)
{
	char command[256];

	snprintf(command, sizeof command,
		 "command -v gdb >/dev/null && timeout 20 gdb -nx -batch -p %d "
		 "-ex 'thread apply all backtrace 16' 2>/dev/null | grep -E '^(Thread|#)'",
		 (int)pid);
	fflush(stdout);
	if (system(command) != 0)
		printf("no stacks of the hanging test: no gdb, or it may not look\n");
}

/* Waits for the child, with a limit. Returns false when it had to be killed. */
static bool wait_for(pid_t pid, int *status, const sigset_t *child_signal, uint64_t limit)
{
	struct timespec now, left;
	time_t deadline;

	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = now.tv_sec + (time_t)limit;
	while (waitpid(pid, status, WNOHANG) != pid) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec >= deadline) {
			show_stacks(pid);
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return false;
		}
		left = (struct timespec){ deadline - now.tv_sec, 0 };
		sigtimedwait(child_signal, NULL, &left);
	}
	kill(-pid, SIGKILL); /* what the test left running */
	return true;
}

static void copy_output(int from)
{
	char buf[4096];
	ssize_t n;

	lseek(from, 0, SEEK_SET);
	while ((n = read(from, buf, sizeof buf)) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
}

static void say_why(int status, bool in_time, uint64_t limit)
{
	if (atomic_load(&verdict->failed))
		printf("%s", verdict->reason);
	else if (!in_time)
		printf("still running after %ju s", (uintmax_t)limit);
	else if (WIFSIGNALED(status))
		printf("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == 0)
		printf("left by exit(0) before its end");
	else
		printf("exit status %d", WEXITSTATUS(status));
}

static enum outcome judge(int status, bool in_time)
{
	if (!in_time || atomic_load(&verdict->failed))
		return FAILED;
	if (atomic_load(&verdict->skipped) && WIFEXITED(status) &&
	    WEXITSTATUS(status) == SKIPPED_STATUS)
		return SKIPPED;
	return status == 0 && atomic_load(&verdict->ended) ? PASSED : FAILED;
}

static enum outcome report(const struct test_case *test, int status, bool in_time, uint64_t limit)
{
	static const char *const words[] = { "ok %s", "FAILED %s: ", "skipped %s: " };
	enum outcome outcome = judge(status, in_time);

	printf(words[outcome], test->name);
	if (outcome == FAILED)
		say_why(status, in_time, limit);
	else if (outcome == SKIPPED)
		printf("%s", verdict->reason);
	if (atomic_load(&verdict->random))
		printf(" (WEFT_TEST_SEED=%ju)", (uintmax_t)seed);
	printf("\n");
	return outcome;
}

static enum outcome run_forked(const struct test_case *test, uint64_t limit)
{
	int output = env_set("WEFT_TEST_VERBOSE") ? -1 : memfd_create("output", MFD_CLOEXEC);
	sigset_t child_signal, before;
	int status = 0;
	enum outcome outcome;
	bool in_time;
	pid_t pid;

	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_signal, &before);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_the_test(test, output, &before);
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	in_time = wait_for(pid, &status, &child_signal, limit);
	sigprocmask(SIG_SETMASK, &before, NULL);
	outcome = report(test, status, in_time, limit);
	if (output >= 0) {
		if (outcome == FAILED)
			copy_output(output);
		close(output);
	}
	fflush(stdout);
	return outcome;
}

/* A CHECK that fails, or a SKIP, ends the program: there is nobody left to go on. */
static enum outcome run_here(const struct test_case *test)
{
	test->run();
	atomic_store(&verdict->ended, true);
	return report(test, 0, true, 0);
}

static enum outcome run_one(const struct test_case *test, uint64_t limit)
{
	atomic_store(&verdict->failed, false);
	atomic_store(&verdict->skipped, false);
	atomic_store(&verdict->ended, false);
	atomic_store(&verdict->random, false);
	return env_set("WEFT_TEST_NOFORK") ? run_here(test) : run_forked(test, limit);
}

static bool wanted(const struct test_case *test, int count, char **names)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(names[i], test->name) == 0)
			return true;
	}
	return count == 0;
}

/* A name that no test has is an error, not a test that silently did not run. */
static void check_names(int count, char **names)
{
	const struct test_case *test;

	for (int i = 0; i < count; i++) {
		for (test = first; test != NULL; test = test->next) {
			if (strcmp(names[i], test->name) == 0)
				break;
		}
		if (test == NULL) {
			fprintf(stderr, "no test is called %s\n", names[i]);
			exit(2);
		}
	}
}

static uint64_t fresh_seed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t usual_limit(void)
{
	const char *preload = getenv("LD_PRELOAD");
	bool slow = SLOW_BUILD || (preload != NULL && strstr(preload, "vgpreload") != NULL);

	return slow ? LIMIT_SECONDS * SLOW_FACTOR : LIMIT_SECONDS;
}

int test_main(int argc, char **argv)
{
	uint64_t limit = env_number("WEFT_TEST_LIMIT", usual_limit());
	unsigned count[3] = { 0 };

	seed = env_number("WEFT_TEST_SEED", fresh_seed());
	check_names(argc - 1, argv + 1);
	verdict = mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (verdict == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	for (const struct test_case *test = first; test != NULL; test = test->next) {
		if (wanted(test, argc - 1, argv + 1))
			count[run_one(test, limit)]++;
	}
	printf("%u passed, %u failed", count[PASSED], count[FAILED]);
	if (count[SKIPPED] > 0)
		printf(", %u skipped", count[SKIPPED]);
	printf("\n");
	return count[FAILED] != 0 || count[PASSED] + count[SKIPPED] == 0;
}
