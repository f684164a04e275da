/* blocking.h - what tests of blocking calls share: a run, its threads, descriptors. */
#ifndef TESTS_THREADS_BLOCKING_H
#define TESTS_THREADS_BLOCKING_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/weft.h>

#include "harness/test.h"
#include "threads/thread.h"

/* Runs `fn` as the first thread, on so many workers. */
static inline void run_on(int workers, weft_thread_fn *fn, void *arg)
{
	weft_options opt = { .workers = workers };

	CHECK_EQ(weft_run(fn, arg, &opt), 0);
}

/* The same, and no worker is ever found stuck. */
static inline void run_without_stand_ins(int workers, weft_thread_fn *fn, void *arg)
{
	weft_options opt = { .workers = workers, .stall_ms = 3600000 };

	CHECK_EQ(weft_run(fn, arg, &opt), 0);
}

/* A test whose body is the first thread of a run. */
#define THREAD_TEST(sentence, workers) THREAD_TEST_BY(run_on, sentence, workers)

/* For those who count descriptors, or know their numbers: a stand-in has some of its own, and on a
 * slow machine one may come. */
#define THREAD_TEST_WITHOUT_STAND_INS(sentence, workers) \
	THREAD_TEST_BY(run_without_stand_ins, sentence, workers)

#define THREAD_TEST_BY(run, sentence, workers) \
	static int body_##sentence(void *unused); \
	TEST(sentence) \
	{ \
		run(workers, body_##sentence, NULL); \
	} \
	static int body_##sentence(void *unused __attribute__((unused)))

/* How often the running thread has stopped to wait. */
static inline uint32_t waits(void)
{
	return atomic_load(&wf_thread_self()->parkings);
}

/* What a call returns that must not wait, or that must. */
#define AT_ONCE(call) \
	({ \
		uint32_t before_ = waits(); \
		__typeof__(call) result_ = (call); \
		CHECK_EQ(waits(), before_); \
		result_; \
	})
#define WAITING(call) \
	({ \
		uint32_t before_ = waits(); \
		__typeof__(call) result_ = (call); \
		CHECK(waits() != before_); \
		result_; \
	})

static inline void socket_pair(int fd[2])
{
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
}

static inline void make_pipe(int fd[2])
{
	CHECK_EQ(pipe2(fd, O_CLOEXEC), 0);
}

static inline struct sockaddr_in address_of(int fd)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof addr;

	CHECK_EQ(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	return addr;
}

static inline int listener(void)
{
	int fd = weft_listen("127.0.0.1:0", NULL);

	CHECK(fd >= 0);
	return fd;
}

/* A connection that waits to be accepted. */
static inline int knock(int ls)
{
	struct sockaddr_in addr = address_of(ls);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_EQ(connect(fd, (struct sockaddr *)&addr, sizeof addr), 0);
	return fd;
}

static inline void tcp_pair(int fd[2])
{
	int ls = listener();

	fd[0] = knock(ls);
	fd[1] = accept4(ls, NULL, NULL, SOCK_CLOEXEC);
	CHECK(fd[1] >= 0);
	close(ls);
}

/* A file of its own, `size` bytes long, that nobody else sees. */
static inline int temp_file(size_t size)
{
	char path[] = "/tmp/weft-test-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	CHECK(fd >= 0);
	unlink(path);
	for (size_t i = 0; i < size; i++)
		CHECK_EQ(pwrite(fd, &(char){ (char)('a' + i % 26) }, 1, (off_t)i), 1);
	return fd;
}

/* Fills a stream until it takes no more. */
static inline size_t fill(int fd)
{
	static char block[65536];
	size_t sum = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while ((n = write(fd, block, sizeof block)) > 0 || (n = write(fd, block, 1)) > 0)
		sum += (size_t)n;
	CHECK_EQ(errno, EAGAIN);
	return sum;
}

#endif
