/* The nth call to the outside world fails, for every n: each primitive event is triggered once
 * all the same, and nothing is left over. */
/* backends: both */
#include "tame/primitives.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/faults.h"
#include "tame/tame.h"

#define expected(n) fault_expected_at(n, __FILE__, __LINE__)

static void shut(struct fn *f, int fd)
{
	int rc = -1;

	if (fd < 0)
		return;
	BLOCK (f)
		weft_close_ev(fd, in_int(f, &rc));
	expected(rc);
	if (rc == -EBADF) /* as the kernel was made to say */
		CHECK_EQ(close(fd), 0);
}

/* All that were begun come to an end: what fails ends the wait of the other side, too. */
static void streams(struct fn *f)
{
	ssize_t n = -1, m = -1;
	int fd[2], events = -1;
	char buf[8];

	socket_pair(fd);
	BLOCK (f)
		weft_sleep_ev(1000, in_none(f));
	weft_read_ev(fd[0], buf, sizeof buf, of_size(f, 1, &n));
	weft_fd_ev(fd[0], POLLIN, of_int(f, 2, &events));
	weft_write_ev(fd[1], "hello", 5, of_size(f, 3, &m));
	while (m == -1)
		(void)next(f);
	expected(m);
	shut(f, fd[1]);
	while (n == -1 || events == -1)
		(void)next(f);
	cancel(f); /* all have come, though not all were told of */
	expected(n);
	expected(events);
	shut(f, fd[0]);
	socket_pair(fd);
	n = m = -1;
	BLOCK (f)
		weft_send_ev(fd[1], "hello", 5, 0, in_size(f, &n));
	expected(n);
	weft_recv_ev(fd[0], buf, sizeof buf, MSG_WAITALL, of_size(f, 1, &m));
	shut(f, fd[1]);
	CHECK_EQ(next(f), 1);
	expected(m);
	shut(f, fd[0]);
}

static void connections(struct fn *f)
{
	int ls = weft_listen("127.0.0.1:0", NULL), rc = -1, fd = -1;
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in addr;

	expected(ls);
	if (ls >= 0) {
		addr = address_of(ls);
		weft_accept_ev(ls, NULL, of_int(f, 1, &fd));
		BLOCK (f)
			weft_connect_ev(client, (struct sockaddr *)&addr, sizeof addr,
					in_int(f, &rc));
		expected(rc);
		if (rc < 0)
			cancel(f);
		else
			CHECK_EQ(next(f), 1);
		settle();
		expected(fd == -1 ? 0 : fd);
	}
	shut(f, fd);
	shut(f, ls);
	shut(f, client);
}

static void files(struct fn *f)
{
	int rc = -1, file = -1, fd[2];
	ssize_t n = -1, m = -1;
	char buf[64];

	weft_open_ev("/proc/self/exe", O_RDONLY, 0, of_int(f, 1, &file));
	CHECK_EQ(next(f), 1);
	expected(file);
	if (file < 0)
		return;
	weft_pread_ev(file, buf, sizeof buf, 1000, of_size(f, 1, &n));
	CHECK_EQ(next(f), 1);
	expected(n);
	BLOCK (f)
		weft_fdatasync_ev(file, in_int(f, &rc));
	expected(rc);
	socket_pair(fd);
	BLOCK (f)
		weft_sendfile_ev(fd[1], file, 0, 64, in_size(f, &m));
	expected(m);
	shut(f, fd[0]);
	shut(f, fd[1]);
	shut(f, file);
}

static char *const argv_true[] = { (char *)(intptr_t) "true", NULL };

static int nothing_at_all(void *unused)
{
	(void)unused;
	return 0;
}

static void others(struct fn *f)
{
	struct sockaddr_storage *all = NULL;
	struct in_addr ip;
	int rc = -1, status;

	BLOCK (f)
		weft_offload_ev(nothing_at_all, NULL, in_int(f, &rc));
	expected(rc);
	BLOCK (f)
		weft_spawn_ev("true", argv_true, NULL, NULL, NULL, in_two(f, &rc, &status));
	expected(rc);
	BLOCK (f)
		weft_lookup_all_ev("127.0.0.1", 1, AF_INET, 0, in_socks(f, &rc, &all));
	expected(rc);
	free(all);
	all = NULL;
	weft_lookup_all_ev("localhost", 1, AF_INET, 0, of_socks(f, 1, &rc, &all));
	CHECK_EQ(next(f), 1);
	if (rc != -ENOENT) /* the hosts file could not be read */
		expected(rc);
	free(all);
	BLOCK (f)
		weft_resolve_ev("localhost", in_ip(f, &ip));
	weft_signal_ev(SIGUSR1, of_int(f, 1, &rc));
	if (!has_next(f))
		CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(next(f), 1);
	expected(rc);
}

static int in_scope(weft_scope *scope, void *unused)
{
	(void)scope;
	(void)unused;
	return 3;
}

static void sync_with_others(struct fn *f)
{
	weft_channel *ch = weft_channel_new(sizeof(int), WEFT_UNBOUNDED);
	static weft_tame_lock lock;
	static weft_mutex mutex;
	int rc = -1, x = 1, value;
	weft_thread *t;

	if (ch != NULL) {
		weft_channel_receive_ev(ch, &x, of_int(f, 1, &rc));
		if (!has_next(f))
			expected(weft_channel_try_send(ch, &x));
		cancel(f);
		settle();
		CHECK_EQ(weft_channel_free(ch), 0);
	}
	CHECK_EQ(weft_trylock(&lock), 0);
	weft_lock_ev(&lock, of_none(f, 1));
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(next(f), 1);
	CHECK_EQ(weft_unlock(&lock), 0);
	BLOCK (f)
		weft_mutex_lock_ev(&mutex, in_int(f, &rc));
	expected(rc);
	if (rc == 0)
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	rc = weft_thread_start(&t, NULL, nothing_at_all, NULL);
	expected(rc);
	if (rc == 0) {
		BLOCK (f)
			weft_join_ev(t, in_two(f, &rc, &value));
		expected(rc);
		if (rc < 0)
			CHECK_EQ(weft_join(t, NULL), 0);
	}
	BLOCK (f)
		weft_scope_ev(in_scope, NULL, in_int(f, &rc));
	expected(rc);
}

static int steps;

static int program(void *unused)
{
	static void (*const all[])(struct fn * f) = { streams, connections, files, others,
						      sync_with_others };
	struct fn f;

	(void)unused;
	fn_begin(&f);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++, steps++)
		all[i](&f);
	fn_end(&f);
	YIELD_UNTIL(wf_tame_events_in_use == 0);
	return 0;
}

TEST(any_one_failure_is_a_value_and_never_a_hang)
{
	fail_each_call(program, &steps, 5);
}

TEST_MAIN
