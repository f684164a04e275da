/* cancel.c - cancelling is exact: it happened and says so, or it did not (X1). */
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>

#include "io/sync.h"

TEST(a_waiting_operation_is_cancelled)
{
	char buf[4];
	int fd[2];
	struct call *c;

	runtime_begin(2);
	for (int tcp = 0; tcp < 2; tcp++) {
		tcp ? make_tcp(fd) : make_pair(fd);
		c = START(recv, fd[0], buf, 4, 0);
		CHECK_EQ(weft_op_cancel(&c->op), 0);
		CHECK_EQ(WAIT(c), -ECANCELED);
		c = START(recv, fd[0], buf, 4, 0);
		CHECK_EQ(write(fd[1], "abc", 3), 3);
		CHECK_EQ(WAIT(c), 3);
	}
	runtime_end();
}

TEST(cancelling_one_of_many_leaves_the_others_in_order)
{
	enum { N = 9 };
	char buf[N];
	int fd[2];
	struct call *c[N];

	make_pair(fd);
	runtime_begin(2);
	for (int i = 0; i < N; i++)
		c[i] = START(recv, fd[0], &buf[i], 1, 0);
	for (int i = 0; i < N; i += 2)
		CHECK_EQ(weft_op_cancel(&c[i]->op), 0);
	for (int i = 0; i < N; i += 2)
		CHECK_EQ(WAIT(c[i]), -ECANCELED);
	CHECK_EQ(write(fd[1], "abcd", 4), 4);
	for (int i = 1; i < N; i += 2) {
		CHECK_EQ(WAIT(c[i]), 1);
		CHECK_EQ(buf[i], 'a' + i / 2);
	}
	runtime_end();
}

static struct call *quick;
static sem_t quick_done;

static void start_then_cancel(void *arg)
{
	static char buf[4];

	CHECK_EQ(weft_op_recv(&quick->op, *(int *)arg, buf, 4, 0), 0);
	CHECK_EQ(weft_op_cancel(&quick->op), 0);
	(void)weft_op_cancel(&quick->op);
	sem_post(&quick_done);
}

TEST(an_operation_is_cancelled_before_the_kernel_has_seen_it)
{
	int fd[2];

	make_pair(fd);
	sem_init(&quick_done, 0, 0);
	runtime_begin(1);
	quick = call_new();
	/* In the operation's own color: it cannot end while this runs. */
	CHECK_EQ(weft_post(quick->op.event.color, start_then_cancel, &fd[0]), 0);
	sem_wait(&quick_done);
	CHECK_EQ(WAIT(quick), -ECANCELED);
	runtime_end();
}

static void cancel_itself(void *arg)
{
	struct call *c = arg;

	CHECK_EQ(weft_op_cancel(&c->op), -EALREADY);
	sem_post(&c->done);
}

TEST(what_is_done_cannot_be_cancelled)
{
	int fd[2];
	struct call *c = call_new();

	make_pair(fd);
	c->op.event.run = cancel_itself;
	runtime_begin(2);
	CHECK_EQ(weft_op_cancel(&c->op), -ENOENT);
	CHECK_EQ(weft_op_send(&c->op, fd[0], "a", 1, 0), 0);
	CHECK_EQ(WAIT(c), 1);
	runtime_end();
}

TEST(a_half_done_send_tells_how_much_it_sent)
{
	enum { BIG = 8 << 20 };
	char *buf = calloc(1, BIG);
	int64_t sent, got = 0;
	int fd[2];

	runtime_begin(2);
	for (int kind = 0; kind < 3; kind++) {
		int file = memfd_create("weft", 0);
		struct call *c;

		CHECK_EQ(ftruncate(file, BIG), 0);
		make_pair(fd);
		if (kind == 2)
			CHECK_EQ(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
		if (kind == 0)
			c = START(send, fd[0], buf, BIG, MSG_WAITALL);
		else
			c = START(sendfile, fd[0], file, 0, BIG);
		CHECK_EQ(DO(recv, fd[1], buf, 1000, MSG_WAITALL), 1000);
		CHECK_EQ(weft_op_cancel(&c->op), 0);
		sent = WAIT(c);
		CHECK(sent >= 1000 && sent < BIG);
		CHECK_EQ(weft_fd_close(fd[0]), 0);
		got = 1000;
		for (int64_t n = 1; n > 0; got += n)
			n = DO(recv, fd[1], buf, BIG, 0);
		CHECK_EQ(got, sent);
		close(file);
		CHECK_EQ(weft_fd_close(fd[1]), 0);
	}
	runtime_end();
	free(buf);
}

TEST(a_connection_attempt_is_cancelled)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof addr;
	int ls = socket(AF_INET, SOCK_STREAM, 0), fd[64], n;
	struct call *c[64];

	/* A listen queue of one, which is full soon: the next attempts wait. */
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_EQ(bind(ls, (struct sockaddr *)&addr, len), 0);
	CHECK_EQ(listen(ls, 0), 0);
	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	for (n = 0; n < 8; n++) {
		fd[n] = socket(AF_INET, SOCK_STREAM, 0);
		c[n] = START(connect, fd[n], (struct sockaddr *)&addr, len);
	}
	for (int i = 0; i < n; i++) {
		int rc = weft_op_cancel(&c[i]->op);

		CHECK(rc == 0 || rc == -EALREADY);
	}
	for (int i = 0; i < n; i++) {
		int64_t r = WAIT(c[i]);

		CHECK(r == 0 || r == -ECANCELED);
		CHECK_EQ(weft_fd_close(fd[i]), 0);
	}
	runtime_end();
}

TEST(cancelled_reads_of_a_file_let_those_behind_them_go_on)
{
	enum { N = 12 };
	static char buf[N][4096];
	int fd = memfd_create("weft", 0);
	struct call *c[N];

	CHECK_EQ(ftruncate(fd, N * 4096), 0);
	runtime_begin(2);
	for (int round = 0; round < 50; round++) {
		CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
		for (int i = 0; i < N; i++)
			c[i] = START(read, fd, buf[i], 4096);
		for (int i = round % 3; i < N; i += 3) {
			int rc = weft_op_cancel(&c[i]->op);

			CHECK(rc == 0 || rc == -EALREADY);
		}
		for (int i = 0; i < N; i++) {
			int64_t n = WAIT(c[i]);

			if (n != -ECANCELED || i % 3 != round % 3)
				CHECK_EQ(n, 4096);
		}
	}
	runtime_end();
}

/* Random schedules */

static _Atomic bool over;

/* Cancels all the time, whatever is under way, from outside. */
struct canceller {
	pthread_t thread;
	weft_op *op[4];
	int count;
	uint64_t seed;
};

static void *cancel_all_the_time(void *arg)
{
	struct canceller *k = arg;

	while (!over) {
		int rc = weft_op_cancel(k->op[test_random(&k->seed) % (unsigned)k->count]);

		CHECK(rc == 0 || rc == -EALREADY || rc == -ENOENT);
		for (uint64_t n = test_random(&k->seed) % 2000; n > 0; n--)
			__asm__ volatile("");
	}
	return NULL;
}

struct stream {
	weft_op op;
	int fd;
	uint64_t seed;
	uint64_t total, done;
	unsigned char buf[3000];
	sem_t end;
};

static unsigned char stream_byte(uint64_t i)
{
	return (unsigned char)(i * 7 + (i >> 8));
}

static void stream_read(void *arg)
{
	struct stream *s = arg;

	if (s->op.result > 0) {
		for (int64_t i = 0; i < s->op.result; i++)
			CHECK_EQ(s->buf[i], stream_byte(s->done + (uint64_t)i));
		s->done += (uint64_t)s->op.result;
	} else {
		CHECK_EQ(s->op.result, -ECANCELED);
	}
	if (s->done == s->total)
		sem_post(&s->end);
	else
		CHECK_EQ(weft_op_recv(&s->op, s->fd, s->buf, 1 + test_random(&s->seed) % 3000,
				      test_random(&s->seed) % 4 ? 0 : MSG_WAITALL),
			 0);
}

static void stream_write(void *arg)
{
	struct stream *s = arg;
	uint64_t len;

	if (s->op.result > 0)
		s->done += (uint64_t)s->op.result;
	if (s->done == s->total) {
		sem_post(&s->end);
		return;
	}
	len = 1 + test_random(&s->seed) % 3000;
	if (len > s->total - s->done)
		len = s->total - s->done;
	for (uint64_t i = 0; i < len; i++)
		s->buf[i] = stream_byte(s->done + i);
	CHECK_EQ(weft_op_send(&s->op, s->fd, s->buf, len,
			      test_random(&s->seed) % 4 ? 0 : MSG_WAITALL),
		 0);
}

static void begin_stream(struct stream *s, int fd, weft_fn *fn, uint64_t total, uint64_t seed)
{
	memset(s, 0, sizeof *s);
	s->fd = fd;
	s->total = total;
	s->seed = seed;
	sem_init(&s->end, 0, 0);
	weft_op_init(&s->op, weft_color_new(), fn, s);
	s->op.result = -ECANCELED;
	CHECK_EQ(weft_post(s->op.event.color, fn, s), 0);
}

static void stream_under_fire(bool tcp)
{
	static struct stream reader, writer;
	struct canceller k = { .op = { &reader.op, &writer.op }, .count = 2, .seed = TEST_SEED };
	uint64_t total = (uint64_t)TEST_SIZE(2000000);
	int fd[2];

	tcp ? make_tcp(fd) : make_pair(fd);
	runtime_begin(2);
	begin_stream(&reader, fd[0], stream_read, total, TEST_SEED + 1);
	begin_stream(&writer, fd[1], stream_write, total, TEST_SEED + 2);
	CHECK_EQ(pthread_create(&k.thread, NULL, cancel_all_the_time, &k), 0);
	sem_wait(&writer.end);
	sem_wait(&reader.end);
	over = true;
	pthread_join(k.thread, NULL);
	runtime_end();
}

TEST(no_byte_is_lost_between_cancels_on_a_local_stream)
{
	stream_under_fire(false);
}

TEST(no_byte_is_lost_between_cancels_on_tcp)
{
	stream_under_fire(true);
}

struct acceptor {
	weft_op op;
	int ls;
	_Atomic int accepted, cancelled;
	int wanted;
	sem_t *end;
};

static void accept_again(void *arg)
{
	struct acceptor *a = arg;

	if (a->op.result >= 0) {
		CHECK_EQ(weft_fd_close((int)a->op.result), 0);
		a->accepted++;
		sem_post(a->end);
	} else {
		CHECK_EQ(a->op.result, -ECANCELED);
		a->cancelled++;
	}
	if (!over)
		CHECK_EQ(weft_op_accept(&a->op, a->ls, NULL, NULL), 0);
}

TEST(no_connection_is_lost_between_cancels)
{
	int ls = weft_listen_on("127.0.0.1:0"), n = TEST_SIZE(1000);
	static struct acceptor a[3];
	struct canceller k = { .op = { &a[0].op, &a[1].op, &a[2].op },
			       .count = 3,
			       .seed = TEST_SEED };
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	sem_t end;
	char byte;

	sem_init(&end, 0, 0);
	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	for (int i = 0; i < 3; i++) {
		a[i].ls = ls;
		a[i].end = &end;
		weft_op_init(&a[i].op, weft_color_new(), accept_again, &a[i]);
		CHECK_EQ(weft_op_accept(&a[i].op, ls, NULL, NULL), 0);
	}
	CHECK_EQ(pthread_create(&k.thread, NULL, cancel_all_the_time, &k), 0);
	for (int i = 0; i < n; i++) {
		int cl = socket(AF_INET, SOCK_STREAM, 0);

		CHECK_EQ(connect(cl, (struct sockaddr *)&addr, len), 0);
		/* Whoever accepted it closes it, so it ends. */
		CHECK_EQ(read(cl, &byte, 1), 0);
		CHECK_EQ(close(cl), 0);
		sem_wait(&end);
	}
	CHECK_EQ(a[0].accepted + a[1].accepted + a[2].accepted, n);
	/* On a busy machine the canceller may only come now. */
	while (a[0].cancelled + a[1].cancelled + a[2].cancelled == 0)
		sched_yield();
	over = true;
	pthread_join(k.thread, NULL);
	runtime_stop();
}

struct reader {
	weft_op op;
	int fd;
	uint64_t seed;
	char buf[4096];
	_Atomic int left;
	sem_t *end;
};

static void pread_again(void *arg)
{
	struct reader *r = arg;

	CHECK(r->op.result == sizeof r->buf || r->op.result == -ECANCELED);
	if (--r->left == 0)
		sem_post(r->end);
	else
		CHECK_EQ(weft_op_pread(&r->op, r->fd, r->buf, sizeof r->buf,
				       (int64_t)(test_random(&r->seed) % 64) * 4096),
			 0);
}

TEST(file_reads_are_whole_or_cancelled)
{
	char path[] = "/tmp/weft-cancel-XXXXXX";
	static struct reader r[4];
	struct canceller k = { .count = 4, .seed = TEST_SEED };
	int fd = mkstemp(path);
	sem_t end;

	unlink(path);
	sem_init(&end, 0, 0);
	CHECK_EQ(ftruncate(fd, 64 * 4096), 0);
	runtime_begin(2);
	for (int i = 0; i < 4; i++) {
		r[i].fd = fd;
		r[i].end = &end;
		r[i].seed = TEST_SEED + (uint64_t)i;
		r[i].left = TEST_SIZE(3000);
		k.op[i] = &r[i].op;
		weft_op_init(&r[i].op, weft_color_new(), pread_again, &r[i]);
		r[i].op.result = -ECANCELED;
		CHECK_EQ(weft_post(r[i].op.event.color, pread_again, &r[i]), 0);
	}
	CHECK_EQ(pthread_create(&k.thread, NULL, cancel_all_the_time, &k), 0);
	for (int i = 0; i < 4; i++)
		sem_wait(&end);
	over = true;
	pthread_join(k.thread, NULL);
	runtime_end();
}

TEST_MAIN
