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
	int fd, port;
	int got;   /* bytes of the answer, or of its body */
	bool slow; /* it sends halves of messages */
	bool connecting, paused;
	int head_end; /* bytes of the empty line that ends a head; 4: the body has begun */
	int asked;    /* requests on this connection */
	const struct client_question *question;
	uint64_t sent_at;
	struct conn *next; /* in the queue of those that pause */
	uint64_t due;
};

static struct {
	const struct client_load *load;
	struct conn *conns;
	int epoll;
	uint64_t answers, bytes, failures, random;
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

static int open_socket(int flags)
{
	struct linger reset = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	int one = 1;

	if (fd < 0)
		return bench_fail("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	choose_source(fd);
	return fd;
}

static int connect_to(int fd, int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	return connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -errno : 0;
}

int client_connect(int port)
{
	int fd = open_socket(0);
	int err = fd < 0 ? fd : connect_to(fd, port);

	if (err < 0)
		return fd < 0 ? fd : bench_fail("connect: %s", strerror(-err));
	return fd;
}

static int send_bytes(struct conn *c, const void *data, size_t len)
{
	c->sent_at = bench_now();
	if (send(c->fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		return bench_fail("send: %s", strerror(errno));
	return 0;
}

static int send_one(struct conn *c)
{
	c->got = 0;
	if (t.load == NULL || t.load->choose == NULL)
		return send_bytes(c, t.message, sizeof t.message);
	c->head_end = 0;
	c->asked++;
	c->question = t.load->choose(&t.random);
	return send_bytes(c, c->question->text, (size_t)c->question->size);
}

static void pause_for(struct conn *c, uint64_t due)
{
	c->next = NULL;
	c->paused = true;
	c->due = due;
	*t.pausing_last = c;
	t.pausing_last = &c->next;
}

/* Web servers */

static int watch(struct conn *c, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = c };

	return epoll_ctl(t.epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0 ? -errno : 0;
}

/* Closes the connection and begins another, without waiting for it: a server that has much
 * to do accepts late. */
static int reconnect(struct conn *c)
{
	int err;

	if (c->fd >= 0)
		close(c->fd);
	c->asked = 0;
	c->fd = open_socket(SOCK_NONBLOCK);
	if (c->fd < 0)
		return c->fd;
	err = connect_to(c->fd, c->port);
	c->connecting = err == -EINPROGRESS;
	if (err < 0 && !c->connecting)
		return bench_fail("connect: %s", strerror(-err));
	err = watch(c, c->connecting ? EPOLLOUT : EPOLLIN);
	return err < 0 || c->connecting ? err : send_one(c);
}

/* The server refused, or closed the connection. */
static int fail(struct conn *c)
{
	t.failures++;
	return reconnect(c);
}

static int ask(struct conn *c)
{
	if (c->fd < 0)
		return reconnect(c);
	return send_one(c) < 0 ? fail(c) : 0;
}

static int connected(struct conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	int error = 0;
	socklen_t size = sizeof error;

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	c->connecting = false;
	if (error != 0)
		return bench_fail("connect: %s", strerror(error));
	epoll_ctl(t.epoll, EPOLL_CTL_MOD, c->fd, &ev);
	return ask(c);
}

static int answered(struct conn *c)
{
	uint64_t now = bench_now();

	t.answers++;
	t.bytes += (uint64_t)c->got;
	histogram_add(&t.latency[0], now - c->sent_at);
	if (t.load->per_connection > 0 && c->asked >= t.load->per_connection)
		return reconnect(c);
	if (t.load->pause_s == 0)
		return ask(c);
	pause_for(c, now + (uint64_t)(t.load->pause_s * 1e9));
	return 0;
}

/* Takes what belongs to the head. Returns how much that is, or -1 if the answer is bad. */
static ssize_t take_head(struct conn *c, const char *buf, ssize_t n)
{
	static const char end[] = "\r\n\r\n", good[] = "HTTP/1.1 200";
	ssize_t i = 0;

	if (c->got == 0 && (n < 12 || memcmp(buf, good, 12) != 0))
		return -1;
	c->got = 1; /* the first line is known to be good */
	for (; i < n && c->head_end < 4; i++)
		c->head_end = buf[i] == end[c->head_end] ? c->head_end + 1 : buf[i] == '\r';
	if (c->head_end == 4)
		c->got = 0;
	return i;
}

static int receive_file(struct conn *c)
{
	char buf[4096];
	bool in_head = c->head_end < 4;
	/* What is known to be body is thrown away unseen. */
	ssize_t n = recv(c->fd, in_head ? buf : NULL,
			 in_head ? sizeof buf : (size_t)(c->question->body - c->got),
			 MSG_DONTWAIT | (in_head ? 0 : MSG_TRUNC));
	ssize_t head = n > 0 && in_head ? take_head(c, buf, n) : 0;

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0 || head < 0)
		return fail(c);
	if (c->head_end < 4)
		return 0;
	c->got += (int)(n - head);
	if (c->got > c->question->body)
		return bench_fail("an answer is too long");
	return c->got == c->question->body ? answered(c) : 0;
}

/* While it pauses, all that can come is the server's wish to end it. */
static int take_event(struct conn *c)
{
	if (c->connecting)
		return connected(c);
	if (!c->paused)
		return receive_file(c);
	close(c->fd);
	c->fd = -1;
	return 0;
}

/* Echo servers */

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
		c->paused = false;
		if (c->got == CLIENT_MESSAGE)
			c->got = 0;
		err = c->slow ? send_bytes(c, t.message, CLIENT_MESSAGE / 2) : ask(c);
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

static int prepare(int count)
{
	t.epoll = epoll_create1(EPOLL_CLOEXEC);
	t.conns = calloc((size_t)count, sizeof *t.conns);
	t.pausing_last = &t.pausing;
	memset(t.message, 'w', sizeof t.message);
	return t.epoll < 0 || t.conns == NULL ? -ENOMEM : 0;
}

static int connect_all(int port, int count)
{
	int err = prepare(count);

	for (int i = 0; i < count && err == 0; i++) {
		struct conn *c = &t.conns[i];

		c->fd = client_connect(port);
		err = c->fd < 0 ? c->fd : watch(c, EPOLLIN);
	}
	return err;
}

/* Sends and receives until `end`. */
static int turn(uint64_t end)
{
	struct epoll_event events[256];

	while (bench_now() < end) {
		int n = epoll_wait(t.epoll, events, BENCH_COUNT(events), t.pausing ? 1 : 100);
		int err = end_pauses();

		if (err < 0)
			return err;
		for (int i = 0; i < n; i++) {
			struct conn *c = events[i].data.ptr;
			int result = t.load->choose != NULL ? take_event(c) : receive(c);

			if (result < 0)
				return result;
		}
	}
	return 0;
}

static int warm_up(void)
{
	return turn(bench_now() + (uint64_t)(t.load->warm_s * 1e9));
}

/* Those that pause come in a steady stream, not all at once. */
static void begin_later(int count, double over_s)
{
	uint64_t now = bench_now();

	for (int i = 0; i < count; i++)
		pause_for(&t.conns[i], now + (uint64_t)(over_s * 1e9 * (double)i / count));
}

static int begin_echo(int port, const struct client_load *load)
{
	int err = connect_all(port, load->connections);

	t.load = load;

	for (int i = 0; i < load->slow; i++)
		t.conns[i].slow = true;
	if (err == 0)
		begin_later(load->slow, CLIENT_PAUSE_S);
	for (int i = load->slow; i < load->connections && err == 0; i++)
		err = send_one(&t.conns[i]);
	return err < 0 ? err : warm_up();
}

int client_begin(const struct client_load *load)
{
	double over_s = load->connections / CLIENT_CONNECTS_PER_S;
	int err = prepare(load->connections);

	t.load = load;

	for (int i = 0; i < load->connections && err == 0; i++) {
		t.conns[i].fd = -1;
		t.conns[i].port = load->ports[i % load->port_count];
	}
	if (err == 0)
		begin_later(load->connections, fmax(over_s, load->pause_s));
	return err < 0 ? err : warm_up();
}

int client_go(struct client_result *result)
{
	uint64_t start = bench_now();
	double seconds;
	int err;

	memset(t.latency, 0, sizeof t.latency);
	t.answers = t.bytes = t.failures = 0;
	err = turn(start + (uint64_t)(t.load->seconds * 1e9));
	seconds = (double)(bench_now() - start) / 1e9;
	if (err < 0)
		return err;
	if (t.answers == 0)
		return bench_fail("the server answered nothing");
	result->requests_per_s = (double)t.answers / seconds;
	result->p50_us = histogram_percentile(&t.latency[0], 0.5) / 1e3;
	result->p99_us = histogram_percentile(&t.latency[0], 0.99) / 1e3;
	result->slow_p99_us = histogram_percentile(&t.latency[1], 0.99) / 1e3;
	result->bytes_per_s = (double)t.bytes / seconds;
	result->failed = (double)t.failures / (double)(t.answers + t.failures);
	return 0;
}

int client_measure(const struct peer *peer, struct echo_server settings,
		   const struct client_load *load, struct client_result *result)
{
	bool apart = settings.loops == 1 && bench_cpus() > 1;
	struct server server;
	double cpu;
	int err = server_start(&server, settings, peer != NULL ? peer->echo : server_weft,
			       apart ? 0 : -1);

	if (err < 0)
		return err;
	if (apart)
		bench_pin(1);
	err = begin_echo(server.port, load);
	cpu = bench_cpu_ns(server.pid);
	if (err == 0)
		err = client_go(result);
	if (err == 0) {
		result->cpu_us = (bench_cpu_ns(server.pid) - cpu) / (double)t.answers / 1e3;
		result->resident = bench_resident(server.pid);
	}
	return server_stop(&server, err);
}

int client_connect_idle(const struct server *server, int connections)
{
	char buf[CLIENT_MESSAGE];
	int err = connect_all(server->port, connections);

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
