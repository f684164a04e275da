/* deadline.c - deadlines that come around the moment of completion: every byte,
 * connection and datagram is accounted for (X1). WEFT_TEST_RACES=n sets how many
 * races each test runs. */
/* backends: both */
#include "threads/blocking.h"

static int races(int usual)
{
	const char *wanted = getenv("WEFT_TEST_RACES");

	return wanted != NULL ? atoi(wanted) : TEST_SIZE(usual);
}

/* Deadlines adapt so that about half of them come first, mostly: on a busy machine the other side
 * may be done before there was one. */
struct aim {
	uint64_t random, span;
	int in_time, late;
};

static uint64_t deadline(struct aim *a)
{
	return weft_now() + test_random(&a->random) % a->span;
}

static void was(struct aim *a, bool late)
{
	if (late) {
		a->late++;
		a->span += a->span / 16 + 1;
	} else {
		a->in_time++;
		if (a->span > 64)
			a->span -= a->span / 16;
	}
	if (a->span > WEFT_MS)
		a->span = WEFT_MS;
}

static void show(const struct aim *a, const char *what)
{
	printf("%s: %d in time, %d late\n", what, a->in_time, a->late);
}

/* Reads */

struct stream {
	int in, out;
	long bytes;
	uint64_t random;
	weft_thread *writer;
};

/* Writes the numbers of a sequence, each byte the next one, with pauses. */
static int write_bytes(void *arg)
{
	struct stream *s = arg;
	unsigned char next = 0, buf[7];

	for (long at = 0; at < s->bytes;) {
		long n = 1 + (long)(test_random(&s->random) % sizeof buf);

		if (n > s->bytes - at)
			n = s->bytes - at;
		for (long i = 0; i < n; i++)
			buf[i] = next++;
		CHECK_EQ(weft_write_all(s->out, buf, (size_t)n), n);
		at += n;
		if (test_random(&s->random) % 2)
			weft_sleep(test_random(&s->random) % (50 * WEFT_US));
		else
			weft_yield();
	}
	return weft_close(s->out);
}

/* How a read is called: all must count the same bytes. */
static ssize_t read_somehow(struct stream *s, unsigned char *buf, size_t len, uint64_t until)
{
	struct iovec iov[2] = { { buf, 1 }, { buf + 1, len - 1 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	size_t done = 0;
	ssize_t n;

	switch (test_random(&s->random) % 5) {
	case 0:
		return weft_readv_until(s->in, iov, 2, until);
	case 1:
		n = weft_read_exactly_until(s->in, buf, 3, &done, until);
		return n >= 0 || done == 0 ? n : (ssize_t)done;
	case 2:
		n = weft_recv_until(s->in, buf, len, 0, until);
		return n != -ENOTSOCK ? n : weft_read_until(s->in, buf, len, until);
	case 3:
		n = weft_recvmsg_until(s->in, &msg, 0, until);
		return n != -ENOTSOCK ? n : weft_read_until(s->in, buf, len, until);
	default:
		return weft_read_until(s->in, buf, len, until);
	}
}

static void race_reads(int fd[2], long bytes, const char *what)
{
	struct stream s = { .in = fd[0], .out = fd[1], .bytes = bytes, .random = TEST_SEED };
	struct stream w = s;
	struct aim aim = { .random = TEST_SEED + 1, .span = 20 * WEFT_US };
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	unsigned char next = 0, buf[16];
	long sum = 0;
	ssize_t n;

	CHECK_EQ(weft_thread_start(&s.writer, &attr, write_bytes, &w), 0);
	while ((n = read_somehow(&s, buf, sizeof buf, deadline(&aim))) != 0) {
		CHECK(n > 0 || n == -ETIMEDOUT);
		was(&aim, n < 0);
		for (ssize_t i = 0; i < n; i++)
			CHECK_EQ(buf[i], next++);
		sum += n > 0 ? n : 0;
	}
	CHECK_EQ(sum, bytes);
	CHECK_EQ(weft_join(s.writer, NULL), 0);
	CHECK_EQ(weft_close(s.in), 0);
	show(&aim, what);
}

THREAD_TEST(no_byte_of_a_tcp_stream_is_lost, 2)
{
	int fd[2];

	tcp_pair(fd);
	race_reads(fd, 5L * races(10000) / 2, "tcp reads");
	return 0;
}

THREAD_TEST(no_byte_of_a_unix_stream_is_lost, 2)
{
	int fd[2];

	socket_pair(fd);
	race_reads(fd, 5L * races(10000) / 2, "unix reads");
	return 0;
}

THREAD_TEST(no_byte_of_a_pipe_is_lost, 1)
{
	int fd[2];

	make_pipe(fd);
	race_reads(fd, 5L * races(10000) / 2, "pipe reads");
	return 0;
}

/* Writes: what the writer was told arrives, and nothing else. */

static int read_slowly(void *arg)
{
	struct stream *s = arg;
	unsigned char buf[5000];
	ssize_t n;

	while ((n = weft_read(s->in, buf, 1 + test_random(&s->random) % sizeof buf)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK_EQ(buf[i], (unsigned char)(s->bytes++ * 13));
		if (test_random(&s->random) % 8 == 0)
			weft_sleep(test_random(&s->random) % (30 * WEFT_US));
	}
	CHECK_EQ(n, 0);
	return 0;
}

THREAD_TEST(no_byte_is_written_without_being_told, 2)
{
	struct stream s = { .random = TEST_SEED };
	struct aim aim = { .random = TEST_SEED + 1, .span = 20 * WEFT_US };
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	static unsigned char buf[20000];
	long sent = 0;
	int fd[2], small = 4096;

	socket_pair(fd);
	CHECK_EQ(setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
	s.in = fd[0];
	CHECK_EQ(weft_thread_start(&s.writer, &attr, read_slowly, &s), 0);
	for (int i = races(5000); i > 0; i--) {
		size_t len = 1 + test_random(&aim.random) % sizeof buf, done;
		ssize_t n;

		for (size_t j = 0; j < len; j++)
			buf[j] = (unsigned char)((sent + (long)j) * 13);
		n = weft_write_all_until(fd[1], buf, len, &done, deadline(&aim));
		CHECK(n == (ssize_t)len || n == -ETIMEDOUT);
		was(&aim, n < 0);
		sent += (long)done;
	}
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_join(s.writer, NULL), 0);
	CHECK_EQ(s.bytes, sent);
	CHECK_EQ(weft_close(fd[0]), 0);
	show(&aim, "writes");
	return 0;
}

/* Accepts */

struct knocker {
	int ls, count;
	uint64_t random;
};

/* Each connection says its number and waits until it is served. */
static int knock_often(void *arg)
{
	struct knocker *k = arg;
	struct sockaddr_in addr = address_of(k->ls);

	for (int i = 0; i < k->count; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		struct linger rude = { .l_onoff = 1 };
		char byte;

		CHECK(fd >= 0);
		CHECK_EQ(weft_connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
		CHECK_EQ(weft_write_all(fd, &i, sizeof i), (ssize_t)sizeof i);
		CHECK_EQ(weft_read(fd, &byte, 1), 1);
		/* No TIME_WAIT: there are not enough ports for that. */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &rude, sizeof rude);
		CHECK_EQ(weft_close(fd), 0);
		if (test_random(&k->random) % 2)
			weft_sleep(test_random(&k->random) % (30 * WEFT_US));
	}
	return 0;
}

THREAD_TEST(no_connection_is_lost, 2)
{
	struct knocker k = { .ls = listener(), .count = races(5000), .random = TEST_SEED };
	struct aim aim = { .random = TEST_SEED + 1, .span = 20 * WEFT_US };
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *knocker;

	CHECK_EQ(weft_thread_start(&knocker, &attr, knock_often, &k), 0);
	for (int next = 0; next < k.count;) {
		int number, fd = weft_accept_until(k.ls, NULL, deadline(&aim));

		CHECK(fd >= 0 || fd == -ETIMEDOUT);
		was(&aim, fd < 0);
		if (fd < 0)
			continue;
		CHECK_EQ(weft_read_exactly(fd, &number, sizeof number), (ssize_t)sizeof number);
		CHECK_EQ(number, next++);
		CHECK_EQ(weft_write_all(fd, "k", 1), 1);
		CHECK_EQ(weft_close(fd), 0);
	}
	CHECK_EQ(weft_join(knocker, NULL), 0);
	CHECK_EQ(weft_accept_until(k.ls, NULL, 0), -ETIMEDOUT);
	CHECK_EQ(weft_close(k.ls), 0);
	show(&aim, "accepts");
	return 0;
}

/* Everything else, at fixed deadlines */

THREAD_TEST(a_deadline_in_the_past_gives_what_is_there, 1)
{
	int fd[2], ls = listener(), cl = knock(ls), conn;
	char buf[8];
	ssize_t n;

	tcp_pair(fd);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(AT_ONCE(weft_write_until(fd[0], "abc", 3, 0)), 3);
		CHECK_EQ(AT_ONCE(weft_read_until(fd[1], buf, 8, 0)), 3);
		CHECK_EQ(weft_read_until(fd[1], buf, 8, 0), -ETIMEDOUT);
		CHECK_EQ(weft_read_until(fd[1], buf, 8, weft_now() + WEFT_MS), -ETIMEDOUT);
	}
	CHECK_EQ(fcntl(ls, F_SETFL, O_NONBLOCK), 0); /* or the ring is asked */
	conn = AT_ONCE(weft_accept_until(ls, NULL, 0));
	CHECK(conn >= 0);
	CHECK_EQ(weft_accept_until(ls, NULL, 0), -ETIMEDOUT);
	do { /* what was full may have room again when TCP hears of what has arrived */
		fill(fd[0]);
		n = weft_write_until(fd[0], "abc", 3, 0);
	} while (n > 0);
	CHECK_EQ(n, -ETIMEDOUT);
	CHECK_EQ(weft_recv_until(conn, buf, 8, MSG_WAITALL, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(write(cl, "abc", 3), 3);
	CHECK_EQ(weft_recv_until(conn, buf, 8, MSG_WAITALL, weft_now() + 5 * WEFT_MS), 3);
	weft_close(fd[0]);
	weft_close(fd[1]);
	weft_close(conn);
	close(cl);
	weft_close(ls);
	return 0;
}

/* A full queue of connections: the next attempt gets no answer. */
THREAD_TEST(a_connection_attempt_ends_at_its_deadline, 1)
{
	weft_listen_options opt = { .backlog = 1 };
	int n, fd[64], ls = weft_listen("127.0.0.1:0", &opt), rc = 0;
	struct sockaddr_in addr = address_of(ls);

	for (n = 0; n < 64 && rc == 0; n++) {
		fd[n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = weft_connect_until(fd[n], (struct sockaddr *)&addr, sizeof addr,
					weft_now() + 20 * WEFT_MS);
	}
	CHECK_EQ(rc, -ETIMEDOUT);
	while (n > 0)
		CHECK_EQ(weft_close(fd[--n]), 0);
	CHECK_EQ(weft_close(ls), 0);
	return 0;
}

TEST_MAIN
