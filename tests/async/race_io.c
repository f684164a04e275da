/* race_io.c - cancels that race with input and output: every byte and connection is
 * accounted for (X1). */
/* backends: both */
#include "async/race.h"

/* Bytes */

struct stream {
	int in, out;
	long bytes;
	uint64_t random;
	unsigned char buf[16];
	size_t len, done;
};

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
		pause_somehow(&s->random);
	}
	return weft_close(s->out);
}

static ssize_t read_some(void *arg)
{
	struct stream *s = arg;
	struct iovec iov[2] = { { s->buf, 1 }, { s->buf + 1, 5 } };
	size_t done = 0;
	ssize_t n;

	switch (test_random(&s->random) % 4) {
	case 0:
		return weft_readv(s->in, iov, 2);
	case 1:
		n = weft_read_exactly_until(s->in, s->buf, 3, &done, WEFT_FOREVER);
		return n >= 0 || done == 0 ? n : (ssize_t)done;
	case 2:
		n = weft_recv(s->in, s->buf, sizeof s->buf, 0);
		return n != -ENOTSOCK ? n : weft_read(s->in, s->buf, sizeof s->buf);
	default:
		return weft_read(s->in, s->buf, sizeof s->buf);
	}
}

static void race_for_bytes(int fd[2], int n, bool foreign, const char *what)
{
	struct stream s = { .in = fd[0], .out = fd[1], .bytes = 4L * n, .random = TEST_SEED };
	struct stream w = s;
	unsigned char next = 0;
	weft_thread *writer;
	struct racer r;
	ssize_t got;
	long sum = 0;

	racer_start(&r, foreign);
	writer = start_elsewhere(write_bytes, &w);
	while ((got = race(&r, read_some, &s)) != 0) {
		CHECK(got > 0 || got == -ECANCELED);
		for (ssize_t i = 0; i < got; i++)
			CHECK_EQ(s.buf[i], next++);
		sum += got > 0 ? got : 0;
	}
	CHECK_EQ(sum, s.bytes);
	CHECK_EQ(weft_join(writer, NULL), 0);
	CHECK_EQ(weft_close(s.in), 0);
	racer_end(&r, what);
}

THREAD_TEST(no_byte_of_a_stream_is_lost, 2)
{
	int fd[2];

	tcp_pair(fd);
	race_for_bytes(fd, races(2000), false, "tcp");
	make_pipe(fd);
	race_for_bytes(fd, races(2000), false, "pipe");
	socket_pair(fd);
	race_for_bytes(fd, races(300), true, "unix, foreign");
	return 0;
}

static int read_slowly(void *arg)
{
	struct stream *s = arg;
	static unsigned char buf[3000];
	ssize_t n;

	while ((n = weft_read(s->in, buf, 1 + test_random(&s->random) % sizeof buf)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK_EQ(buf[i], (unsigned char)(s->bytes++ * 13));
		pause_somehow(&s->random);
	}
	return 0;
}

struct output {
	int fd;
	long sent;
	size_t len, done;
	unsigned char buf[20000];
};

static ssize_t write_some(void *arg)
{
	struct output *o = arg;

	return weft_write_all_until(o->fd, o->buf, o->len, &o->done, WEFT_FOREVER);
}

THREAD_TEST(no_byte_is_written_without_being_told, 2)
{
	struct stream s = { .random = TEST_SEED };
	static struct output o;
	int fd[2], small = 4096;
	weft_thread *reader;
	struct racer r;

	socket_pair(fd);
	CHECK_EQ(setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
	s.in = fd[0];
	o.fd = fd[1];
	racer_start(&r, false);
	reader = start_elsewhere(read_slowly, &s);
	for (int i = races(1000); i > 0; i--) {
		ssize_t n;

		o.len = 1 + test_random(&r.random) % sizeof o.buf;
		o.done = 0;
		for (size_t j = 0; j < o.len; j++)
			o.buf[j] = (unsigned char)((o.sent + (long)j) * 13);
		n = race(&r, write_some, &o);
		CHECK(n == (ssize_t)o.len || n == -ECANCELED);
		o.sent += (long)o.done;
	}
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_join(reader, NULL), 0);
	CHECK_EQ(s.bytes, o.sent);
	CHECK_EQ(weft_close(fd[0]), 0);
	racer_end(&r, "writes");
	return 0;
}

/* Connections */

struct knocker {
	int ls, count;
	uint64_t random;
};

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
		pause_somehow(&k->random);
	}
	return 0;
}

static ssize_t accept_one(void *arg)
{
	return weft_accept(((struct knocker *)arg)->ls, NULL);
}

THREAD_TEST(no_connection_is_lost, 2)
{
	struct knocker k = { .ls = listener(), .count = races(1000), .random = TEST_SEED };
	weft_thread *knocker;
	struct racer r;

	racer_start(&r, false);
	knocker = start_elsewhere(knock_often, &k);
	for (int next = 0; next < k.count;) {
		int number, fd = (int)race(&r, accept_one, &k);

		CHECK(fd >= 0 || fd == -ECANCELED);
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
	racer_end(&r, "accepts");
	return 0;
}

/* Calls on the pool, and names: with -ECANCELED there was no call, and there is no list. */

static int count_call(void *calls)
{
	return atomic_fetch_add((atomic_int *)calls, 1);
}

static ssize_t offload_one(void *calls)
{
	int before = atomic_load((atomic_int *)calls), result = -1;
	int rc = weft_offload_until(count_call, calls, &result, WEFT_FOREVER);

	CHECK_EQ(result, rc == 0 ? before : -1);
	return rc;
}

THREAD_TEST(no_call_is_made_without_being_told, 2)
{
	atomic_int calls = 0;
	struct racer r;
	int told = 0;

	racer_start(&r, false);
	for (int i = races(1000); i > 0; i--) {
		ssize_t rc = race(&r, offload_one, &calls);

		CHECK(rc == 0 || rc == -ECANCELED);
		told += rc == 0;
		CHECK_EQ(atomic_load(&calls), told);
	}
	racer_end(&r, "offloads");
	return 0;
}

static ssize_t resolve_one(void *unused)
{
	struct sockaddr_storage *addrs = NULL;
	int n = weft_resolve("localhost", 80, AF_INET, &addrs);

	(void)unused;
	CHECK_EQ(addrs != NULL, n > 0);
	free(addrs);
	return n;
}

THREAD_TEST(a_list_of_names_is_given_or_there_is_none, 2)
{
	struct racer r;

#ifndef WEFT_HAVE_CARES
	SKIP("built without c-ares");
#endif
	racer_start(&r, false);
	for (int i = races(500); i > 0; i--) {
		ssize_t n = race(&r, resolve_one, NULL);

		CHECK(n > 0 || n == -ECANCELED);
	}
	racer_end(&r, "lookups");
	return 0;
}

/* After -ECANCELED a socket is of no use, but can be closed as ever. */
static ssize_t connect_one(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
	struct linger rude = { .l_onoff = 1 };
	struct sockaddr_in addr = address_of(*(int *)arg);
	weft_scope shield;
	char byte;

	CHECK(fd >= 0);
	rc = weft_connect(fd, (struct sockaddr *)&addr, sizeof addr);
	weft_shield_begin(&shield);
	if (rc == 0)
		CHECK_EQ(weft_read(fd, &byte, 1), 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &rude, sizeof rude); /* no TIME_WAIT */
	CHECK_EQ(weft_close(fd), 0);
	CHECK_EQ(weft_scope_end(&shield), 0);
	return rc;
}

/* Of a connection that was cancelled the other side is gone, or about to go. */
static int greet_all(void *ls)
{
	int fd;

	while ((fd = weft_accept(*(int *)ls, NULL)) >= 0) {
		(void)weft_write_all(fd, "k", 1);
		CHECK_EQ(weft_close(fd), 0);
	}
	return fd == -EBADF ? 0 : fd;
}

THREAD_TEST(a_socket_is_connected_if_it_is_said, 2)
{
	int ls = listener(), rc;
	weft_thread *accepts;
	struct racer r;

	racer_start(&r, false);
	accepts = start_elsewhere(greet_all, &ls);
	for (int i = races(500); i > 0; i--) {
		ssize_t n = race(&r, connect_one, &ls);

		CHECK(n == 0 || n == -ECANCELED);
	}
	CHECK_EQ(weft_close(ls), 0);
	CHECK_EQ(weft_join(accepts, &rc), 0);
	CHECK_EQ(rc, 0);
	racer_end(&r, "connects");
	return 0;
}

TEST_MAIN
