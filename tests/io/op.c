/* op.c - operations on sockets and pipes: outcomes, order, errors. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "io/sync.h"

TEST(recv_gives_what_was_sent)
{
	char buf[16];
	int fd[2];

	make_pair(fd);
	runtime_begin(2);
	CHECK_EQ(DO(send, fd[0], "hello", 5, 0), 5);
	CHECK_EQ(DO(recv, fd[1], buf, sizeof buf, 0), 5);
	CHECK_EQ(memcmp(buf, "hello", 5), 0);
	runtime_end();
}

TEST(a_read_waits_until_something_comes)
{
	char buf[16];
	int fd[2];
	struct call *c;

	make_tcp(fd);
	runtime_begin(2);
	for (int i = 0; i < 100; i++) {
		c = START(read, fd[0], buf, sizeof buf);
		CHECK_EQ(write(fd[1], "abc", 3), 3);
		CHECK_EQ(WAIT(c), 3);
		c = START(recv, fd[0], buf, 2, 0);
		CHECK_EQ(write(fd[1], "abc", 3), 3);
		CHECK_EQ(WAIT(c), 2);
		CHECK_EQ(DO(recv, fd[0], buf, 2, 0), 1);
	}
	runtime_end();
}

TEST(reads_of_one_descriptor_are_done_in_the_order_started)
{
	enum { N = 50 };
	struct call *c[N];
	char buf[N][4], all[N * 4];
	int fd[2];

	make_pair(fd);
	for (int i = 0; i < N; i++)
		memset(all + 4 * i, 'A' + i, 4);
	runtime_begin(2);
	for (int i = 0; i < N; i++)
		c[i] = START(recv, fd[0], buf[i], 4, MSG_WAITALL);
	for (int i = 0; i < N * 4; i += 10)
		CHECK_EQ(write(fd[1], all + i, 10), 10);
	for (int i = 0; i < N; i++)
		CHECK_EQ(WAIT(c[i]), 4);
	CHECK_EQ(memcmp(buf, all, sizeof all), 0);
	runtime_end();
}

TEST(writes_of_one_descriptor_are_done_in_the_order_started)
{
	enum { N = 40, LEN = 20000 };
	struct call *c[N];
	static char out[N][LEN], in[N * LEN];
	size_t got = 0;
	int fd[2];

	make_tcp(fd);
	runtime_begin(2);
	for (int i = 0; i < N; i++) {
		memset(out[i], 'A' + i, LEN);
		c[i] = START(send, fd[0], out[i], LEN, MSG_WAITALL);
	}
	while (got < sizeof in) {
		ssize_t n = read(fd[1], in + got, 7777);

		CHECK(n > 0);
		got += (size_t)n;
	}
	for (int i = 0; i < N; i++)
		CHECK_EQ(WAIT(c[i]), LEN);
	CHECK_EQ(memcmp(in, out, sizeof in), 0);
	runtime_end();
}

TEST(a_write_takes_what_fits_and_a_patient_one_everything)
{
	enum { BIG = 16 << 20 };
	char *buf = calloc(1, BIG), *in = malloc(BIG);
	int fd[2];
	struct call *c;
	int64_t n;
	size_t got = 0;

	make_tcp(fd);
	runtime_begin(1);
	n = DO(send, fd[0], buf, BIG, 0);
	CHECK(n > 0 && n < BIG);
	for (int64_t left = n; left > 0;)
		left -= read(fd[1], in, (size_t)left);
	c = START(send, fd[0], buf, BIG, MSG_WAITALL);
	while (got < BIG) {
		int64_t r = DO(recv, fd[1], in, BIG - got, 0);

		CHECK(r > 0);
		got += (size_t)r;
	}
	CHECK_EQ(WAIT(c), BIG);
	runtime_end();
	free(buf);
	free(in);
}

TEST(the_end_of_a_stream_is_zero_again_and_again)
{
	char buf[16];
	int fd[2];

	for (int tcp = 0; tcp < 2; tcp++) {
		tcp ? make_tcp(fd) : make_pair(fd);
		runtime_begin(2);
		struct call *c = START(recv, fd[0], buf, sizeof buf, 0);
		CHECK_EQ(write(fd[1], "xy", 2), 2);
		CHECK_EQ(WAIT(c), 2);
		c = START(recv, fd[0], buf, sizeof buf, 0);
		CHECK_EQ(shutdown(fd[1], SHUT_WR), 0);
		CHECK_EQ(WAIT(c), 0);
		CHECK_EQ(DO(recv, fd[0], buf, sizeof buf, 0), 0);
		/* The other direction lives on. */
		CHECK_EQ(DO(write, fd[0], "back", 4), 4);
		CHECK_EQ(DO(read, fd[1], buf, sizeof buf), 4);
		CHECK_EQ(DO(read, fd[0], buf, sizeof buf), 0);
		runtime_end();
	}
}

TEST(data_and_end_that_come_together_are_both_seen)
{
	char buf[16];
	int fd[2];

	runtime_begin(2);
	for (int i = 0; i < 50; i++) {
		make_tcp(fd);
		struct call *c = START(recv, fd[0], buf, sizeof buf, 0);
		CHECK_EQ(write(fd[1], "xy", 2), 2);
		close(fd[1]);
		CHECK_EQ(WAIT(c), 2);
		CHECK_EQ(DO(recv, fd[0], buf, sizeof buf, 0), 0);
		CHECK_EQ(weft_fd_close(fd[0]), 0);
	}
	runtime_end();
}

TEST(pipes_wait_whether_they_block_or_not)
{
	static char big[1 << 20], in[1 << 20];
	char buf[16];

	runtime_begin(2);
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		int fd[2];
		struct call *c;
		size_t put = 0, got = 0;

		CHECK_EQ(pipe2(fd, flags | O_CLOEXEC), 0);
		c = START(read, fd[0], buf, sizeof buf);
		CHECK_EQ(write(fd[1], "abc", 3), 3);
		CHECK_EQ(WAIT(c), 3);
		while (put < sizeof big) {
			c = START(write, fd[1], big + put, sizeof big - put);
			while (got < put + 4096 && got < sizeof in) {
				int64_t r = DO(read, fd[0], in + got, 3000);

				CHECK(r > 0);
				got += (size_t)r;
			}
			int64_t n = WAIT(c);
			CHECK(n > 0);
			put += (size_t)n;
			while (got < put) {
				int64_t r = DO(read, fd[0], in + got, 100000);

				CHECK(r > 0);
				got += (size_t)r;
			}
		}
		CHECK_EQ(DO(close, fd[1]), 0);
		CHECK_EQ(DO(read, fd[0], buf, sizeof buf), 0);
		CHECK_EQ(DO(close, fd[0]), 0);
	}
	runtime_end();
}

TEST(vectors_gather_and_scatter)
{
	char a[3], b[4];
	struct iovec out[2] = { { "abc", 3 }, { "defg", 4 } };
	struct iovec in[2] = { { a, 3 }, { b, 4 } };
	int fd[2];

	runtime_begin(2);
	for (int round = 0; round < 2; round++) {
		if (round == 0)
			make_pair(fd);
		else
			CHECK_EQ(pipe(fd), 0);
		struct call *c = START(readv, fd[0], in, 2, -1);
		CHECK_EQ(DO(writev, fd[1], out, 2, -1), 7);
		CHECK_EQ(WAIT(c), 7);
		CHECK_EQ(memcmp(a, "abc", 3), 0);
		CHECK_EQ(memcmp(b, "defg", 4), 0);
		CHECK_EQ(DO(writev, fd[1], out, 2, 0), -ESPIPE);
	}
	runtime_end();
}

TEST(messages_carry_descriptors)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .space = { 0 } };
	char buf[8];
	struct iovec iov = { "x", 1 }, in = { buf, sizeof buf };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	int fd[2], end[2], passed;

	make_pair(fd);
	CHECK_EQ(pipe(end), 0);
	msg.msg_control = control.space;
	msg.msg_controllen = sizeof control.space;
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &end[1], sizeof(int));
	runtime_begin(2);
	CHECK_EQ(DO(sendmsg, fd[0], &msg, 0), 1);
	memset(&control, 0, sizeof control);
	msg.msg_iov = &in;
	msg.msg_controllen = sizeof control.space;
	CHECK_EQ(DO(recvmsg, fd[1], &msg, MSG_CMSG_CLOEXEC), 1);
	c = CMSG_FIRSTHDR(&msg);
	CHECK(c != NULL);
	memcpy(&passed, CMSG_DATA(c), sizeof(int));
	CHECK_EQ(write(passed, "y", 1), 1);
	CHECK_EQ(DO(read, end[0], buf, sizeof buf), 1);
	runtime_end();
}

TEST(datagrams_keep_their_borders)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof addr;
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	char buf[64];
	struct call *c[3];

	CHECK_EQ(bind(a, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(getsockname(a, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	CHECK_EQ(DO(connect, b, (struct sockaddr *)&addr, len), 0);
	for (int i = 0; i < 3; i++)
		c[i] = START(recv, a, buf + 16 * i, 16, 0);
	CHECK_EQ(DO(send, b, "1", 1, 0), 1);
	CHECK_EQ(DO(send, b, "22", 2, 0), 2);
	CHECK_EQ(DO(send, b, "333", 3, 0), 3);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(WAIT(c[i]), i + 1);
	c[0] = START(recv, a, buf, 16, MSG_WAITALL);
	CHECK_EQ(DO(send, b, "4444", 4, MSG_WAITALL), 4);
	CHECK_EQ(WAIT(c[0]), 4);
	runtime_end();
}

TEST(accept_and_connect_meet)
{
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_in addr, peer = { 0 }, mine;
	socklen_t len = sizeof addr, peer_len = sizeof peer, mine_len = sizeof mine;
	struct call *c;
	char buf[8];
	int fd, cl;

	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	for (int flags = 0; flags <= SOCK_NONBLOCK; flags += SOCK_NONBLOCK) {
		c = START(accept, ls, (struct sockaddr *)&peer, &peer_len);
		cl = socket(AF_INET, SOCK_STREAM | flags, 0);
		CHECK_EQ(DO(connect, cl, (struct sockaddr *)&addr, len), 0);
		CHECK_EQ(!!(fcntl(cl, F_GETFL) & O_NONBLOCK), flags != 0);
		fd = (int)WAIT(c);
		CHECK(fd >= 0);
		CHECK_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		CHECK_EQ(getsockname(cl, (struct sockaddr *)&mine, &mine_len), 0);
		CHECK_EQ(peer.sin_port, mine.sin_port);
		CHECK_EQ(DO(send, fd, "hi", 2, 0), 2);
		CHECK_EQ(DO(recv, cl, buf, 8, 0), 2);
		CHECK_EQ(DO(close, fd), 0);
		CHECK_EQ(DO(recv, cl, buf, 8, 0), 0);
		CHECK_EQ(DO(close, cl), 0);
	}
	CHECK_EQ(DO(close, ls), 0);
	cl = socket(AF_INET, SOCK_STREAM, 0);
	CHECK_EQ(DO(connect, cl, (struct sockaddr *)&addr, len), -ECONNREFUSED);
	runtime_end();
}

TEST(many_connections_are_accepted_in_a_row)
{
	enum { N = 200 };
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	struct call *c[N], *in[N];
	int cl[N];

	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	for (int i = 0; i < N; i++)
		in[i] = START(accept, ls, NULL, NULL);
	for (int i = 0; i < N; i++) {
		cl[i] = socket(AF_INET, SOCK_STREAM, 0);
		c[i] = START(connect, cl[i], (struct sockaddr *)&addr, len);
	}
	for (int i = 0; i < N; i++)
		CHECK_EQ(WAIT(c[i]), 0);
	for (int i = 0; i < N; i++) {
		int fd = (int)WAIT(in[i]);

		CHECK(fd >= 0);
		CHECK_EQ(weft_fd_close(fd), 0);
	}
	runtime_end();
}

TEST(a_blocking_listener_is_accepted_from_without_blocking)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(sa_family_t) + 12;
	int ls = socket(AF_UNIX, SOCK_STREAM, 0), cl = socket(AF_UNIX, SOCK_STREAM, 0);
	struct call *c;

	snprintf(addr.sun_path + 1, 12, "weft%d", (int)getpid());
	CHECK_EQ(bind(ls, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(listen(ls, 1), 0);
	runtime_begin(1);
	c = START(accept, ls, NULL, NULL);
	CHECK_EQ(DO(connect, cl, (struct sockaddr *)&addr, len), 0);
	CHECK(WAIT(c) >= 0);
	runtime_end();
}

TEST(running_out_of_descriptors_fails_the_accept_only)
{
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	struct rlimit was, low;
	struct call *c;
	int cl = socket(AF_INET, SOCK_STREAM, 0);

	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(1);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = was;
	low.rlim_cur = 3;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
	c = START(accept, ls, NULL, NULL);
	CHECK_EQ(connect(cl, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(WAIT(c), -EMFILE);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
	CHECK(DO(accept, ls, NULL, NULL) >= 0);
	runtime_end();
}

static void every_operation_on(int fd, int64_t result)
{
	char buf[4] = "abc";
	struct iovec iov = { buf, 4 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct sockaddr_in addr = { .sin_family = AF_INET };

	CHECK_EQ(DO(read, fd, buf, 4), result);
	CHECK_EQ(DO(write, fd, buf, 4), result);
	CHECK_EQ(DO(pread, fd, buf, 4, 0), result);
	CHECK_EQ(DO(pwrite, fd, buf, 4, 0), result);
	CHECK_EQ(DO(readv, fd, &iov, 1, -1), result);
	CHECK_EQ(DO(writev, fd, &iov, 1, 7), result);
	CHECK_EQ(DO(recv, fd, buf, 4, 0), result);
	CHECK_EQ(DO(send, fd, buf, 4, 0), result);
	CHECK_EQ(DO(recvmsg, fd, &msg, 0), result);
	CHECK_EQ(DO(sendmsg, fd, &msg, 0), result);
	CHECK_EQ(DO(accept, fd, NULL, NULL), result);
	CHECK_EQ(DO(connect, fd, (struct sockaddr *)&addr, sizeof addr), result);
	CHECK_EQ(DO(fsync, fd, false), result);
	CHECK_EQ(DO(sendfile, fd, 0, 0, 4), result);
	CHECK_EQ(DO(close, fd), result);
}

TEST(every_operation_on_a_bad_descriptor_says_so)
{
	int fd[2];

	make_pair(fd);
	runtime_begin(2);
	every_operation_on(-1, -EBADF);
	every_operation_on(INT32_MAX, -EBADF);
	every_operation_on(12345, -EBADF);
	CHECK_EQ(DO(send, fd[0], "x", 1, 0), 1);
	CHECK_EQ(weft_fd_close(fd[0]), 0);
	every_operation_on(fd[0], -EBADF);
	CHECK_EQ(DO(send, fd[1], "x", 1, 0), -EPIPE);
	close(fd[1]); /* behind the runtime's back */
	every_operation_on(fd[1], -EBADF);
	CHECK_EQ(weft_fd_close(fd[1]), -EBADF);
	CHECK_EQ(weft_fd_close(-1), -EBADF);
	runtime_end();
}

TEST(operations_on_the_wrong_kind_of_descriptor_fail_as_system_calls_do)
{
	char buf[4];
	int fd[2], sock[2];

	CHECK_EQ(pipe(fd), 0);
	make_pair(sock);
	runtime_begin(2);
	CHECK_EQ(DO(recv, fd[0], buf, 4, 0), -ENOTSOCK);
	CHECK_EQ(DO(send, fd[1], buf, 4, 0), -ENOTSOCK);
	CHECK_EQ(DO(accept, fd[0], NULL, NULL), -ENOTSOCK);
	CHECK_EQ(DO(accept, sock[0], NULL, NULL), -EINVAL);
	CHECK_EQ(DO(pread, fd[0], buf, 4, 0), -ESPIPE);
	CHECK_EQ(DO(pread, sock[0], buf, 4, 0), -ESPIPE);
	CHECK_EQ(DO(write, fd[0], buf, 4), -EBADF);
	CHECK_EQ(DO(read, fd[1], buf, 4), -EBADF);
	CHECK_EQ(DO(fsync, sock[0], true), -EINVAL);
	CHECK_EQ(DO(sendfile, sock[0], fd[0], 0, 4), -EINVAL);
	CHECK_EQ(DO(recv, sock[0], NULL, 4, MSG_DONTWAIT), -EAGAIN);
	runtime_end();
}

TEST(nobody_is_killed_by_sigpipe)
{
	char buf[4] = "abc";
	struct iovec iov = { buf, 4 };
	int fd[2], sock[2];
	struct sigaction sa;

	CHECK_EQ(pipe(fd), 0);
	make_pair(sock);
	close(fd[0]);
	close(sock[0]);
	runtime_begin(1);
	CHECK_EQ(DO(write, fd[1], buf, 4), -EPIPE);
	CHECK_EQ(DO(writev, fd[1], &iov, 1, -1), -EPIPE);
	CHECK_EQ(DO(write, sock[1], buf, 4), -EPIPE);
	CHECK_EQ(DO(writev, sock[1], &iov, 1, -1), -EPIPE);
	CHECK_EQ(DO(send, sock[1], buf, 4, 0), -EPIPE);
	runtime_end();
	CHECK_EQ(sigaction(SIGPIPE, NULL, &sa), 0);
	CHECK(sa.sa_handler == SIG_DFL);
}

TEST(an_operation_under_way_cannot_be_started_again)
{
	char buf[4];
	int fd[2];
	struct call *c;

	make_pair(fd);
	expect_reports();
	runtime_begin(2);
	c = START(recv, fd[0], buf, 4, 0);
	CHECK_EQ(weft_op_send(&c->op, fd[1], buf, 4, 0), -EALREADY);
	CHECK_EQ(sync_reports, 1);
	CHECK(strstr(sync_report, "op.c:") != NULL);
	CHECK_EQ(write(fd[1], "xyz", 3), 3);
	CHECK_EQ(WAIT(c), 3);
	runtime_end();
}

TEST(bad_arguments_are_refused_and_nothing_starts)
{
	char buf[4];
	struct iovec iov = { buf, 4 };
	weft_op op;

	weft_op_init(&op, WEFT_MAIN, call_done, NULL);
	CHECK_EQ(weft_op_read(&op, 0, buf, 4), -ESHUTDOWN);
	CHECK_EQ(weft_op_cancel(&op), -ESHUTDOWN);
	runtime_begin(1);
	CHECK_EQ(weft_op_read(NULL, 0, buf, 4), -EINVAL);
	CHECK_EQ(weft_op_pread(&op, 0, buf, 4, -1), -EINVAL);
	CHECK_EQ(weft_op_pwrite(&op, 0, buf, 4, -7), -EINVAL);
	CHECK_EQ(weft_op_readv(&op, 0, &iov, 1, -2), -EINVAL);
	CHECK_EQ(weft_op_readv(&op, 0, NULL, 1, 0), -EINVAL);
	CHECK_EQ(weft_op_writev(&op, 0, &iov, 5000, 0), -EINVAL);
	CHECK_EQ(weft_op_recvmsg(&op, 0, NULL, 0), -EINVAL);
	CHECK_EQ(weft_op_accept(&op, 0, (struct sockaddr *)buf, NULL), -EINVAL);
	CHECK_EQ(weft_op_connect(&op, 0, NULL, 0), -EINVAL);
	CHECK_EQ(weft_op_open(&op, AT_FDCWD, NULL, 0, 0), -EINVAL);
	CHECK_EQ(weft_op_sendfile(&op, 0, 0, -1, 0), -EINVAL);
	CHECK_EQ(weft_op_cancel(&op), -ENOENT);
	op.event.run = NULL;
	CHECK_EQ(weft_op_read(&op, 0, buf, 4), -EINVAL);
	weft_op_init(&op, ~(weft_color)0, call_done, NULL);
	CHECK_EQ(weft_op_read(&op, 0, buf, 4), -EINVAL);
	runtime_end();
}

TEST(a_bad_buffer_is_an_error_of_the_operation)
{
	int fd[2];

	make_pair(fd);
	runtime_begin(1);
	CHECK_EQ(DO(send, fd[0], NULL, 4, 0), -EFAULT);
	CHECK_EQ(DO(send, fd[0], "abcd", 4, 0), 4);
	CHECK_EQ(DO(recv, fd[1], (void *)8, 4, 0), -EFAULT);
	runtime_end();
}

TEST(peeking_takes_nothing_away)
{
	char buf[64];
	int fd[2];

	make_tcp(fd);
	runtime_begin(1);
	struct call *c = START(recv, fd[0], buf, 64, MSG_PEEK);
	CHECK_EQ(write(fd[1], "abc", 3), 3);
	CHECK_EQ(WAIT(c), 3);
	CHECK_EQ(DO(recv, fd[0], buf, 64, MSG_PEEK), 3);
	CHECK_EQ(DO(recv, fd[0], buf, 64, 0), 3);
	CHECK_EQ(DO(recv, fd[0], buf, 64, MSG_DONTWAIT), -EAGAIN);
	c = START(recv, fd[0], buf, 64, 0);
	CHECK_EQ(write(fd[1], "abcd", 4), 4);
	CHECK_EQ(WAIT(c), 4);
	runtime_end();
}

TEST(urgent_data_does_not_hide_what_follows)
{
	char buf[64];
	int fd[2];

	make_tcp(fd);
	runtime_begin(1);
	for (int i = 0; i < 20; i++) {
		struct call *c = START(recv, fd[0], buf, 64, 0);
		int64_t got;

		CHECK_EQ(send(fd[1], "abc", 3, 0), 3);
		CHECK_EQ(send(fd[1], "U", 1, MSG_OOB), 1);
		CHECK_EQ(send(fd[1], "def", 3, 0), 3);
		for (got = WAIT(c); got < 6; got += DO(recv, fd[0], buf, 64, 0))
			;
		CHECK_EQ(got, 6);
	}
	runtime_end();
}

TEST(a_number_that_comes_back_means_the_new_descriptor)
{
	char buf[16];
	int fd[2], other[2];

	runtime_begin(2);
	make_pair(fd);
	CHECK_EQ(DO(send, fd[0], "x", 1, 0), 1);
	CHECK_EQ(DO(read, fd[1], buf, 16), 1);
	close(fd[0]);
	close(fd[1]);
	CHECK_EQ(pipe(other), 0);
	CHECK_EQ(other[0], fd[0]);
	struct call *c = START(read, other[0], buf, 16);
	CHECK_EQ(DO(write, other[1], "pipe", 4), 4);
	CHECK_EQ(WAIT(c), 4);
	runtime_end();
}

TEST(listening_addresses_are_read_strictly)
{
	static const char *const bad[] = {
		"",
		"80",
		"localhost:80",
		"127.0.0.1:",
		"127.0.0.1:99999",
		"::1:80",
		"[::1]80",
		"[::1:80",
		"127.0.0.1:8x",
		"1.2.3:80",
		"[1.2.3.4]:80",
		"127.0.0.1:-1",
		"127.0.0.1: 1",
		"[]:1",
		"256.0.0.1:1",
		NULL,
	};
	int fd = weft_listen_on("127.0.0.1:0");

	CHECK(fd >= 0);
	CHECK_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CHECK_EQ(close(fd), 0);
	fd = weft_listen_on(":0");
	CHECK(fd >= 0);
	CHECK_EQ(close(fd), 0);
	for (int i = 0; bad[i] != NULL; i++)
		CHECK_EQ(weft_listen_on(bad[i]), -EINVAL);
	CHECK_EQ(weft_listen_on(NULL), -EINVAL);
	CHECK_EQ(weft_listen_on("192.0.2.1:80"), -EADDRNOTAVAIL);
}

TEST(a_recv_that_does_not_wait_gets_what_is_there)
{
	char buf[8];
	int fd[2];

	runtime_begin(2);
	for (int tcp = 0; tcp < 2; tcp++) {
		tcp ? make_tcp(fd) : make_pair(fd);
		for (int round = 0; round < 3; round++) {
			/* Nothing is left after the first; then there is something new. */
			CHECK_EQ(write(fd[1], "abc", 3), 3);
			CHECK_EQ(DO(recv, fd[0], buf, 8, 0), 3);
			CHECK_EQ(DO(recv, fd[0], buf, 8, MSG_DONTWAIT), -EAGAIN);
			CHECK_EQ(write(fd[1], "de", 2), 2);
			CHECK_EQ(DO(recv, fd[0], buf, 8, MSG_DONTWAIT), 2);
		}
	}
	runtime_end();
}

/* More than the kernel gives at a time, and than is taken in one look. */
TEST(much_that_is_ready_at_once_is_delivered_once)
{
	enum { N = 200 };
	static char byte[N];
	static int pair[N][2];
	struct call *c[N];

	sync_rt.opt.stall_ms = -1;
	runtime_begin(1);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			if (round == 0)
				make_pair(pair[i]);
			c[i] = START(recv, pair[i][0], &byte[i], 1, 0);
		}
		worker_hold();
		for (int i = 0; i < N; i++)
			CHECK_EQ(write(pair[i][1], &(char){ (char)(i + round) }, 1), 1);
		worker_go();
		for (int i = 0; i < N; i++) {
			CHECK_EQ(WAIT(c[i]), 1);
			CHECK_EQ(byte[i], (char)(i + round));
		}
	}
	runtime_end();
}

TEST_MAIN
