/* quote_peers.c - quote servers without Weft: epoll by hand, a kernel thread for each
 * client, and Go. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"
#include "quote.h"
#include "threads.h"

static int accept_client(int listener, int flags)
{
	int fd = accept4(listener, NULL, NULL, flags | SOCK_CLOEXEC);
	int one = 1;

	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

/* epoll */

struct client {
	int fd;
	uint64_t due; /* its next quote */
	size_t sent;  /* of the quote under way */
	char quote[QUOTE_SIZE];
	struct client *next;
};

/* All intervals are equal, so whoever was served first is the first to be served again:
 * a queue is all that it takes. (While the first clients have had their second quote and
 * the last have not, some wait longer.) */
static struct {
	int epoll;
	struct client *first, **last;
} loop;

static void queue(struct client *c)
{
	c->next = NULL;
	*loop.last = c;
	loop.last = &c->next;
}

/* Sends the rest of the quote. A client without room is watched until it has some. */
static void send_rest(struct client *c, bool watched)
{
	struct epoll_event ev = { .events = EPOLLOUT, .data.ptr = c };
	ssize_t n = send(c->fd, c->quote + c->sent, QUOTE_SIZE - c->sent, MSG_NOSIGNAL);

	c->sent += n > 0 ? (size_t)n : 0;
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		close(c->fd);
		free(c);
		return;
	}
	if (c->sent < QUOTE_SIZE) {
		if (!watched)
			epoll_ctl(loop.epoll, EPOLL_CTL_ADD, c->fd, &ev);
		return;
	}
	if (watched)
		epoll_ctl(loop.epoll, EPOLL_CTL_DEL, c->fd, NULL);
	queue(c);
}

static void send_quote(struct client *c)
{
	quote_make(c->quote);
	c->sent = 0;
	send_rest(c, false);
}

static void send_due(void)
{
	uint64_t now = bench_now();

	while (loop.first != NULL && loop.first->due <= now) {
		struct client *c = loop.first;

		loop.first = c->next;
		if (loop.first == NULL)
			loop.last = &loop.first;
		c->due += quote_interval;
		send_quote(c);
	}
}

static void accept_all(int listener)
{
	int fd;

	while ((fd = accept_client(listener, SOCK_NONBLOCK)) >= 0) {
		struct client *c = calloc(1, sizeof *c);

		if (c == NULL) {
			close(fd);
			return;
		}
		c->fd = fd;
		c->due = quote_second(bench_now());
		send_quote(c);
	}
}

/* Milliseconds until somebody is due, as epoll_wait takes them: rounded up. */
static int time_left(void)
{
	uint64_t now = bench_now();

	if (loop.first == NULL)
		return -1;
	return loop.first->due <= now ? 0 : (int)((loop.first->due - now + 999999) / 1000000);
}

void quote_epoll(const void *arg)
{
	const struct echo_server *s = arg;
	struct epoll_event ev = { .events = EPOLLIN }, events[256];

	loop.epoll = epoll_create1(EPOLL_CLOEXEC);
	loop.last = &loop.first;
	epoll_ctl(loop.epoll, EPOLL_CTL_ADD, s->listeners[0], &ev);
	for (;;) {
		int n = epoll_wait(loop.epoll, events, BENCH_COUNT(events), time_left());

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL)
				accept_all(s->listeners[0]);
			else
				send_rest(events[i].data.ptr, true);
		}
		send_due();
	}
}

/* A thread for each client */

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char quote[QUOTE_SIZE];

	for (uint64_t due = quote_second(bench_now());; due += quote_interval) {
		struct timespec ts;

		quote_make(quote);
		if (send(fd, quote, sizeof quote, MSG_NOSIGNAL) != (ssize_t)sizeof quote)
			break;
		ts.tv_sec = (time_t)(due / 1000000000);
		ts.tv_nsec = (long)(due % 1000000000);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
	close(fd);
	return NULL;
}

void quote_nptl(const void *arg)
{
	const struct echo_server *s = arg;
	pthread_attr_t attr;
	pthread_t thread;

	/* Blocks until somebody comes. */
	fcntl(s->listeners[0], F_SETFL, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)32 * 1024);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		int fd = accept_client(s->listeners[0], 0);

		if (fd < 0)
			_exit(errno);
		if (pthread_create(&thread, &attr, serve, (void *)(intptr_t)fd) != 0)
			_exit(EAGAIN);
	}
}

/* Go */

void quote_go(const void *arg)
{
	const struct echo_server *s = arg;
	char listener[16], interval[24], first[24];
	const char *const words[] = { "quote", listener, interval, "1", first, NULL };

	fcntl(s->listeners[0], F_SETFD, 0);
	snprintf(listener, sizeof listener, "%d", s->listeners[0]);
	snprintf(interval, sizeof interval, "%llu", (unsigned long long)quote_interval);
	snprintf(first, sizeof first, "%llu", (unsigned long long)quote_first);
	program_exec("go", words);
}
