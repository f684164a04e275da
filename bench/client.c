/* client.c - the load generator: raw epoll, one thread, a closed loop. */
#include "client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "histogram.h"

struct conn {
	int fd;
	int got;   /* bytes of the answer */
	bool slow; /* it sends halves of messages */
	uint64_t sent_at;
	struct conn *next; /* in the queue of those that pause */
	uint64_t due;
};

static struct {
	struct conn *conns;
	int epoll;
	uint64_t answers;
	struct histogram latency[2]; /* fast and slow */
	char message[CLIENT_MESSAGE];
	/* All pauses are equal, so the first to begin is the first to end. */
	struct conn *pausing, **pausing_last;
} t;

/* Most ports of one address are soon taken, and the kernel then looks long for a free one. */
static void choose_source(int fd)
{
	static uint32_t made;
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + made++ / 4096),
	};
	int one = 1;

	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
	(void)bind(fd, (struct sockaddr *)&a, sizeof a);
}

int client_connect(int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct linger reset = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int one = 1;

	if (fd < 0)
		return bench_fail("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	choose_source(fd);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		return bench_fail("connect: %s", strerror(errno));
	return fd;
}

static int send_bytes(struct conn *c, size_t len)
{
	c->sent_at = bench_now();
	if (send(c->fd, t.message, len, MSG_NOSIGNAL) != (ssize_t)len)
		return bench_fail("send: %s", strerror(errno));
	return 0;
}

static int send_one(struct conn *c)
{
	c->got = 0;
	return send_bytes(c, sizeof t.message);
}

static void pause_for(struct conn *c, uint64_t due)
{
	c->next = NULL;
	c->due = due;
	*t.pausing_last = c;
	t.pausing_last = &c->next;
}

/* Sends the halves that are due. Whoever has the echo of the first half sends the
 * second; whoever has all begins again. */
static int end_pauses(void)
{
	uint64_t now = bench_now();

	while (t.pausing != NULL && t.pausing->due <= now) {
		struct conn *c = t.pausing;
		int err;

		t.pausing = c->next;
		if (t.pausing == NULL)
			t.pausing_last = &t.pausing;
		if (c->got == CLIENT_MESSAGE)
			c->got = 0;
		err = send_bytes(c, CLIENT_MESSAGE / 2);
		if (err < 0)
			return err;
	}
	return 0;
}

static int receive(struct conn *c)
{
	char buf[CLIENT_MESSAGE];
	ssize_t n = recv(c->fd, buf, sizeof buf - (size_t)c->got, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return bench_fail("the server closed a connection");
	c->got += (int)n;
	if (c->slow && c->got % (CLIENT_MESSAGE / 2) == 0)
		pause_for(c, bench_now() + (uint64_t)(CLIENT_PAUSE_S * 1e9));
	if (c->got < CLIENT_MESSAGE)
		return 0;
	t.answers++;
	histogram_add(&t.latency[c->slow], bench_now() - c->sent_at);
	return c->slow ? 0 : send_one(c);
}

static int connect_all(const struct server *server, int count)
{
	t.epoll = epoll_create1(EPOLL_CLOEXEC);
	t.conns = calloc((size_t)count, sizeof *t.conns);
	if (t.epoll < 0 || t.conns == NULL)
		return -ENOMEM;
	t.pausing_last = &t.pausing;
	memset(t.message, 'w', sizeof t.message);
	for (int i = 0; i < count; i++) {
		struct conn *c = &t.conns[i];
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

		c->fd = client_connect(server->port);
		if (c->fd < 0)
			return c->fd;
		epoll_ctl(t.epoll, EPOLL_CTL_ADD, c->fd, &ev);
	}
	return 0;
}

/* Echoes until `end`. */
static int turn(uint64_t end)
{
	struct epoll_event events[256];

	while (bench_now() < end) {
		int n = epoll_wait(t.epoll, events, BENCH_COUNT(events), t.pausing ? 1 : 100);
		int err = end_pauses();

		if (err < 0)
			return err;
		for (int i = 0; i < n; i++) {
			int result = receive(events[i].data.ptr);

			if (result < 0)
				return result;
		}
	}
	return 0;
}

/* The slow ones come in a steady stream, not all at once. */
static int begin_all(const struct client_load *load)
{
	uint64_t now = bench_now();
	int err = 0;

	for (int i = 0; i < load->slow; i++) {
		t.conns[i].slow = true;
		pause_for(&t.conns[i],
			  now + (uint64_t)(CLIENT_PAUSE_S * 1e9 * (double)i / load->slow));
	}
	for (int i = load->slow; i < load->connections && err == 0; i++)
		err = send_one(&t.conns[i]);
	return err;
}

int client_run(const struct server *server, const struct client_load *load,
	       struct client_result *result)
{
	int err = connect_all(server, load->connections);
	uint64_t start;
	double cpu, seconds;

	if (err == 0)
		err = begin_all(load);
	if (err == 0)
		err = turn(bench_now() + (uint64_t)(load->warm_s * 1e9));
	if (err < 0)
		return err;
	memset(t.latency, 0, sizeof t.latency);
	t.answers = 0;
	cpu = bench_cpu_ns(server->pid);
	start = bench_now();
	err = turn(start + (uint64_t)(load->seconds * 1e9));
	seconds = (double)(bench_now() - start) / 1e9;
	cpu = bench_cpu_ns(server->pid) - cpu;
	if (err < 0)
		return err;
	if (t.answers == 0)
		return bench_fail("the server answered nothing");
	result->requests_per_s = (double)t.answers / seconds;
	result->p50_us = histogram_percentile(&t.latency[0], 0.5) / 1e3;
	result->p99_us = histogram_percentile(&t.latency[0], 0.99) / 1e3;
	result->slow_p99_us = histogram_percentile(&t.latency[1], 0.99) / 1e3;
	result->cpu_us = cpu / (double)t.answers / 1e3;
	return 0;
}

int client_connect_idle(const struct server *server, int connections)
{
	char buf[CLIENT_MESSAGE];
	int err = connect_all(server, connections);

	for (int i = 0; i < connections && err == 0; i++) {
		struct timeval patience = { .tv_sec = 10 };
		int fd = t.conns[i].fd;

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
		err = send_one(&t.conns[i]);
		if (err == 0 && recv(fd, buf, sizeof buf, MSG_WAITALL) != (ssize_t)sizeof buf)
			err = bench_fail("connection %d was not served", i);
	}
	return err;
}
