/* watch.c - readiness callbacks: level-triggered, one at a time, exact ends. */
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "io/sync.h"

struct watcher {
	int fd;
	int chunk; /* bytes to read in one call; 0: none */
	_Atomic int calls, inside, got;
	int off_after; /* calls after which it ends itself */
	int off_rc;
	sem_t called;
};

static void on_readable(void *arg)
{
	struct watcher *w = arg;
	char buf[4096];

	CHECK_EQ(w->inside++, 0);
	if (w->chunk > 0) {
		ssize_t n = read(w->fd, buf, (size_t)w->chunk);

		CHECK(n >= 0);
		w->got += (int)n;
	}
	if (++w->calls == w->off_after)
		w->off_rc = weft_off_fd(w->fd, WEFT_READ);
	w->inside--;
	sem_post(&w->called);
}

static void watcher_init(struct watcher *w, int fd, int chunk, int off_after)
{
	memset(w, 0, sizeof *w);
	w->fd = fd;
	w->chunk = chunk;
	w->off_after = off_after;
	w->off_rc = 1;
	sem_init(&w->called, 0, 0);
}

static void wait_calls(struct watcher *w, int n)
{
	for (int i = 0; i < n; i++)
		sem_wait(&w->called);
}

TEST(a_watch_calls_as_long_as_there_is_something_to_read)
{
	struct watcher w;
	int fd[2];

	runtime_begin(2);
	for (int kind = 0; kind < 3; kind++) {
		if (kind == 0)
			make_pair(fd);
		else if (kind == 1)
			make_tcp(fd);
		else
			CHECK_EQ(pipe(fd), 0);
		watcher_init(&w, fd[0], 1, 30);
		CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, weft_color_new(), on_readable, &w), 0);
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(write(fd[1], "0123456789", 10), 10);
			wait_calls(&w, 10);
		}
		CHECK_EQ(w.got, 30);
		CHECK_EQ(w.off_rc, 0);
		CHECK_EQ(weft_off_fd(fd[0], WEFT_READ), -ENOENT);
		CHECK_EQ(weft_fd_close(fd[0]), 0);
		CHECK_EQ(weft_fd_close(fd[1]), 0);
	}
	runtime_end();
}

TEST(a_watch_that_reads_nothing_is_called_again)
{
	struct watcher w;
	int fd = eventfd(1, EFD_NONBLOCK);

	runtime_begin(2);
	watcher_init(&w, fd, 0, 100);
	CHECK_EQ(weft_on_fd(fd, WEFT_READ, WEFT_MAIN, on_readable, &w), 0);
	wait_calls(&w, 100);
	runtime_end();
	CHECK_EQ(w.calls, 100);
}

TEST(the_end_of_a_stream_counts_as_readable)
{
	struct watcher w;
	int fd[2];

	make_pair(fd);
	runtime_begin(1);
	watcher_init(&w, fd[0], 10, 3);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, WEFT_MAIN, on_readable, &w), 0);
	close(fd[1]);
	wait_calls(&w, 3);
	CHECK_EQ(w.got, 0);
	runtime_end();
}

static struct {
	int fd, calls;
	sem_t done;
	int64_t put;
} writer;

static void on_writable(void *arg)
{
	static char buf[100000];
	ssize_t n = send(writer.fd, buf, sizeof buf, MSG_DONTWAIT);

	(void)arg;
	CHECK(n > 0);
	writer.put += n;
	writer.calls++;
	if (writer.put > 5000000) {
		CHECK_EQ(weft_off_fd(writer.fd, WEFT_WRITE), 0);
		sem_post(&writer.done);
	}
}

TEST(a_write_watch_calls_when_there_is_room)
{
	static char in[100000];
	struct watcher w;
	int fd[2];
	int64_t got = 0;

	make_tcp(fd);
	runtime_begin(2);
	writer.fd = fd[0];
	sem_init(&writer.done, 0, 0);
	watcher_init(&w, fd[0], 10, 1);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 7, on_readable, &w), 0);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_WRITE, 7, on_writable, NULL), 0);
	while (got < 5000000)
		got += read(fd[1], in, sizeof in);
	sem_wait(&writer.done);
	CHECK_EQ(w.calls, 0);
	CHECK_EQ(write(fd[1], "x", 1), 1);
	wait_calls(&w, 1);
	runtime_end();
}

TEST(bad_watches_are_refused)
{
	struct watcher w;
	int fd[2], file = open("/proc/self/exe", O_RDONLY), null = open("/dev/null", O_RDWR);

	CHECK_EQ(weft_on_fd(0, WEFT_READ, 0, on_readable, &w), -ESHUTDOWN);
	CHECK_EQ(weft_off_fd(0, WEFT_READ), -ESHUTDOWN);
	make_pair(fd);
	runtime_begin(1);
	watcher_init(&w, fd[0], 1, 1);
	for (int what = -1; what < 5; what++) {
		if (what != WEFT_READ && what != WEFT_WRITE)
			CHECK_EQ(weft_on_fd(fd[0], what, 0, on_readable, &w), -EINVAL);
	}
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 0, NULL, &w), -EINVAL);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, ~(weft_color)0, on_readable, &w), -EINVAL);
	CHECK_EQ(weft_on_fd(-1, WEFT_READ, 0, on_readable, &w), -EBADF);
	CHECK_EQ(weft_on_fd(12345, WEFT_READ, 0, on_readable, &w), -EBADF);
	CHECK_EQ(weft_on_fd(file, WEFT_READ, 0, on_readable, &w), -EPERM);
	CHECK_EQ(weft_on_fd(null, WEFT_READ, 0, on_readable, &w), -EPERM);
	CHECK_EQ(weft_off_fd(fd[0], WEFT_READ), -ENOENT);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 0, on_readable, &w), 0);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 0, on_readable, &w), -EEXIST);
	CHECK_EQ(weft_off_fd(fd[0], WEFT_READ), 0);
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 0, on_readable, &w), 0);
	CHECK_EQ(weft_off_fd(fd[0], WEFT_READ), 0);
	runtime_end();
	CHECK_EQ(w.calls, 0);
}

TEST(after_the_end_of_a_watch_another_may_begin)
{
	struct watcher w;
	int fd[2];

	make_pair(fd);
	CHECK_EQ(write(fd[1], "x", 1), 1);
	runtime_begin(2);
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		int rc;

		watcher_init(&w, fd[0], 0, 0);
		CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 9, on_readable, &w), 0);
		if (i % 3 > 0)
			wait_calls(&w, 1);
		rc = weft_off_fd(fd[0], WEFT_READ);
		CHECK(rc == 0 || rc == -EINPROGRESS);
		/* That call, if any, has been when this one returns: same color. */
		struct call *c = call_new();
		c->op.event.color = 9;
		CHECK_EQ(weft_op_recv(&c->op, fd[1], &rc, 1, MSG_DONTWAIT), 0);
		CHECK_EQ(WAIT(c), -EAGAIN);
		int calls = w.calls;
		CHECK_EQ(weft_fd_close(dup(fd[0])), 0);
		CHECK_EQ(w.calls, calls);
	}
	runtime_end();
}

/* Ends its own watch while a call of it may be queued already. */
static struct {
	int fd, calls, calls_at_end;
	bool ended;
	sem_t done;
} muter;

static void on_muted(void *arg)
{
	(void)arg;
	CHECK(!muter.ended);
	muter.calls++;
}

static void mute(void *arg)
{
	(void)arg;
	CHECK_EQ(weft_off_fd(muter.fd, WEFT_READ), 0);
	muter.ended = true;
	sem_post(&muter.done);
}

TEST(no_call_follows_an_end_in_the_own_color)
{
	int fd[2];

	make_pair(fd);
	CHECK_EQ(write(fd[1], "x", 1), 1);
	muter.fd = fd[0];
	sem_init(&muter.done, 0, 0);
	runtime_begin(2);
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		muter.ended = false;
		CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 11, on_muted, NULL), 0);
		CHECK_EQ(weft_post(11, mute, NULL), 0);
		sem_wait(&muter.done);
	}
	runtime_end();
}

TEST(closing_ends_the_watches)
{
	struct watcher w;
	int fd[2];

	runtime_begin(2);
	for (int i = 0; i < 100; i++) {
		make_pair(fd);
		watcher_init(&w, fd[0], 0, 0);
		CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 3, on_readable, &w), 0);
		if (i & 1) {
			CHECK_EQ(write(fd[1], "x", 1), 1);
			wait_calls(&w, 1);
		}
		if (i & 2)
			CHECK_EQ(weft_fd_close(fd[0]), 0);
		else
			CHECK_EQ(DO(close, fd[0]), 0);
		CHECK_EQ(weft_off_fd(fd[0], WEFT_READ), -ENOENT);
		/* The color has been quiet when an event posted now has run. One who closes with
		 * something unread, what was sent here too, resets who is just sending. */
		for (int64_t n = 1; n > 0;) {
			struct call *c = call_new();

			c->op.event.color = 3;
			CHECK_EQ(weft_op_send(&c->op, fd[1], "x", 1, 0), 0);
			n = WAIT(c);
			CHECK(n == -EPIPE || (i & 3 && n == -ECONNRESET) || (i & 2 && n == 1));
		}
		int calls = w.calls;
		CHECK_EQ(DO(close, fd[1]), 0);
		CHECK_EQ(w.calls, calls);
	}
	runtime_end();
}

TEST(a_watch_of_a_descriptor_closed_behind_our_back_ends_with_a_report)
{
	struct watcher w;
	int fd[2];

	expect_reports();
	make_pair(fd);
	runtime_begin(1);
	watcher_init(&w, fd[0], 1, 0);
	CHECK_EQ(write(fd[1], "x", 1), 1);
	w.chunk = 0;
	CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 3, on_readable, &w), 0);
	wait_calls(&w, 1);
	close(fd[0]);
	while (weft_off_fd(fd[0], WEFT_READ) != -ENOENT && sync_reports == 0)
		sched_yield();
	runtime_end();
}

TEST(thousands_of_watches_at_a_time)
{
	enum { N = 2000 };
	static struct watcher w[N];
	static int fd[N][2];

	runtime_begin(2);
	for (int i = 0; i < N; i++) {
		make_pair(fd[i]);
		watcher_init(&w[i], fd[i][0], 1, 2);
		CHECK_EQ(weft_on_fd(fd[i][0], WEFT_READ, (weft_color)i, on_readable, &w[i]), 0);
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++)
			CHECK_EQ(write(fd[i][1], "x", 1), 1);
		for (int i = 0; i < N; i++)
			wait_calls(&w[i], 1);
	}
	runtime_end();
	for (int i = 0; i < N; i++)
		CHECK_EQ(w[i].calls, 2);
}

TEST(stopping_with_watches_in_force_frees_them)
{
	struct watcher w;
	int fd[2];

	for (int i = 0; i < 30; i++) {
		make_pair(fd);
		CHECK_EQ(write(fd[1], "x", 1), 1);
		watcher_init(&w, fd[0], 0, 0);
		runtime_begin(2);
		CHECK_EQ(weft_on_fd(fd[0], WEFT_READ, 5, on_readable, &w), 0);
		CHECK_EQ(weft_on_fd(fd[1], WEFT_READ, 5, on_readable, &w), 0);
		if (i & 1)
			wait_calls(&w, 3);
		runtime_stop();
		close(fd[0]);
		close(fd[1]);
	}
}

TEST_MAIN
