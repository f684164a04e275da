/* adopt.c - descriptors that Weft may trust, and how it learns to wait for them. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <sys/ioctl.h>

#include "io/fd.h"

enum { ROUNDS = 40, SIZE = 12 };

struct ends {
	int in, out;
};

/* Sends back each message of a fixed size. */
static int echo(void *arg)
{
	struct ends *e = arg;
	char buf[SIZE];

	while (weft_read(e->in, buf, SIZE) == SIZE)
		CHECK_EQ(weft_write(e->out, buf, SIZE), SIZE);
	return 0;
}

static void expect(int fd, char what)
{
	char buf[SIZE];

	CHECK_EQ(weft_read(fd, buf, SIZE), SIZE);
	CHECK_EQ(buf[0], what);
	CHECK_EQ(buf[SIZE - 1], what);
}

static void put(int fd, char what)
{
	char buf[SIZE];

	memset(buf, what, SIZE);
	CHECK_EQ(weft_write(fd, buf, SIZE), SIZE);
}

/* Messages to and fro, so often that the reads of both have learnt. */
static void play(const struct ends *here)
{
	for (int i = 0; i < ROUNDS; i++) {
		put(here->out, (char)i);
		expect(here->in, (char)i);
	}
}

static bool by_level(int fd)
{
	struct wf_fd *f = wf_fd_peek(fd);
	bool level;

	wf_lock_take(&f->lock);
	level = f->level;
	wf_lock_give(&f->lock);
	return level;
}

static bool on_epoll(void)
{
	weft_stats_all all;

	CHECK(weft_stats(&all, NULL, 0) >= 0);
	return strcmp(all.io, "epoll") == 0;
}

/* A pair of pipes, or of sockets that were adopted, with an echo at the other end. */
static struct ends start_echo(weft_color color, struct ends *there, bool sockets)
{
	int a[2], b[2];

	if (sockets) {
		socket_pair(a);
		CHECK_EQ(weft_fd_adopt(a[0]), 0);
		CHECK_EQ(weft_fd_adopt(a[1]), 0);
		*there = (struct ends){ a[1], a[1] };
		CHECK_EQ(weft_go_on(color, echo, there), 0);
		return (struct ends){ a[0], a[0] };
	}
	CHECK_EQ(weft_pipe(a), 0);
	CHECK_EQ(weft_pipe(b), 0);
	*there = (struct ends){ a[0], b[1] };
	CHECK_EQ(weft_go_on(color, echo, there), 0);
	return (struct ends){ b[0], a[1] };
}

/* The echo sees the end, and ends too. */
static void end_echo(const struct ends *here)
{
	CHECK_EQ(weft_close(here->out), 0);
	if (here->in != here->out)
		CHECK_EQ(weft_close(here->in), 0);
}

static int bytes_in(int fd)
{
	int bytes = -1;

	CHECK_EQ(ioctl(fd, FIONREAD, &bytes), 0);
	return bytes;
}

static int read_one(void *arg)
{
	expect(((int *)arg)[0], 'x');
	return 0;
}

/* It has not waited meanwhile, so nobody asked the kernel. */
THREAD_TEST(what_is_written_to_a_pipe_is_read_at_once_for_who_waits, 1)
{
	int fd[2];

	CHECK_EQ(weft_pipe(fd), 0);
	for (int i = 0; i < ROUNDS && on_epoll() && fd[1] == fd[0] + 1; i++) {
		weft_thread *reader;

		CHECK_EQ(weft_thread_start(&reader, NULL, read_one, fd), 0);
		CHECK_EQ(weft_yield(), 0);
		put(fd[1], 'x');
		CHECK_EQ(bytes_in(fd[0]), 0);
		put(fd[1], 'y');
		CHECK_EQ(bytes_in(fd[0]), SIZE);
		CHECK_EQ(weft_join(reader, NULL), 0);
		expect(fd[0], 'y');
	}
	CHECK_EQ(weft_close(fd[0]), 0);
	return weft_close(fd[1]);
}

/* A number that was the other end may be that of another pipe by now. */
THREAD_TEST(a_pipe_whose_other_end_was_moved_still_works, 1)
{
	int a[2], b[2], moved;
	struct ends there;

	CHECK_EQ(weft_pipe(a), 0);
	moved = dup(a[0]);
	CHECK(moved >= 0);
	CHECK_EQ(weft_fd_adopt(moved), 0);
	CHECK_EQ(weft_close(a[0]), 0);
	CHECK_EQ(weft_pipe(b), 0);
	there = (struct ends){ moved, b[1] };
	CHECK_EQ(weft_go(echo, &there), 0);
	play(&(struct ends){ b[0], a[1] });
	CHECK_EQ(weft_close(a[1]), 0);
	return weft_close(b[0]);
}

THREAD_TEST(a_pipe_of_weft_blocks_others_and_is_closed_on_exec, 1)
{
	int fd[2];

	CHECK_EQ(weft_pipe(fd), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(fcntl(fd[i], F_GETFL) & O_NONBLOCK, 0);
		CHECK(fcntl(fd[i], F_GETFD) & FD_CLOEXEC);
	}
	put(fd[1], 'x');
	expect(fd[0], 'x');
	CHECK_EQ(weft_close(fd[1]), 0);
	CHECK_EQ(weft_read(fd[0], fd, 1), 0);
	CHECK_EQ(weft_close(fd[0]), 0);
	return 0;
}

static void messages(struct ends *there, weft_color color, bool sockets)
{
	struct ends here = start_echo(color, there, sockets);

	play(&here);
	/* Two at once: the second needs no further word of the kernel. */
	put(here.out, 'a');
	put(here.out, 'b');
	expect(here.in, 'a');
	expect(here.in, 'b');
	play(&here);
	end_echo(&here);
}

THREAD_TEST(messages_of_a_fixed_size_are_all_read, 1)
{
	static struct ends pipes, sockets;

	messages(&pipes, WEFT_MAIN, false);
	messages(&sockets, WEFT_MAIN, true);
	return 0;
}

THREAD_TEST(messages_between_workers_are_all_read, 2)
{
	static struct ends pipes, sockets;

	messages(&pipes, weft_color_new(), false);
	messages(&sockets, weft_color_new(), true);
	return 0;
}

THREAD_TEST(what_nobody_waits_for_is_not_told_again_and_again, 1)
{
	static struct ends there;
	struct ends here = start_echo(WEFT_MAIN, &there, false);

	play(&here);
	CHECK_EQ(by_level(here.in), on_epoll());
	put(here.out, 'x');
	while (by_level(here.in))
		weft_yield();
	expect(here.in, 'x');
	play(&here);
	end_echo(&here);
	return 0;
}

THREAD_TEST(a_read_that_has_learnt_can_time_out_and_loses_nothing, 1)
{
	static struct ends there;
	struct ends here = start_echo(WEFT_MAIN, &there, false);
	char buf[SIZE];

	play(&here);
	CHECK_EQ(weft_read_until(here.in, buf, SIZE, weft_now() + WEFT_MS), -ETIMEDOUT);
	put(here.out, 'x');
	expect(here.in, 'x');
	play(&here);
	CHECK_EQ(weft_close(there.out), 0);
	CHECK_EQ(weft_read(here.in, buf, SIZE), 0);
	end_echo(&here);
	return 0;
}

THREAD_TEST(a_descriptor_that_has_learnt_can_be_polled, 1)
{
	static struct ends there;
	struct ends here = start_echo(WEFT_MAIN, &there, true);
	struct pollfd p = { .fd = here.in, .events = POLLIN };

	play(&here);
	put(here.out, 'x');
	CHECK_EQ(weft_poll(&p, 1), 1);
	CHECK(p.revents & POLLIN);
	expect(here.in, 'x');
	end_echo(&here);
	return 0;
}

static int drain(void *arg)
{
	static char buf[65536];
	struct ends *e = arg;
	ssize_t n;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(weft_read(e->in, buf, SIZE), SIZE);
		CHECK_EQ(weft_write(e->out, buf, SIZE), SIZE);
	}
	while ((n = weft_read(e->in, buf, sizeof buf)) > 0)
		;
	CHECK_EQ(n, 0);
	return 0;
}

THREAD_TEST(a_write_waits_though_reading_has_learnt, 1)
{
	static char big[1 << 20];
	static struct ends there;
	struct ends here;
	int fd[2];

	socket_pair(fd);
	CHECK_EQ(weft_fd_adopt(fd[0]), 0);
	here = (struct ends){ fd[0], fd[0] };
	there = (struct ends){ fd[1], fd[1] };
	CHECK_EQ(weft_go(drain, &there), 0);
	play(&here);
	CHECK_EQ(by_level(fd[0]), on_epoll());
	CHECK_EQ(WAITING(weft_write_all(fd[0], big, sizeof big)), (ssize_t)sizeof big);
	CHECK(!by_level(fd[0]));
	CHECK_EQ(weft_close(fd[0]), 0);
	return 0;
}

THREAD_TEST_WITHOUT_STAND_INS(a_number_that_came_back_is_adopted_anew, 1)
{
	int old[2], fd[2];
	char byte = 0;

	CHECK_EQ(pipe2(old, O_CLOEXEC), 0);
	CHECK_EQ(weft_fd_adopt(old[0]), 0);
	CHECK_EQ(weft_fd_adopt(old[1]), 0);
	CHECK_EQ(weft_write(old[1], "x", 1), 1);
	CHECK_EQ(weft_read(old[0], &byte, 1), 1);
	close(old[0]); /* as nobody should */
	close(old[1]);
	socket_pair(fd);
	CHECK_EQ(fd[0], old[0]);
	CHECK_EQ(weft_fd_adopt(fd[0]), 0);
	CHECK_EQ(weft_fd_adopt(fd[1]), 0);
	CHECK_EQ(weft_send(fd[1], "y", 1, 0), 1);
	CHECK_EQ(weft_read(fd[0], &byte, 1), 1);
	CHECK_EQ(byte, 'y');
	return 0;
}

TEST(only_descriptors_of_a_run_can_be_adopted)
{
	int fd[2];

	CHECK_EQ(weft_fd_adopt(0), -ESHUTDOWN);
	CHECK_EQ(weft_pipe(fd), -ESHUTDOWN);
}

THREAD_TEST(what_is_no_descriptor_is_not_adopted, 1)
{
	CHECK_EQ(weft_fd_adopt(-1), -EBADF);
	CHECK_EQ(weft_fd_adopt(1000), -EBADF);
	return 0;
}

TEST_MAIN
