/* pipes_peers.c - tokens over pipes: by a loop on epoll written by hand, and by kernel
 * threads. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pipes.h"

int pipes_most(void)
{
	return ((int)bench_raise_files() - 64) / 2;
}

struct pipes_pipe *pipes_open(const struct pipes_work *work, int flags)
{
	struct pipes_pipe *pipes = aligned_alloc(64, (size_t)work->pipes * sizeof *pipes);
	char token[PIPES_TOKEN] = { 0 };

	bench_raise_files();
	for (int i = 0; pipes != NULL && i < work->pipes; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC | flags) < 0) {
			bench_fail("pipe %d: %s", i, strerror(errno));
			return NULL;
		}
		pipes[i] = (struct pipes_pipe){ .fd = ends[0], .end = ends[1] };
	}
	for (int i = 0; pipes != NULL && i < work->pipes; i++) {
		/* A prime that none of the counts has: the tokens visit all. */
		pipes[i].next = pipes[(i + 7919) % work->pipes].end;
		if (i % 4 == 0 && write(pipes[i].end, token, sizeof token) < 0)
			return NULL;
	}
	return pipes;
}

static uint64_t passed_by_all(const struct pipes_pipe *pipes, int count)
{
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += __atomic_load_n(&pipes[i].passed, __ATOMIC_RELAXED);
	return sum;
}

void pipes_measure(const struct pipes_pipe *pipes, int count, double *values)
{
	static uint64_t passed, start;
	static double cpu;
	uint64_t now = bench_now(), sum = passed_by_all(pipes, count);
	double cpu_now = bench_cpu_ns(getpid());

	if (values != NULL) {
		values[0] = (double)(sum - passed) / (double)(now - start) * 1e6;
		values[1] = (cpu_now - cpu) / (double)(sum - passed);
	}
	passed = sum;
	start = now;
	cpu = cpu_now;
}

double pipes_ns(void)
{
	return bench_seconds(0.3) * 1e9;
}

/* Epoll */

static int pass_one(struct pipes_pipe *p)
{
	char token[PIPES_TOKEN];

	if (read(p->fd, token, sizeof token) != PIPES_TOKEN)
		return errno == EAGAIN ? 0 : bench_fail("read: %s", strerror(errno));
	if (write(p->next, token, sizeof token) != PIPES_TOKEN)
		return bench_fail("write: %s", strerror(errno));
	p->passed++;
	return 0;
}

/* Edge-triggered: all that is there must be taken, or nobody tells of it again. A
 * read that gets less than it asked for has taken all. */
static int pass_all(struct pipes_pipe *p)
{
	char tokens[64 * PIPES_TOKEN];
	ssize_t n;

	do {
		n = read(p->fd, tokens, sizeof tokens);
		if (n < 0)
			return errno == EAGAIN ? 0 : bench_fail("read: %s", strerror(errno));
		for (ssize_t i = 0; i < n; i += PIPES_TOKEN, p->passed++)
			if (write(p->next, tokens + i, PIPES_TOKEN) != PIPES_TOKEN)
				return bench_fail("write: %s", strerror(errno));
	} while (n == (ssize_t)sizeof tokens);
	return 0;
}

static int turn(int epoll, int (*pass)(struct pipes_pipe *p), double ns)
{
	struct epoll_event events[256];
	uint64_t start = bench_now();

	while ((double)(bench_now() - start) < ns) {
		int n = epoll_wait(epoll, events, BENCH_COUNT(events), -1);

		for (int i = 0; i < n; i++) {
			int err = pass(events[i].data.ptr);

			if (err < 0)
				return err;
		}
	}
	return 0;
}

int pipes_epoll(const void *arg, double *values)
{
	const struct pipes_work *work = arg;
	struct pipes_pipe *pipes = pipes_open(work, O_NONBLOCK);
	int (*pass)(struct pipes_pipe * p) = work->edge ? pass_all : pass_one;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int err;

	if (pipes == NULL || epoll < 0)
		return -EMFILE;
	for (int i = 0; i < work->pipes; i++) {
		struct epoll_event ev = { .events = EPOLLIN | (work->edge ? EPOLLET : 0u),
					  .data.ptr = &pipes[i] };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[i].fd, &ev) < 0)
			return bench_fail("epoll_ctl: %s", strerror(errno));
	}
	err = turn(epoll, pass, PIPES_WARM_NS);
	pipes_measure(pipes, work->pipes, NULL);
	if (err == 0)
		err = turn(epoll, pass, pipes_ns());
	pipes_measure(pipes, work->pipes, values);
	return err;
}

/* NPTL */

static void *pipe_thread(void *arg)
{
	struct pipes_pipe *p = arg;
	char token[PIPES_TOKEN];

	while (read(p->fd, token, sizeof token) == PIPES_TOKEN &&
	       write(p->next, token, sizeof token) == PIPES_TOKEN)
		__atomic_store_n(&p->passed, p->passed + 1, __ATOMIC_RELAXED);
	return NULL;
}

int pipes_nptl(const void *arg, double *values)
{
	const struct pipes_work *work = arg;
	struct pipes_pipe *pipes = pipes_open(work, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (pipes == NULL)
		return -EMFILE;
	if (work->cores == 1)
		bench_pin(0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 * 1024);
	for (int i = 0; i < work->pipes; i++)
		if (pthread_create(&thread, &attr, pipe_thread, &pipes[i]) != 0)
			return bench_fail("no thread %d", i);
	usleep((useconds_t)(PIPES_WARM_NS / 1e3));
	pipes_measure(pipes, work->pipes, NULL);
	usleep((useconds_t)(pipes_ns() / 1e3));
	pipes_measure(pipes, work->pipes, values);
	return 0;
}
