/* calls_fault.c - the nth call to the outside world fails, for every n: each time the
 * blocking calls tell an error, every thread ends, and no descriptor is left over. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/faults.h"

/* Whatever fails, the other side must not wait for ever. */
#define SOON (weft_now() + 100 * WEFT_MS)

#define expected(n) fault_expected_at(n, __FILE__, __LINE__)

static void shut(int fd)
{
	if (fd >= 0)
		CHECK_EQ(weft_close(fd), 0);
}

static int say_hello(void *arg)
{
	expected(weft_write_all_until((int)(intptr_t)arg, "hello", 5, NULL, SOON));
	return 0;
}

/* It is waited for, before the descriptor is closed and its number another's. */
static weft_thread *let_say_hello(int fd)
{
	weft_thread *t = NULL;

	expected(weft_thread_start(&t, NULL, say_hello, (void *)(intptr_t)fd));
	return t;
}

static void has_said_hello(weft_thread *t)
{
	if (t != NULL)
		CHECK_EQ(weft_join(t, NULL), 0);
}

static void streams(void)
{
	struct iovec iov;
	char buf[64];
	weft_thread *t;
	int fd[2];

	socket_pair(fd);
	t = let_say_hello(fd[1]);
	expected(weft_read_exactly_until(fd[0], buf, 5, NULL, SOON));
	has_said_hello(t);
	expected(weft_write_until(fd[1], "hello", 5, SOON));
	iov = (struct iovec){ buf, sizeof buf };
	expected(weft_readv_until(fd[0], &iov, 1, SOON));
	shut(fd[0]);
	shut(fd[1]);
}

static int knock_once(void *address)
{
	int fd = weft_dial_until(address, SOON);

	if (fd == -ECONNREFUSED)
		return 0; /* nobody accepts any more */
	expected(fd);
	shut(fd);
	return 0;
}

static void connections(void)
{
	int fd, ls = weft_listen("127.0.0.1:0", NULL);
	static char address[32];
	char byte;

	expected(ls);
	if (ls < 0)
		return;
	snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(address_of(ls).sin_port));
	expected(weft_go(knock_once, address));
	fd = weft_accept_until(ls, NULL, SOON);
	expected(fd);
	if (fd >= 0)
		expected(weft_read_until(fd, &byte, 1, SOON));
	shut(fd);
	shut(ls);
}

static void files(void)
{
	int fd[2], file = weft_open("/proc/self/exe", O_RDONLY, 0);
	char buf[64];

	expected(file);
	if (file < 0)
		return;
	expected(weft_pread(file, buf, sizeof buf, 1000));
	expected(weft_fdatasync(file));
	socket_pair(fd);
	expected(weft_sendfile_until(fd[1], file, 0, 64, SOON));
	expected(weft_recv_until(fd[0], buf, sizeof buf, 0, SOON));
	shut(fd[0]);
	shut(fd[1]);
	shut(file);
}

static void polls(void)
{
	struct pollfd p[6];
	weft_thread *t;
	int fd[2];

	make_pipe(fd);
	for (int i = 0; i < 6; i++)
		p[i] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	t = let_say_hello(fd[1]);
	expected(weft_poll_until(p, 6, SOON));
	has_said_hello(t);
	shut(fd[0]);
	shut(fd[1]);
}

static int nothing(void *unused)
{
	(void)unused;
	return 0;
}

static void others(void)
{
	char *argv[] = { (char *)(intptr_t) "true", NULL };
	struct sockaddr_storage *addrs;
	sigset_t set;
	pid_t pid;
	int n;

	expected(weft_offload(nothing, NULL));
	n = weft_child_run_until("true", argv, NULL, NULL, &pid, NULL, WEFT_FOREVER);
	expected(n);
	n = weft_resolve("127.0.0.1", 1, AF_INET, &addrs);
	expected(n);
	if (n > 0)
		free(addrs);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	expected(weft_signal_wait_until(&set, weft_now() + WEFT_US));
}

static int steps;

static int program(void *unused)
{
	static void (*const all[])(void) = { streams, connections, files, polls, others };

	(void)unused;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++, steps++)
		all[i]();
	return 0;
}

TEST(any_one_failure_is_an_error_and_never_a_hang)
{
	fail_each_call(program, &steps, 5);
}

TEST_MAIN
