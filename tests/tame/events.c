/* Primitive events come, once, with what their namesakes return. */
/* backends: both */
#include "tame/primitives.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

THREAD_TEST(time_passes_before_a_sleep_is_over, 1)
{
	uint64_t before = weft_now();
	struct fn f;

	fn_begin(&f);
	BLOCK (&f)
		weft_sleep_ev(WEFT_MS, in_none(&f));
	CHECK(weft_now() >= before + WEFT_MS);
	before = weft_now();
	BLOCK (&f)
		weft_until_ev(before + WEFT_MS, in_none(&f));
	CHECK(weft_now() >= before + WEFT_MS);
	BLOCK (&f)
		weft_until_ev(0, in_none(&f));
	fn_end(&f);
	return 0;
}

THREAD_TEST(what_is_in_a_stream_is_read_at_once_and_what_comes_later_is_waited_for, 1)
{
	ssize_t n = 0, m = 0;
	char buf[8];
	struct fn f;
	int fd[2];

	fn_begin(&f);
	socket_pair(fd);
	BLOCK (&f)
		weft_write_ev(fd[1], "hello", 5, in_size(&f, &n));
	CHECK_EQ(n, 5);
	BLOCK (&f)
		weft_read_ev(fd[0], buf, sizeof buf, in_size(&f, &n));
	CHECK_EQ(n, 5);
	BLOCK (&f) {
		weft_recv_ev(fd[0], buf, sizeof buf, 0, in_size(&f, &n));
		weft_send_ev(fd[1], "abc", 3, 0, in_size(&f, &m));
	}
	CHECK_EQ(n, 3);
	CHECK_EQ(m, 3);
	CHECK(memcmp(buf, "abc", 3) == 0);
	weft_read_ev(fd[0], buf, sizeof buf, of_size(&f, 1, &n));
	weft_write_ev(fd[1], "de", 2, of_size(&f, 2, &m));
	CHECK_EQ(next(&f) + next(&f), 3);
	CHECK_EQ(n, 2);
	CHECK(memcmp(buf, "de", 2) == 0);
	BLOCK (&f) {
		int a, b;

		weft_close_ev(fd[0], in_int(&f, &a));
		weft_close_ev(fd[1], in_int(&f, &b));
	}
	fn_end(&f);
	return 0;
}

static int write_slowly(void *arg)
{
	int fd = (int)(intptr_t)arg;

	for (int i = 0; i < 10; i++) {
		CHECK_EQ(weft_write(fd, &"0123456789"[i], 1), 1);
		weft_yield();
	}
	return 0;
}

THREAD_TEST(all_of_it_is_read_and_written_or_the_end_is_told, 1)
{
	static char big[1 << 20], back[1 << 20];
	ssize_t n = 0, m = 0;
	char buf[16];
	struct fn f;
	int fd[2];

	fn_begin(&f);
	for (int cancellable = 0; cancellable < 2; cancellable++) {
		socket_pair(fd);
		CHECK_EQ(weft_go(write_slowly, (void *)(intptr_t)fd[1]), 0);
		weft_read_exactly_ev(fd[0], buf, 10, of_size(&f, 1, &n));
		CHECK_EQ(next(&f), 1);
		CHECK_EQ(n, 10);
		CHECK(memcmp(buf, "0123456789", 10) == 0);
		for (size_t i = 0; i < sizeof big; i++)
			big[i] = (char)(i * 7 + i / 1000);
		if (cancellable) {
			weft_write_all_ev(fd[1], big, sizeof big, of_size(&f, 1, &n));
			weft_read_exactly_ev(fd[0], back, sizeof back, of_size(&f, 2, &m));
			CHECK_EQ(next(&f) + next(&f), 3);
		} else {
			BLOCK (&f) {
				weft_write_all_ev(fd[1], big, sizeof big, in_size(&f, &n));
				weft_read_exactly_ev(fd[0], back, sizeof back, in_size(&f, &m));
			}
		}
		CHECK_EQ(n, sizeof big);
		CHECK_EQ(m, sizeof big);
		CHECK(memcmp(big, back, sizeof big) == 0);
		memset(back, 0, sizeof back);
		CHECK_EQ(weft_write(fd[1], "x", 1), 1);
		CHECK_EQ(weft_close(fd[1]), 0);
		BLOCK (&f)
			weft_read_exactly_ev(fd[0], buf, 2, in_size(&f, &n));
		CHECK_EQ(n, -ENODATA);
		BLOCK (&f)
			weft_read_exactly_ev(fd[0], buf, 2, in_size(&f, &n));
		CHECK_EQ(n, 0);
		CHECK_EQ(weft_close(fd[0]), 0);
	}
	fn_end(&f);
	return 0;
}

THREAD_TEST(files_are_opened_written_synced_read_and_sent, 1)
{
	char path[64], buf[8];
	ssize_t n = 0, m = 0;
	int fd = -1, rc = -1, pair[2];
	struct fn f;

	fn_begin(&f);
	snprintf(path, sizeof path, "/tmp/weft-events-%d", getpid());
	weft_open_ev(path, O_RDWR | O_CREAT | O_TRUNC, 0600, of_int(&f, 1, &fd));
	memset(path + 4, 'x', 1);
	CHECK_EQ(next(&f), 1);
	path[4] = '/';
	CHECK(fd >= 0);
	BLOCK (&f) {
		weft_pwrite_ev(fd, "abcdef", 6, 2, in_size(&f, &n));
	}
	CHECK_EQ(n, 6);
	weft_pwrite_ev(fd, "xy", 2, 0, of_size(&f, 1, &n));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(n, 2);
	BLOCK (&f) {
		weft_fsync_ev(fd, in_int(&f, &rc));
		weft_fdatasync_ev(fd, in_int(&f, &rc));
	}
	CHECK_EQ(rc, 0);
	weft_pread_ev(fd, buf, 4, 1, of_size(&f, 2, &n));
	CHECK_EQ(next(&f), 2);
	CHECK_EQ(n, 4);
	CHECK(memcmp(buf, "yabc", 4) == 0);
	weft_pread_ev(fd, buf, 4, -1, of_size(&f, 2, &n));
	CHECK_EQ(next(&f), 2);
	CHECK_EQ(n, -EINVAL);
	socket_pair(pair);
	BLOCK (&f) {
		weft_sendfile_ev(pair[0], fd, 2, 100, in_size(&f, &n));
		weft_read_ev(pair[1], buf, sizeof buf, in_size(&f, &m));
	}
	CHECK_EQ(n, 6);
	CHECK_EQ(m, 6);
	CHECK(memcmp(buf, "abcdef", 6) == 0);
	BLOCK (&f)
		weft_open_ev("/nowhere/at/all", O_RDONLY, 0, in_int(&f, &rc));
	CHECK_EQ(rc, -ENOENT);
	BLOCK (&f) {
		weft_close_ev(fd, in_int(&f, &rc));
		weft_close_ev(pair[0], in_int(&f, NULL));
		weft_close_ev(pair[1], in_int(&f, NULL));
	}
	CHECK_EQ(rc, 0);
	CHECK_EQ(unlink(path), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(connections_are_made_and_accepted, 1)
{
	struct sockaddr_storage peer = { 0 };
	int ls = listener(), rc = -1, fd = -1, client;
	struct sockaddr_in addr = address_of(ls);
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < 4; i++) {
		client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (i % 2 == 0)
			weft_accept_ev(ls, &peer, of_int(&f, 1, &fd));
		BLOCK (&f) {
			if (i % 2 != 0)
				weft_accept_ev(ls, &peer, in_int(&f, &fd));
			weft_connect_ev(client, (struct sockaddr *)&addr, sizeof addr,
					in_int(&f, &rc));
		}
		if (i % 2 == 0)
			CHECK_EQ(next(&f), 1);
		CHECK_EQ(rc, 0);
		CHECK(fd >= 0);
		CHECK_EQ(peer.ss_family, AF_INET);
		memset(&peer, 0, sizeof peer);
		CHECK_EQ(weft_close(fd), 0);
		CHECK_EQ(weft_close(client), 0);
	}
	CHECK_EQ(weft_close(ls), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_descriptor_is_ready_or_closed, 1)
{
	int fd[2], events = 0;
	ssize_t n = 0;
	struct fn f;
	char byte;

	fn_begin(&f);
	make_pipe(fd);
	weft_fd_ev(fd[0], POLLIN, of_int(&f, 1, &events));
	CHECK_EQ(weft_write(fd[1], "x", 1), 1);
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(events, POLLIN);
	CHECK_EQ(weft_read(fd[0], &byte, 1), 1);
	weft_read_ev(fd[0], &byte, 1, of_size(&f, 2, &n));
	weft_fd_ev(fd[0], POLLIN, of_int(&f, 3, &events));
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(next(&f) + next(&f), 5);
	CHECK_EQ(n, -EBADF);
	CHECK_EQ(events, -EBADF);
	CHECK_EQ(weft_close(fd[1]), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(of_several_who_wait_for_one_signal_each_gets_one, 1)
{
	int a = 0, b = 0;
	struct fn f;

	fn_begin(&f);
	weft_signal_ev(SIGUSR1, of_int(&f, 1, &a));
	weft_signal_ev(SIGUSR1, of_int(&f, 2, &b));
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(a, SIGUSR1);
	CHECK_EQ(b, 0);
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(next(&f), 2);
	CHECK_EQ(b, SIGUSR1);
	BLOCK (&f)
		weft_signal_ev(SIGKILL, in_int(&f, &a));
	CHECK_EQ(a, -EINVAL);
	BLOCK (&f)
		weft_signal_ev(-3, in_int(&f, &a));
	CHECK_EQ(a, -EINVAL);
	fn_end(&f);
	return 0;
}

static char *const argv_true[] = { (char *)(intptr_t) "true", NULL };
static char *const argv_false[] = { (char *)(intptr_t) "false", NULL };

THREAD_TEST(children_end_and_are_reaped, 1)
{
	int rc = 1, status = 1, rc2 = 1, status2 = 1;
	struct fn f;
	pid_t pid;

	fn_begin(&f);
	BLOCK (&f) {
		weft_spawn_ev("true", argv_true, NULL, NULL, &pid, in_two(&f, &rc, &status));
		weft_spawn_ev("false", argv_false, NULL, NULL, NULL, in_two(&f, &rc2, &status2));
	}
	CHECK_EQ(rc, 0);
	CHECK(pid > 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(rc2, 0);
	CHECK(WIFEXITED(status2) && WEXITSTATUS(status2) == 1);
	pid = fork();
	if (pid == 0)
		_exit(3);
	weft_child_ev(pid, of_two(&f, 1, &rc, &status));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(WEXITSTATUS(status), 3);
	BLOCK (&f) {
		weft_child_ev(pid, in_two(&f, &rc, &status));
		weft_spawn_ev("/no/such/program", argv_true, NULL, NULL, &pid,
			      in_two(&f, &rc2, &status2));
	}
	CHECK_EQ(rc, -ECHILD);
	CHECK_EQ(rc2, -ENOENT);
	CHECK_EQ(pid, -1);
	fn_end(&f);
	return 0;
}

static int plus_one(void *arg)
{
	CHECK(weft_self() == NULL);
	return *(int *)arg + 1;
}

THREAD_TEST(a_blocking_call_is_made_elsewhere, 1)
{
	int rc = 0, six = 6;
	struct fn f;

	fn_begin(&f);
	BLOCK (&f)
		weft_offload_ev(plus_one, &six, in_int(&f, &rc));
	CHECK_EQ(rc, 7);
	weft_offload_ev(NULL, &six, of_int(&f, 1, &rc));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(rc, -EINVAL);
	fn_end(&f);
	return 0;
}

THREAD_TEST(names_that_need_no_server_are_looked_up, 1)
{
	struct sockaddr_storage addr = { 0 }, *all = NULL;
	struct in_addr ip = { 1 };
	int rc = -1;
	struct fn f;

	fn_begin(&f);
	BLOCK (&f)
		weft_resolve_ev("127.0.0.9", in_ip(&f, &ip));
	CHECK_EQ(ntohl(ip.s_addr), 0x7f000009);
	weft_resolve_ev("localhost", of_ip(&f, 1, &ip));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(ntohl(ip.s_addr) >> 24, 127);
	BLOCK (&f)
		weft_resolve_ev(NULL, in_ip(&f, &ip));
	CHECK_EQ(ip.s_addr, 0);
	BLOCK (&f)
		weft_lookup_ev("127.0.0.2", 80, AF_INET, 0, in_sock(&f, &rc, &addr));
	CHECK_EQ(rc, 0);
	CHECK_EQ(ntohs(((struct sockaddr_in *)&addr)->sin_port), 80);
	BLOCK (&f)
		weft_lookup_all_ev("127.0.0.2", 80, AF_INET, 0, in_socks(&f, &rc, &all));
	CHECK_EQ(rc, 1);
	CHECK_EQ(all->ss_family, AF_INET);
	free(all);
	BLOCK (&f)
		weft_lookup_all_ev("localhost", 80, 4711, 0, in_socks(&f, &rc, &all));
	CHECK_EQ(rc, -EINVAL);
	fn_end(&f);
	return 0;
}

struct outside {
	size_event read;
	int_event accept;
	char byte;
};

static void *call_outside(void *arg)
{
	struct outside *o = arg;

	weft_read_ev(0, &o->byte, 1, o->read);
	weft_offload_ev(plus_one, NULL, o->accept);
	return NULL;
}

THREAD_TEST(outside_of_handlers_and_threads_they_refuse, 2)
{
	struct outside o;
	ssize_t n = 0;
	pthread_t thread;
	struct fn f;
	int rc = 0;

	fn_begin(&f);
	CHECK_EQ(weft_hold(), 0);
	BLOCK (&f) {
		o.read = in_size(&f, &n);
		o.accept = in_int(&f, &rc);
		thread = thread_start(call_outside, &o);
	}
	thread_join(thread);
	CHECK_EQ(weft_drop(), 0);
	CHECK_EQ(n, -EPERM);
	CHECK_EQ(rc, -EPERM);
	fn_end(&f);
	return 0;
}

static int spins;

static void spin(void *unused)
{
	(void)unused;
	spins++;
}

THREAD_TEST(one_who_never_has_to_wait_lets_others_run, 1)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct fn f;
	char buf[16];
	ssize_t n;

	fn_begin(&f);
	CHECK_EQ(weft_post(WEFT_MAIN, spin, NULL), 0);
	for (int i = 0; i < 200; i++)
		BLOCK (&f)
			weft_pread_ev(file, buf, sizeof buf, 0, in_size(&f, &n));
	CHECK_EQ(spins, 1);
	CHECK_EQ(weft_close(file), 0);
	fn_end(&f);
	return 0;
}

TEST_MAIN
