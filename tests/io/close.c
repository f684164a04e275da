/* close.c - closing descriptors that are in use, and stopping with operations
 * under way. */
#include <netinet/in.h>
#include <sys/stat.h>

#include "io/sync.h"

static bool is_open(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0;
}

TEST(closing_ends_what_is_under_way_then_closes)
{
	enum { N = 5 };
	char buf[N][4];
	struct call *in[N], *out[N];
	static char big[1 << 20];
	int fd[2];

	for (int how = 0; how < 3; how++) {
		runtime_begin(2);
		how == 2 ? make_tcp(fd) : make_pair(fd);
		for (int i = 0; i < N; i++) {
			in[i] = START(recv, fd[0], buf[i], 4, 0);
			out[i] = START(send, fd[0], big, sizeof big, MSG_WAITALL);
		}
		if (how == 0)
			CHECK_EQ(weft_fd_close(fd[0]), 0);
		else
			CHECK_EQ(DO(close, fd[0]), 0);
		for (int i = 0; i < N; i++) {
			int64_t n = WAIT(out[i]);

			CHECK_EQ(WAIT(in[i]), -ECANCELED);
			/* Those that fit were sent, the next one in part. */
			CHECK(n == -ECANCELED || n > 0);
		}
		/* The other side sees the end, after what was sent. */
		for (ssize_t n = 1; n > 0;)
			n = read(fd[1], big, sizeof big);
		if (how > 0)
			CHECK(!is_open(fd[0]));
		close(fd[1]);
		runtime_end();
	}
}

TEST(a_descriptor_that_is_being_closed_is_bad_for_new_operations)
{
	char buf[4];
	int fd[2];
	struct call *a, *b, *c;

	make_pair(fd);
	runtime_begin(1);
	a = START(recv, fd[0], buf, 4, 0);
	b = START(close, fd[0]);
	c = START(recv, fd[0], buf, 4, 0);
	CHECK_EQ(WAIT(a), -ECANCELED);
	CHECK_EQ(WAIT(b), 0);
	CHECK_EQ(WAIT(c), -EBADF);
	CHECK_EQ(DO(close, fd[0]), -EBADF);
	runtime_end();
}

TEST(operations_of_a_descriptor_closed_behind_our_back_end_when_its_number_is_accepted)
{
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	char buf[4];
	struct call *a, *b;
	int fd[2], cl;

	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	runtime_begin(2);
	cl = socket(AF_INET, SOCK_STREAM, 0);
	make_pair(fd);
	a = START(recv, fd[0], buf, 4, 0);
	b = START(recv, fd[0], buf, 4, 0);
	CHECK_EQ(connect(cl, (struct sockaddr *)&addr, len), 0);
	close(fd[0]);
	CHECK_EQ(DO(accept, ls, NULL, NULL), fd[0]);
	CHECK_EQ(WAIT(a), -EBADF);
	CHECK_EQ(WAIT(b), -EBADF);
	a = START(recv, fd[0], buf, 4, 0);
	CHECK_EQ(write(cl, "new", 3), 3);
	CHECK_EQ(WAIT(a), 3);
	runtime_end();
}

TEST(a_descriptor_closed_behind_our_back_does_not_make_the_next_one_hang)
{
	char buf[4];

	runtime_begin(2);
	for (int i = 0; i < 4; i++) {
		struct call *c;
		int fd[2];

		/* Idle when it is closed: waited for before, and not now. */
		if (i & 1)
			make_pair(fd);
		else
			CHECK_EQ(pipe(fd), 0);
		for (int round = 0; round < 3; round++) {
			c = START(read, fd[0], buf, 4);
			CHECK_EQ(DO(write, fd[1], "abc", 3), 3);
			CHECK_EQ(WAIT(c), 3);
		}
		close(fd[0]);
		close(fd[1]);
	}
	runtime_end();
}

TEST(an_operation_left_on_a_closed_descriptor_ends_when_its_number_is_used_again)
{
	char buf[4];
	struct call *a, *b;
	int fd[2], old;

	runtime_begin(2);
	make_pair(fd);
	old = fd[0];
	a = START(recv, old, buf, 4, 0);
	close(old);
	close(fd[1]);
	CHECK_EQ(pipe(fd), 0);
	CHECK_EQ(fd[0], old);
	b = START(read, fd[0], buf, 4);
	/* The old socket heard of its end, or we of the new pipe; or the kernel, if
	 * it did not get to see the old one. */
	int64_t n = WAIT(a);
	CHECK(n == -EBADF || n == 0 || n == -ENOTSOCK);
	CHECK_EQ(write(fd[1], "abc", 3), 3);
	CHECK_EQ(WAIT(b), 3);
	runtime_end();
}

TEST(descriptors_come_and_go_many_times)
{
	char buf[8];
	int fd[2];

	runtime_begin(2);
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		struct call *c;

		make_pair(fd);
		c = START(recv, fd[0], buf, 8, 0);
		if (i % 3 == 0)
			CHECK_EQ(write(fd[1], "x", 1), 1);
		if (i % 2 == 0)
			CHECK_EQ(weft_fd_close(fd[0]), 0);
		else
			CHECK_EQ(DO(close, fd[0]), 0);
		int64_t n = WAIT(c);
		CHECK(n == -ECANCELED || (i % 3 == 0 && n == 1));
		CHECK_EQ(weft_fd_close(fd[1]), 0);
	}
	runtime_end();
}

static void never(void *arg)
{
	(void)arg;
	test_fail(__FILE__, __LINE__, "called after the stop");
}

/* Everything that can be under way, on memory that is freed right after. */
static void leave_under_way(int ls, int file, char *buf, weft_op *op)
{
	static struct iovec iov;
	int fd[4][2], n = 0;

	iov.iov_base = buf;
	iov.iov_len = 10;
	for (int i = 0; i < 4; i++)
		make_pair(fd[i]);
	for (int i = 0; i < 40; i++)
		weft_op_init(&op[i], weft_color_new(), never, NULL);
	CHECK_EQ(weft_op_recv(&op[n++], fd[0][0], buf, 4096, 0), 0);
	CHECK_EQ(weft_op_recv(&op[n++], fd[0][0], buf, 4096, 0), 0);
	CHECK_EQ(weft_op_read(&op[n++], fd[1][0], buf, 4096), 0);
	CHECK_EQ(weft_op_readv(&op[n++], fd[2][0], &iov, 1, -1), 0);
	CHECK_EQ(weft_op_accept(&op[n++], ls, NULL, NULL), 0);
	CHECK_EQ(weft_op_accept(&op[n++], ls, NULL, NULL), 0);
	/* More than fits: it stays, whatever the sizes of buffers are. */
	CHECK_EQ(weft_op_send(&op[n++], fd[3][0], buf, 4 << 20, MSG_WAITALL), 0);
	CHECK_EQ(weft_op_send(&op[n++], fd[3][0], buf, 4 << 20, MSG_WAITALL), 0);
	CHECK_EQ(weft_op_sendfile(&op[n++], fd[3][0], file, 0, 1000), 0);
}

TEST(stopping_with_operations_under_way_lets_go_of_their_memory)
{
	int ls = weft_listen_on("127.0.0.1:0");
	int file = open("/proc/self/exe", O_RDONLY);

	for (int round = 0; round < 20; round++) {
		char *buf = malloc(4 << 20);
		weft_op *op = calloc(40, sizeof *op);

		memset(buf, 1, 4 << 20);
		runtime_begin(2);
		leave_under_way(ls, file, buf, op);
		runtime_stop();
		free(op);
		free(buf);
	}
}

static weft_op stop_op[3];
static _Atomic int stop_calls;

static void stop_now(void *arg)
{
	(void)arg;
	if (stop_calls++ == 0)
		weft_stop();
}

TEST(connections_accepted_but_not_given_at_the_stop_are_closed)
{
	int ls = weft_listen_on("127.0.0.1:0");
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;
	bool open_before[64];
	int cl[3];

	CHECK_EQ(getsockname(ls, (struct sockaddr *)&addr, &len), 0);
	for (int i = 0; i < 3; i++)
		cl[i] = socket(AF_INET, SOCK_STREAM, 0);
	for (int fd = 0; fd < 64; fd++)
		open_before[fd] = is_open(fd);
	runtime_begin(1);
	for (int i = 0; i < 3; i++) {
		weft_op_init(&stop_op[i], WEFT_MAIN, stop_now, NULL);
		CHECK_EQ(weft_op_accept(&stop_op[i], ls, NULL, NULL), 0);
	}
	for (int i = 0; i < 3; i++)
		CHECK_EQ(connect(cl[i], (struct sockaddr *)&addr, len), 0);
	pthread_join(sync_rt.thread, NULL);
	CHECK_EQ(stop_calls, 1);
	CHECK(stop_op[0].event.run == stop_now);
	CHECK(stop_op[1].event.run == stop_now);
	/* Only the one that was given is open, and what was open before. */
	CHECK(stop_op[0].result >= 0);
	for (int fd = 0; fd < 64; fd++)
		CHECK_EQ(is_open(fd), open_before[fd] || fd == stop_op[0].result);
}

static int close_then_stop(void *arg)
{
	static weft_op op;

	weft_op_init(&op, WEFT_MAIN, never, NULL);
	CHECK_EQ(weft_op_close(&op, *(int *)arg), 0);
	return weft_stop();
}

TEST(a_file_that_is_being_closed_at_the_stop_is_closed)
{
	weft_options opt = { .workers = 1 };

	for (int i = 0; i < 10; i++) {
		int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

		CHECK_EQ(weft_run(close_then_stop, &file, &opt), 0);
		CHECK(!is_open(file));
	}
}

/* An operation that stood behind another, on one descriptor; the other is used
 * again, for a close that waits when the runtime stops. */
static weft_op ahead, behind, kept;
static int old_pair[2], new_pair[2];
static char pair_buf[4];

static void ahead_done(void *unused)
{
	(void)unused;
	CHECK_EQ(write(old_pair[1], "b", 1), 1);
}

static void behind_done(void *unused)
{
	(void)unused;
	make_pair(new_pair);
	weft_op_init(&kept, WEFT_MAIN, never, NULL);
	CHECK_EQ(weft_op_read(&kept, new_pair[0], pair_buf, 1), 0);
	CHECK_EQ(weft_op_close(&ahead, new_pair[0]), 0);
	weft_stop();
}

static int read_twice(void *unused)
{
	(void)unused;
	make_pair(old_pair);
	weft_op_init(&ahead, WEFT_MAIN, ahead_done, NULL);
	weft_op_init(&behind, WEFT_MAIN, behind_done, NULL);
	CHECK_EQ(weft_op_read(&ahead, old_pair[0], pair_buf, 1), 0);
	CHECK_EQ(weft_op_read(&behind, old_pair[0], pair_buf, 1), 0);
	CHECK_EQ(write(old_pair[1], "a", 1), 1);
	return 0;
}

TEST(a_close_that_waits_at_the_stop_leaves_others_alone)
{
	weft_options opt = { .workers = 1 };

	CHECK_EQ(weft_run(read_twice, NULL, &opt), 0);
	CHECK_EQ(behind.result, 1);
	CHECK(!is_open(new_pair[0]));
}

TEST_MAIN
