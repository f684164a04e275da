/* epoll.c - the echo server written by hand on epoll: what a library adds to. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

struct conn {
	int fd;
	size_t sent, len; /* of what waits for room */
	char buf[ECHO_BUFFER];
};

static void watch(int epoll, int op, struct conn *c, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	epoll_ctl(epoll, op, c->fd, &ev);
}

static void conn_close(struct conn *c)
{
	close(c->fd);
	free(c);
}

static bool would_block(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void accept_one(int epoll, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct conn *c = fd >= 0 ? calloc(1, sizeof *c) : NULL;
	int one = 1;

	if (c == NULL) {
		if (fd >= 0)
			close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c->fd = fd;
	watch(epoll, EPOLL_CTL_ADD, c, EPOLLIN);
}

static void echo_read(int epoll, struct conn *c)
{
	ssize_t n = recv(c->fd, c->buf, sizeof c->buf, 0);
	ssize_t done;

	if (would_block(n))
		return;
	done = n > 0 ? send(c->fd, c->buf, (size_t)n, MSG_NOSIGNAL) : -1;
	if (n > 0 && done == n)
		return;
	if (n <= 0 || (done < 0 && !would_block(done))) {
		conn_close(c);
		return;
	}
	c->sent = done > 0 ? (size_t)done : 0;
	c->len = (size_t)n;
	watch(epoll, EPOLL_CTL_MOD, c, EPOLLOUT);
}

static void echo_write(int epoll, struct conn *c)
{
	ssize_t n = send(c->fd, c->buf + c->sent, c->len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && !would_block(n)) {
		conn_close(c);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent == c->len) {
		c->len = 0;
		watch(epoll, EPOLL_CTL_MOD, c, EPOLLIN);
	}
}

static void *echo_main(void *arg)
{
	int listener = *(const int *)arg;
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct conn accept_conn = { .fd = listener };
	struct epoll_event events[256];

	watch(epoll, EPOLL_CTL_ADD, &accept_conn, EPOLLIN);
	for (;;) {
		int n = epoll_wait(epoll, events, BENCH_COUNT(events), -1);

		for (int i = 0; i < n; i++) {
			struct conn *c = events[i].data.ptr;

			if (c == &accept_conn)
				accept_one(epoll, listener);
			else if (c->sent < c->len)
				echo_write(epoll, c);
			else
				echo_read(epoll, c);
		}
	}
	return NULL;
}

static void echo(const void *arg)
{
	const struct echo_server *s = arg;
	int listeners[ECHO_LOOPS_MAX] = { 0 };
	pthread_t thread;

	for (int i = 0; i < s->loops; i++)
		listeners[i] = s->listeners[i];
	for (int i = 1; i < s->loops; i++)
		pthread_create(&thread, NULL, echo_main, &listeners[i]);
	echo_main(&listeners[0]);
}

const struct peer peer_epoll = {
	.name = "epoll",
	.echo = echo,
};
