/* poll.c - waiting for several descriptors: ready at once, later, never, closed. */
/* backends: both */
#include "threads/blocking.h"

#include <poll.h>
#include <sys/resource.h>

enum { MANY = 70 };

static int write_one(void *arg)
{
	return write((int)(intptr_t)arg, "x", 1) != 1;
}

static int close_one(void *arg)
{
	return weft_close((int)(intptr_t)arg);
}

THREAD_TEST(what_is_ready_is_told_at_once, 1)
{
	int fd[2], file = temp_file(1);
	struct pollfd p[3] = { { .fd = -1, .events = POLLIN } };

	make_pipe(fd);
	p[1] = (struct pollfd){ .fd = fd[1], .events = POLLOUT };
	p[2] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	CHECK_EQ(AT_ONCE(weft_poll(p, 3)), 1);
	CHECK_EQ(p[0].revents, 0);
	CHECK_EQ(p[1].revents, POLLOUT);
	CHECK_EQ(p[2].revents, 0);
	p[0] = (struct pollfd){ .fd = file, .events = POLLIN | POLLOUT };
	CHECK_EQ(AT_ONCE(weft_poll(p, 1)), 1);
	CHECK_EQ(p[0].revents, POLLIN | POLLOUT);
	weft_close(fd[0]);
	weft_close(fd[1]);
	weft_close(file);
	CHECK_EQ(AT_ONCE(weft_poll(p, 1)), 1);
	CHECK_EQ(p[0].revents, POLLNVAL);
	return 0;
}

static void wait_for_each(int count)
{
	struct pollfd p[MANY];
	int fd[MANY][2];
	char byte;

	for (int i = 0; i < count; i++) {
		(i % 2 ? make_pipe : tcp_pair)(fd[i]);
		p[i] = (struct pollfd){ .fd = fd[i][0], .events = POLLIN };
	}
	for (int i = 0; i < count; i++) {
		CHECK_EQ(weft_go(write_one, (void *)(intptr_t)fd[i][1]), 0);
		CHECK_EQ(WAITING(weft_poll(p, (size_t)count)), 1);
		for (int j = 0; j < count; j++)
			CHECK_EQ(p[j].revents, i == j ? POLLIN : 0);
		CHECK_EQ(AT_ONCE(weft_poll(p, (size_t)count)), 1);
		CHECK_EQ(weft_read(fd[i][0], &byte, 1), 1);
	}
	CHECK_EQ(weft_poll_until(p, (size_t)count, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(AT_ONCE(weft_poll_until(p, (size_t)count, 0)), -ETIMEDOUT);
	for (int i = 0; i < count; i++) {
		weft_close(fd[i][0]);
		weft_close(fd[i][1]);
	}
}

THREAD_TEST(one_descriptor_is_waited_for, 1)
{
	wait_for_each(1);
	return 0;
}

THREAD_TEST(many_descriptors_are_waited_for, 2)
{
	wait_for_each(MANY);
	return 0;
}

THREAD_TEST(a_poll_stands_in_nobodys_way, 1)
{
	struct pollfd p;
	char byte;
	int fd[2];

	tcp_pair(fd);
	p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(weft_go(write_one, (void *)(intptr_t)fd[1]), 0);
		CHECK_EQ(weft_read(fd[0], &byte, 1), 1);
		CHECK_EQ(weft_go(write_one, (void *)(intptr_t)fd[1]), 0);
		CHECK_EQ(weft_poll(&p, 1), 1);
		CHECK_EQ(weft_read(fd[0], &byte, 1), 1);
		CHECK_EQ(weft_poll_until(&p, 1, weft_now() + WEFT_MS / 10), -ETIMEDOUT);
	}
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

THREAD_TEST(one_descriptor_may_be_there_twice, 1)
{
	struct pollfd p[2];
	int fd[2];

	socket_pair(fd);
	fill(fd[0]);
	p[0] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fd[0], .events = POLLOUT };
	CHECK_EQ(weft_go(write_one, (void *)(intptr_t)fd[1]), 0);
	CHECK_EQ(weft_poll(p, 2), 1);
	CHECK_EQ(p[0].revents, POLLIN);
	CHECK_EQ(p[1].revents, 0);
	weft_close(fd[0]);
	weft_close(fd[1]);
	return 0;
}

THREAD_TEST(the_end_of_the_other_side_is_told, 1)
{
	struct pollfd p;
	int fd[2];

	make_pipe(fd);
	p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	CHECK_EQ(weft_go(close_one, (void *)(intptr_t)fd[1]), 0);
	CHECK_EQ(weft_poll(&p, 1), 1);
	CHECK_EQ(p.revents, POLLHUP);
	weft_close(fd[0]);
	return 0;
}

THREAD_TEST(a_descriptor_that_is_closed_meanwhile_is_told, 1)
{
	struct pollfd p[2];
	int fd[2];

	socket_pair(fd);
	p[0] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fd[1], .events = POLLIN };
	CHECK_EQ(weft_go(close_one, (void *)(intptr_t)fd[1]), 0);
	CHECK(weft_poll(p, 2) > 0);
	CHECK(p[1].revents == POLLNVAL || p[0].revents & POLLHUP);
	weft_close(fd[0]);
	return 0;
}

THREAD_TEST(no_descriptor_at_all_is_a_sleep, 1)
{
	struct pollfd none = { .fd = -1 };

	CHECK_EQ(weft_poll_until(NULL, 0, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_poll_until(&none, 1, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_poll_until(NULL, 2, 0), -EINVAL);
	return 0;
}

/* Two threads wait for the same, from two colors; one byte wakes both, and one of
 * them gets it. */
struct race {
	int fd, rounds;
	_Atomic int got, stopped;
};

static int poll_and_read(void *arg)
{
	struct race *r = arg;
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	char byte;

	while (weft_poll(&p, 1) == 1 && !(p.revents & POLLHUP)) {
		if (weft_recv(r->fd, &byte, 1, MSG_DONTWAIT) == 1)
			r->got++;
	}
	r->stopped++;
	return 0;
}

THREAD_TEST(several_threads_wait_for_one_descriptor, 2)
{
	struct race r = { .rounds = TEST_SIZE(2000) };
	int fd[2];

	socket_pair(fd);
	r.fd = fd[0];
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), poll_and_read, &r), 0);
	for (int i = 0; i < r.rounds; i++) {
		CHECK_EQ(weft_write(fd[1], "x", 1), 1);
		while (r.got <= i)
			weft_yield();
	}
	weft_close(fd[1]);
	while (r.stopped < 3)
		weft_yield();
	CHECK_EQ(r.got, r.rounds);
	weft_close(fd[0]);
	return 0;
}

THREAD_TEST(what_poll_says_is_told, 1)
{
	struct rlimit few = { 8, 8 };
	struct pollfd fds[16];

	for (int i = 0; i < 16; i++)
		fds[i] = (struct pollfd){ .fd = -1 };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	CHECK_EQ(weft_poll(fds, 16), -EINVAL);
	return 0;
}

TEST_MAIN
