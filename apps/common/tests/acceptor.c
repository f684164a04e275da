/* acceptor.c - what servers say and do when no connection can be accepted. WEFT_SERVER names one, with
 * its flags. */
#include "../acceptor.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"

/* Standard error, into a pipe. */
static int hear_errors(void)
{
	int end[2];

	CHECK_EQ(pipe(end), 0);
	CHECK_EQ(dup2(end[1], STDERR_FILENO), STDERR_FILENO);
	close(end[1]);
	return end[0];
}

/* How many lines come until the other side is closed. */
static int count_lines(int fd, char *text, size_t size)
{
	size_t used = 0;
	int lines = 0;
	ssize_t n;

	while (used < size - 1 && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return lines;
}

TEST(a_shortage_is_told_once_and_never_ends_the_server)
{
	struct acceptor a = { 0 };
	int errors = hear_errors();
	char text[512];

	for (int i = 0; i < 1000; i++)
		CHECK(acceptor_goes_on(&a, "test", i % 10 == 0 ? 7 : -EMFILE));
	close(STDERR_FILENO);
	CHECK_EQ(count_lines(errors, text, sizeof text), 1);
	CHECK(strstr(text, "accept4") != NULL);
}

TEST(a_refusal_now_and_then_is_about_one_connection)
{
	struct acceptor a = { 0 };

	for (int i = 0; i < 1000; i++)
		CHECK(acceptor_goes_on(&a, "test", i % 5 == 0 ? 7 : -EPERM));
}

TEST(refusals_without_end_end_the_server)
{
	struct acceptor a = { 0 };
	int errors = hear_errors(), calls = 1;
	char text[512];

	while (acceptor_goes_on(&a, "test", -ENOSYS))
		CHECK(++calls < 1000);
	close(STDERR_FILENO);
	CHECK_EQ(count_lines(errors, text, sizeof text), 2);
}

/* A server that may not call accept4 */

enum { NO_FILTER = 126 };

static void deny_accept(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_accept4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof code / sizeof *code, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		_exit(NO_FILTER);
}

/* It tries to accept before anybody comes. */
static pid_t start_server(int errors, int error)
{
	const char *command = getenv("WEFT_SERVER");
	pid_t pid = fork();

	CHECK(command != NULL && pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(errors, STDERR_FILENO);
	deny_accept(error);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

static void serve_without(int error)
{
	char text[2048];
	int status, end[2];
	pid_t pid;

	CHECK_EQ(pipe(end), 0);
	pid = start_server(end[1], error);
	close(end[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(count_lines(end[0], text, sizeof text) < 12);
	close(end[0]);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTER)
		SKIP("no seccomp filter can be installed here");
	CHECK_EQ(WEXITSTATUS(status), EXIT_FAILURE);
	CHECK(strstr(text, "accept4") != NULL);
	CHECK(strstr(text, strerror(error)) != NULL);
}

TEST(a_server_that_may_not_accept_says_so_and_ends)
{
	serve_without(EPERM);
	serve_without(ENOSYS);
}

TEST_MAIN
