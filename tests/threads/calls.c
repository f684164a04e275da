/* calls.c - each blocking call: answered at once, after a wait, with an error, and
 * when another thread closes its descriptor. */
/* backends: both */
#include "threads/blocking.h"

#include <dirent.h>
#include <sys/resource.h>

/* What another thread of the color does while the first waits. */
struct later {
	int fd;
	const char *text;
};

static int write_later(void *arg)
{
	struct later *l = arg;

	return write(l->fd, l->text, strlen(l->text)) < 0;
}

static int close_later(void *arg)
{
	CHECK_EQ(weft_close((int)(intptr_t)arg), 0);
	return 0;
}

static int drain_later(void *arg)
{
	static char buf[65536];
	int fd = (int)(intptr_t)arg;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while (read(fd, buf, sizeof buf) > 0)
		;
	return 0;
}

static void soon(weft_thread_fn *fn, void *arg)
{
	CHECK_EQ(weft_go(fn, arg), 0);
}

/* Streams of each kind. */
typedef void make_fn(int fd[2]);

static void reads_and_writes(make_fn *make)
{
	struct later hello = { .text = "hello" };
	uint32_t before;
	char buf[16];
	int fd[2];

	make(fd);
	hello.fd = fd[1];
	CHECK_EQ(AT_ONCE(weft_write(fd[1], "abc", 3)), 3);
	CHECK_EQ(AT_ONCE(weft_read(fd[0], buf, sizeof buf)), 3);
	CHECK_EQ(memcmp(buf, "abc", 3), 0);
	for (int i = 0; i < 3; i++) {
		soon(write_later, &hello);
		CHECK_EQ(WAITING(weft_read(fd[0], buf, sizeof buf)), 5);
		CHECK_EQ(memcmp(buf, "hello", 5), 0);
	}
	soon(drain_later, (void *)(intptr_t)fd[0]);
	do { /* what was full may have room again when TCP hears of what has arrived */
		before = waits();
		fill(fd[1]);
		CHECK_EQ(weft_write(fd[1], "x", 1), 1);
	} while (waits() == before);
	CHECK_EQ(weft_close(fd[1]), 0);
	while (weft_read(fd[0], buf, sizeof buf) > 0)
		;
	CHECK_EQ(weft_read(fd[0], buf, sizeof buf), 0);
	CHECK_EQ(AT_ONCE(weft_close(fd[0])), 0);
}

THREAD_TEST(a_unix_socket_is_read_and_written, 1)
{
	reads_and_writes(socket_pair);
	return 0;
}

THREAD_TEST(a_tcp_socket_is_read_and_written, 1)
{
	reads_and_writes(tcp_pair);
	return 0;
}

THREAD_TEST(a_pipe_is_read_and_written, 1)
{
	reads_and_writes(make_pipe);
	return 0;
}

THREAD_TEST(all_that_is_in_a_stream_comes_in_order, 2)
{
	static char out[3000], in[3000];
	int fd[2];

	tcp_pair(fd);
	for (size_t i = 0; i < sizeof out; i++)
		out[i] = (char)(i * 7);
	CHECK_EQ(weft_write_all(fd[0], out, sizeof out), (ssize_t)sizeof out);
	for (size_t at = 0; at < sizeof in;) {
		ssize_t n = weft_read(fd[1], in + at, 10);

		CHECK(n > 0);
		at += (size_t)n;
	}
	CHECK_EQ(memcmp(in, out, sizeof in), 0);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

THREAD_TEST(vectors_are_read_and_written, 1)
{
	char a[3] = "", b[8] = "";
	struct iovec in[2] = { { a, 2 }, { b, 8 } };
	struct iovec out[2] = { { (void *)(intptr_t) "he", 2 }, { (void *)(intptr_t) "llo", 3 } };
	struct later hello = { .text = "hello" };
	int fd[2];

	for (int kind = 0; kind < 2; kind++) {
		(kind ? make_pipe : socket_pair)(fd);
		hello.fd = fd[1];
		CHECK_EQ(AT_ONCE(weft_writev(fd[1], out, 2)), 5);
		CHECK_EQ(AT_ONCE(weft_readv(fd[0], in, 2)), 5);
		CHECK_STR(a, "he");
		CHECK_EQ(memcmp(b, "llo", 3), 0);
		soon(write_later, &hello);
		CHECK_EQ(WAITING(weft_readv(fd[0], in, 2)), 5);
		fill(fd[1]);
		soon(drain_later, (void *)(intptr_t)fd[0]);
		CHECK_EQ(WAITING(weft_writev(fd[1], out, 2)), 5);
		CHECK_EQ(weft_close(fd[0]), 0);
		CHECK_EQ(weft_writev(fd[1], out, 2), -EPIPE);
		CHECK_EQ(weft_close(fd[1]), 0);
	}
	return 0;
}

THREAD_TEST(messages_are_received_and_sent, 1)
{
	char buf[16];
	struct iovec iov = { buf, sizeof buf };
	struct msghdr in = { .msg_iov = &iov, .msg_iovlen = 1 }, out = in;
	struct later hello = { .text = "hello" };
	int fd[2];

	socket_pair(fd);
	hello.fd = fd[1];
	CHECK_EQ(AT_ONCE(weft_send(fd[1], "abc", 3, 0)), 3);
	CHECK_EQ(AT_ONCE(weft_recv(fd[0], buf, sizeof buf, MSG_PEEK)), 3);
	CHECK_EQ(AT_ONCE(weft_recvmsg(fd[0], &in, 0)), 3);
	soon(write_later, &hello);
	CHECK_EQ(WAITING(weft_recvmsg(fd[0], &in, 0)), 5);
	soon(write_later, &hello);
	CHECK_EQ(WAITING(weft_recv(fd[0], buf, sizeof buf, 0)), 5);
	CHECK_EQ(AT_ONCE(weft_recv(fd[0], buf, sizeof buf, MSG_DONTWAIT)), -EAGAIN);
	iov.iov_len = 4;
	CHECK_EQ(AT_ONCE(weft_sendmsg(fd[1], &out, 0)), 4);
	soon(write_later, &hello);
	CHECK_EQ(weft_recv(fd[0], buf, 9, MSG_WAITALL), 9);
	fill(fd[1]);
	CHECK_EQ(AT_ONCE(weft_send(fd[1], "x", 1, MSG_DONTWAIT)), -EAGAIN);
	soon(drain_later, (void *)(intptr_t)fd[0]);
	CHECK_EQ(WAITING(weft_send(fd[1], "x", 1, 0)), 1);
	soon(drain_later, (void *)(intptr_t)fd[0]);
	fill(fd[1]);
	CHECK_EQ(WAITING(weft_sendmsg(fd[1], &out, 0)), 4);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

THREAD_TEST(exactly_and_all_mean_it, 1)
{
	struct later hello = { .text = "hello" };
	char buf[16];
	size_t done;
	int fd[2];

	tcp_pair(fd);
	hello.fd = fd[1];
	CHECK_EQ(weft_write_all(fd[1], "abc", 3), 3);
	soon(write_later, &hello);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 8), 8);
	CHECK_EQ(memcmp(buf, "abchello", 8), 0);
	CHECK_EQ(weft_write_all(fd[1], "abc", 3), 3);
	CHECK_EQ(weft_read_exactly_until(fd[0], buf, 8, &done, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(done, 3);
	CHECK_EQ(weft_write_all(fd[1], "abc", 3), 3);
	soon(close_later, (void *)(intptr_t)fd[1]);
	CHECK_EQ(weft_read_exactly_until(fd[0], buf, 8, &done, WEFT_FOREVER), -ENODATA);
	CHECK_EQ(done, 3);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 8), 0);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 0), 0);
	weft_close(fd[0]);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 8), -EBADF);
	socket_pair(fd);
	fill(fd[1]);
	CHECK_EQ(weft_write_all_until(fd[1], buf, 8, &done, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(done, 0);
	weft_close(fd[0]);
	CHECK_EQ(weft_write_all(fd[1], buf, 8), -EPIPE);
	weft_close(fd[1]);
	return 0;
}

/* Files */

THREAD_TEST(a_file_is_read_at_any_place, 1)
{
	int fd = temp_file(10000);
	char buf[4096], more[4096];
	struct iovec iov[2] = { { buf, 10 }, { more, 20 } };

	CHECK_EQ(weft_pread(fd, buf, sizeof buf, 0), 4096);
	CHECK_EQ(buf[27], 'b');
	CHECK_EQ(weft_pread(fd, buf, sizeof buf, 9000), 1000);
	CHECK_EQ(weft_pread(fd, buf, sizeof buf, 10000), 0);
	CHECK_EQ(weft_preadv(fd, iov, 2, 26), 30);
	CHECK_EQ(buf[9], 'j');
	CHECK_EQ(more[0], 'k');
	CHECK_EQ(weft_close(fd), 0);
	return 0;
}

THREAD_TEST(a_file_in_the_page_cache_is_read_without_a_switch, 1)
{
	int fd = temp_file(10000);
	char buf[4096], more[4096];
	struct iovec iov[2] = { { buf, 10 }, { more, 20 } };

	if (preadv2(fd, iov, 2, 0, RWF_NOWAIT) < 0)
		SKIP("no RWF_NOWAIT in this kernel or for files in /tmp: %s", strerror(errno));
	CHECK_EQ(AT_ONCE(weft_pread(fd, buf, sizeof buf, 0)), 4096);
	CHECK_EQ(AT_ONCE(weft_pread(fd, buf, sizeof buf, 9000)), 1000);
	CHECK_EQ(AT_ONCE(weft_pread(fd, buf, sizeof buf, 10000)), 0);
	CHECK_EQ(AT_ONCE(weft_preadv(fd, iov, 2, 26)), 30);
	CHECK_EQ(weft_close(fd), 0);
	return 0;
}

THREAD_TEST(files_are_opened_written_synced_and_closed, 1)
{
	char path[] = "/tmp/weft-test-XXXXXX", buf[8] = "";
	struct iovec iov = { (void *)(intptr_t) "XY", 2 };
	int dir, fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	fd = weft_open(path, O_RDWR, 0);
	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	CHECK_EQ(weft_write(fd, "abcdef", 6), 6);
	CHECK_EQ(weft_pwrite(fd, "12", 2, 2), 2);
	CHECK_EQ(weft_pwritev(fd, &iov, 1, 0), 2);
	CHECK_EQ(weft_fdatasync(fd), 0);
	CHECK_EQ(weft_fsync(fd), 0);
	CHECK_EQ(weft_pread(fd, buf, sizeof buf, 0), 6);
	CHECK_STR(buf, "XY12ef");
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_close(fd), -EBADF);
	unlink(path);
	CHECK_EQ(weft_open(path, O_RDONLY, 0), -ENOENT);
	dir = weft_open("/tmp", O_RDONLY | O_DIRECTORY, 0);
	CHECK(dir >= 0);
	fd = weft_openat(dir, path + 5, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_close(dir), 0);
	CHECK_EQ(weft_open(NULL, O_RDONLY, 0), -EINVAL);
	return 0;
}

/* The kernel lets nobody look past the page cache without waiting for the disk. */
THREAD_TEST(what_is_opened_with_o_direct_goes_to_the_disk_without_its_worker, 1)
{
	char path[] = "/var/tmp/weft-test-XXXXXX";
	char *buf = aligned_alloc(4096, 4096);
	int made = mkstemp(path), fd;

	CHECK(made >= 0);
	memset(buf, 'd', 4096);
	CHECK_EQ(write(made, buf, 4096), 4096);
	CHECK_EQ(fsync(made), 0);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(path);
	if (fd < 0) {
		CHECK_EQ(errno, EINVAL); /* a file system without it */
		fd = dup(made);
	} else {
		CHECK_EQ(WAITING(weft_pread(fd, buf, 4096, 0)), 4096);
		CHECK_EQ(WAITING(weft_pread(fd, buf, 4096, 0)), 4096);
	}
	CHECK_EQ(buf[4095], 'd');
	CHECK_EQ(weft_close(fd), 0);
	close(made);
	free(buf);
	return 0;
}

THREAD_TEST(a_file_is_sent_to_a_socket, 1)
{
	static char buf[400000];
	int fd[2], file = temp_file(2000);

	CHECK_EQ(ftruncate(file, sizeof buf), 0);
	socket_pair(fd);
	fcntl(fd[1], F_SETFL, O_NONBLOCK);
	CHECK_EQ(weft_sendfile(fd[1], fd[0], 0, 10), -EINVAL);
	CHECK_EQ(weft_sendfile(fd[1], file, 26, 1000), 1000);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 1000), 1000);
	CHECK_EQ(buf[27], 'b');
	CHECK_EQ(weft_sendfile(fd[1], file, sizeof buf - 10, 20), 10);
	CHECK_EQ(weft_read_exactly(fd[0], buf, 10), 10);
	soon(drain_later, (void *)(intptr_t)fd[0]);
	CHECK(weft_sendfile_until(fd[1], file, 0, sizeof buf, weft_now() + 20 * WEFT_MS) > 0);
	fill(fd[1]);
	CHECK_EQ(weft_sendfile_until(fd[1], file, 0, 10, weft_now() + WEFT_MS), -ETIMEDOUT);
	weft_close(fd[0]);
	CHECK_EQ(weft_sendfile(fd[1], file, 0, 10), -EPIPE);
	weft_close(fd[1]);
	weft_close(file);
	return 0;
}

/* Connections */

static int knock_later(void *arg)
{
	int ls = (int)(intptr_t)arg;

	close(knock(ls));
	return 0;
}

THREAD_TEST(connections_are_accepted, 1)
{
	struct sockaddr_storage peer;
	struct sockaddr_in addr;
	int ls = listener(), cl, fd;

	CHECK_EQ(fcntl(ls, F_SETFL, O_NONBLOCK), 0); /* or the ring is asked */
	cl = knock(ls);
	addr = address_of(cl);
	fd = AT_ONCE(weft_accept(ls, &peer));
	CHECK(fd >= 0);
	CHECK_EQ(((struct sockaddr_in *)&peer)->sin_port, addr.sin_port);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CHECK_EQ(weft_close(fd), 0);
	close(cl);
	for (int i = 0; i < 3; i++) {
		soon(knock_later, (void *)(intptr_t)ls);
		fd = WAITING(weft_accept(ls, NULL));
		CHECK(fd >= 0);
		CHECK_EQ(weft_read(fd, &peer, 1), 0);
		CHECK_EQ(weft_close(fd), 0);
	}
	CHECK_EQ(weft_close(ls), 0);
	CHECK_EQ(weft_accept(ls, NULL), -EBADF);
	return 0;
}

struct crowd {
	int ls, accepted, ended;
};

static int accept_one(void *arg)
{
	struct crowd *c = arg;
	int fd = weft_accept(c->ls, NULL);

	if (fd >= 0) {
		c->accepted++;
		CHECK_EQ(weft_close(fd), 0);
	} else {
		CHECK_EQ(fd, -EBADF);
	}
	c->ended++;
	return 0;
}

THREAD_TEST(many_threads_accept_from_one_socket, 2)
{
	struct crowd c = { .ls = listener() };
	int cl[20];

	for (int i = 0; i < 30; i++)
		soon(accept_one, &c);
	weft_yield();
	for (int i = 0; i < 20; i++)
		cl[i] = knock(c.ls);
	while (c.accepted < 20)
		weft_yield();
	CHECK_EQ(c.ended, 20);
	CHECK_EQ(weft_close(c.ls), 0);
	while (c.ended < 30)
		weft_yield();
	CHECK_EQ(c.accepted, 20);
	for (int i = 0; i < 20; i++)
		close(cl[i]);
	return 0;
}

static int accept_later(void *arg)
{
	int fd = weft_accept((int)(intptr_t)arg, NULL);

	CHECK(fd >= 0);
	return weft_close(fd);
}

THREAD_TEST(connections_are_made, 1)
{
	int ls = listener(), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in addr = address_of(ls);

	soon(accept_later, (void *)(intptr_t)ls);
	CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
	CHECK_EQ(weft_read(fd, &addr, 1), 0);
	CHECK_EQ(weft_close(fd), 0);
	addr = address_of(ls);
	CHECK_EQ(weft_close(ls), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), -ECONNREFUSED);
	CHECK_EQ(weft_connect(fd, NULL, 0), -EINVAL);
	CHECK_EQ(weft_close(fd), 0);
	return 0;
}

THREAD_TEST(a_listening_socket_has_the_options_asked_for, 1)
{
	weft_listen_options opt = { .reuse_port = true, .backlog = 5 };
	int other, fd = weft_listen("127.0.0.1:0", &opt);
	char address[32];

	CHECK(fd >= 0);
	snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(address_of(fd).sin_port));
	other = weft_listen(address, &opt);
	CHECK(other >= 0);
	CHECK_EQ(weft_listen(address, NULL), -EADDRINUSE);
	CHECK_EQ(weft_listen("nonsense", NULL), -EINVAL);
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_close(other), 0);
	return 0;
}

/* Errors, and closing under a waiter */

THREAD_TEST(errors_are_told, 1)
{
	char buf[8];
	struct iovec iov = { buf, 8 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd[2], file = temp_file(10);

	make_pipe(fd);
	CHECK_EQ(weft_read(-1, buf, 8), -EBADF);
	CHECK_EQ(weft_write(987654, buf, 8), -EBADF);
	CHECK_EQ(weft_read(fd[1], buf, 8), -EBADF);
	CHECK_EQ(weft_pread(fd[0], buf, 8, 0), -ESPIPE);
	CHECK_EQ(weft_pread(file, buf, 8, -1), -EINVAL);
	CHECK_EQ(weft_pwrite(file, buf, 8, -5), -EINVAL);
	CHECK_EQ(weft_readv(file, NULL, 2), -EINVAL);
	CHECK_EQ(weft_preadv(file, &iov, 1, -1), -EINVAL);
	CHECK_EQ(weft_recv(file, buf, 8, 0), -ENOTSOCK);
	CHECK_EQ(weft_send(fd[1], buf, 8, 0), -ENOTSOCK);
	CHECK_EQ(weft_recvmsg(file, &msg, 0), -ENOTSOCK);
	CHECK_EQ(weft_sendmsg(file, NULL, 0), -EINVAL);
	CHECK_EQ(weft_accept(file, NULL), -ENOTSOCK);
	CHECK_EQ(weft_fsync(-1), -EBADF);
	CHECK_EQ(weft_close(-1), -EBADF);
	CHECK_EQ(weft_close(fd[0]), 0);
	CHECK_EQ(weft_write(fd[1], buf, 8), -EPIPE);
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_close(file), 0);
	return 0;
}

THREAD_TEST(who_waits_is_told_that_the_descriptor_was_closed, 1)
{
	char buf[8];
	struct iovec iov = { buf, 8 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	for (int call = 0; call < 7; call++) {
		int n = 0, fd[2];

		(call == 6 ? make_pipe : socket_pair)(fd);
		if (call == 3) {
			close(fd[0]);
			fd[0] = listener();
		}
		if (call == 4)
			fill(fd[0]);
		soon(close_later, (void *)(intptr_t)fd[0]);
		switch (call) {
		case 0:
		case 6:
			n = (int)weft_read(fd[0], buf, 8);
			break;
		case 1:
			n = (int)weft_recvmsg(fd[0], &msg, 0);
			break;
		case 2:
			n = (int)weft_readv(fd[0], &iov, 1);
			break;
		case 3:
			n = weft_accept(fd[0], NULL);
			break;
		case 4:
			n = (int)weft_write(fd[0], buf, 8);
			break;
		case 5:
			n = (int)weft_recv(fd[0], buf, 8, MSG_WAITALL);
			break;
		}
		CHECK_EQ(n, -EBADF);
		weft_close(fd[1]);
	}
	return 0;
}

/* Where there is no thread */

static int reports;

static void on_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)unused;
	if (kind == WEFT_REPORT_STALL)
		return; /* on a slow machine */
	CHECK_EQ(kind, WEFT_REPORT_MISUSE);
	CHECK(strstr(text, "only threads may call it") != NULL);
	reports++;
}

static void handler(void *fds)
{
	char byte;

	CHECK_EQ(weft_read(((int *)fds)[0], &byte, 1), -EPERM);
	CHECK_EQ(weft_write(((int *)fds)[1], &byte, 1), -EPERM);
	CHECK_EQ(weft_close(((int *)fds)[1]), -EPERM);
	CHECK_EQ(weft_accept(0, NULL), -EPERM);
	CHECK_EQ(weft_poll(NULL, 0), -EPERM);
	CHECK_EQ(weft_dial("127.0.0.1:1"), -EPERM);
	CHECK_EQ(weft_child_join(1, NULL), -EPERM);
}

static int post_handler(void *fds)
{
	return weft_post(WEFT_MAIN, handler, fds);
}

TEST(a_call_outside_of_threads_is_refused_and_reported)
{
	int fd[2];

	make_pipe(fd);
	weft_on_report(on_report, NULL);
	run_on(1, post_handler, fd);
	CHECK_EQ(reports, 7);
	CHECK_EQ(weft_read(fd[0], fd, 1), -EPERM);
	CHECK_EQ(reports, 8);
}

/* Fairness */

static int stop_the_busy(void *arg)
{
	*(bool *)arg = true;
	return 0;
}

THREAD_TEST(a_thread_that_never_waits_lets_others_run, 1)
{
	int fd = temp_file(10);
	bool stop = false;
	char byte;

	CHECK_EQ(weft_go_on(weft_color_new(), stop_the_busy, &stop), 0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		CHECK_EQ(weft_pread(fd, &byte, 1, 0), 1);
	CHECK_EQ(weft_close(fd), 0);
	return 0;
}

THREAD_TEST(running_out_of_descriptors_loses_no_connection, 1)
{
	int ls = listener(), cl = knock(ls), fd;
	struct rlimit was, none;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = (rlim_t)cl; /* all numbers that a new one could have are above */
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	fd = weft_accept(ls, NULL);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
	CHECK_EQ(fd, -EMFILE);
	fd = weft_accept(ls, NULL);
	CHECK(fd >= 0);
	CHECK_EQ(weft_close(fd), 0);
	close(cl);
	CHECK_EQ(weft_close(ls), 0);
	return 0;
}

THREAD_TEST(what_was_received_is_told_if_there_is_no_more_now, 1)
{
	char buf[100];
	int fd[2];

	socket_pair(fd);
	CHECK_EQ(weft_write(fd[1], "0123456789", 10), 10);
	CHECK_EQ(AT_ONCE(weft_recv(fd[0], buf, sizeof buf, MSG_WAITALL | MSG_DONTWAIT)), 10);
	CHECK_EQ(AT_ONCE(weft_recv(fd[0], buf, sizeof buf, MSG_WAITALL | MSG_DONTWAIT)), -EAGAIN);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

static int read_two(void *arg)
{
	char buf[2];

	CHECK_EQ(weft_read((int)(intptr_t)arg, buf, 2), 2);
	return 0;
}

THREAD_TEST(who_must_not_wait_does_not_wait_behind_others, 1)
{
	weft_thread_attr attr = { 0 };
	weft_thread *reader;
	char buf[8];
	int fd[2];

	socket_pair(fd);
	CHECK_EQ(weft_thread_start(&reader, &attr, read_two, (void *)(intptr_t)fd[0]), 0);
	while (atomic_load(&reader->wait) == NULL)
		weft_yield();
	CHECK_EQ(AT_ONCE(weft_recv(fd[0], buf, sizeof buf, MSG_DONTWAIT)), -EAGAIN);
	CHECK_EQ(weft_write(fd[1], "xy", 2), 2);
	CHECK_EQ(weft_join(reader, NULL), 0);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

THREAD_TEST(what_cannot_be_accepted_from_is_told, 1)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CHECK_EQ(weft_accept(fd, NULL), -EOPNOTSUPP);
	weft_close(fd);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	CHECK_EQ(weft_accept(fd, NULL), -EINVAL);
	weft_close(fd);
	return 0;
}

/* A run that is stopped while a thread makes calls that need not wait. */

enum { CALLERS = 100 };
static int accepted;

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	CHECK(dir != NULL);
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static void stop_now(void *unused)
{
	(void)unused;
	weft_stop();
}

static int accept_until_stopped(void *ls)
{
	for (int i = 0; i < CALLERS; i++)
		knock(*(int *)ls);
	CHECK_EQ(weft_post(WEFT_MAIN, stop_now, NULL), 0);
	while (weft_accept(*(int *)ls, NULL) >= 0)
		accepted++;
	return 0;
}

TEST(a_descriptor_that_was_accepted_is_given_even_if_the_run_is_stopped)
{
	int ls = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), before;
	weft_options opt = { .workers = 1 };

	CHECK_EQ(listen(ls, CALLERS), 0);
	before = descriptors();
	weft_run(accept_until_stopped, &ls, &opt);
	CHECK(accepted > 0);
	CHECK_EQ(descriptors(), before + CALLERS + accepted);
}

TEST_MAIN
