/* quote_server.c - a stock-quote server: one message a second to each client (AC, figure
 * 12).
 *
 * Weft's is straight-line code: one finish block, and an async body for each client. Server
 * and clients have a CPU each. The clients come evenly over a second, so that the
 * messages do too.
 */
#include "client.h"
#include "histogram.h"
#include "quote.h"
#include "threads.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/scope.h>
#include <weft/weft.h>

uint64_t quote_first, quote_interval;

/* Clients come evenly over a second. All are there after three, or what comes is too much
 * for the server anyway; so if there is more to do than it can, that begins then. */
#define SPREAD_NS 1000000000
#define CONNECT_NS 3000000000
#define SETTLE_NS 200000000

/* The server of Weft */

static int serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char quote[QUOTE_SIZE];

	for (uint64_t due = quote_second(weft_now());; due += quote_interval) {
		quote_make(quote);
		if (weft_write_all(fd, quote, sizeof quote) < 0 || weft_sleep_until(due) < 0)
			break;
	}
	return weft_close(fd);
}

static int app(void *listener)
{
	weft_scope clients;
	int one = 1, err, fd;

	weft_scope_begin(&clients);
	while ((fd = weft_accept((int)(intptr_t)listener, NULL)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (weft_async_call(serve, (void *)(intptr_t)fd) < 0)
			weft_close(fd);
	}
	err = weft_scope_end(&clients);
	return err < 0 ? err : fd;
}

static void quote_weft(const void *arg)
{
	const struct echo_server *s = arg;
	weft_options opt = { .workers = 1, .io = s->io };

	_exit(-weft_run(app, (void *)(intptr_t)s->listeners[0], &opt));
}

/* The clients */

struct client {
	int fd;
	size_t got;       /* bytes of a quote that is not complete */
	uint64_t last_at; /* when the last quote came */
};

static struct {
	struct client *clients;
	int epoll;
	uint64_t quotes;
	struct histogram late;
} t;

static int receive(struct client *c, uint64_t now)
{
	char buf[64 * QUOTE_SIZE];
	ssize_t n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0)
		return bench_fail("the server closed a connection");
	c->got += (size_t)n;
	for (; c->got >= QUOTE_SIZE; c->got -= QUOTE_SIZE) {
		uint64_t due = c->last_at + quote_interval;

		if (c->last_at != 0)
			histogram_add(&t.late, now > due ? now - due : 0);
		c->last_at = now;
		t.quotes++;
	}
	return 0;
}

static int receive_until(uint64_t end)
{
	struct epoll_event events[256];
	uint64_t now;

	while ((now = bench_now()) < end) {
		int ms = (int)((end - now) / 1000000);
		int n = epoll_wait(t.epoll, events, BENCH_COUNT(events), ms);

		now = bench_now();
		for (int i = 0; i < n; i++) {
			int err = receive(events[i].data.ptr, now);

			if (err < 0)
				return err;
		}
	}
	return 0;
}

static int connect_all(int port, int count)
{
	uint64_t start = bench_now();
	int err = 0;

	t.epoll = epoll_create1(EPOLL_CLOEXEC);
	t.clients = calloc((size_t)count, sizeof *t.clients);
	if (t.epoll < 0 || t.clients == NULL)
		return -ENOMEM;
	for (int i = 0; i < count && err == 0; i++) {
		struct client *c = &t.clients[i];
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

		c->fd = client_connect(port);
		if (c->fd < 0)
			return c->fd;
		epoll_ctl(t.epoll, EPOLL_CTL_ADD, c->fd, &ev);
		err = receive_until(start +
				    (uint64_t)SPREAD_NS * (uint64_t)(i + 1) / (uint64_t)count);
	}
	return err;
}

/* Cases */

struct contender {
	const char *who;
	const char *io; /* of weft */
	void (*serve)(const void *echo_server);
};

enum { URING, EPOLL, PEER_EPOLL, NPTL, GO, CONTENDERS };
static const struct contender contenders[CONTENDERS] = {
	[URING] = { "weft", "uring", quote_weft },
	[EPOLL] = { "weft", "epoll", quote_weft },
	[PEER_EPOLL] = { "epoll", NULL, quote_epoll },
	[NPTL] = { "NPTL", NULL, quote_nptl },
	[GO] = { "Go", NULL, quote_go },
};

struct quote_case {
	const struct contender *contender;
	int clients;
	int rate; /* quotes a second for each */
};

enum { SERVED, LATE, CPU, CPU_MS, MEMORY, METRICS };

static int measure_server(const struct server *server, const struct quote_case *c, double *values)
{
	int err = connect_all(server->port, c->clients);
	double cpu, seconds;
	uint64_t start;

	if (err == 0)
		err = receive_until(bench_now() + quote_first + SETTLE_NS);
	if (err < 0)
		return err;
	memset(&t.late, 0, sizeof t.late);
	t.quotes = 0;
	cpu = bench_cpu_ns(server->pid);
	start = bench_now();
	err = receive_until(start + (uint64_t)(bench_seconds(1) * 1e9));
	if (err < 0 || t.quotes == 0)
		return err < 0 ? err : bench_fail("no quotes came");
	seconds = (double)(bench_now() - start) / 1e9;
	cpu = bench_cpu_ns(server->pid) - cpu;
	values[SERVED] = (double)t.quotes / seconds / 1e3;
	values[LATE] = histogram_percentile(&t.late, 0.99) / 1e6;
	values[CPU] = cpu / (double)t.quotes / 1e3;
	values[CPU_MS] = cpu / seconds / 1e6;
	values[MEMORY] = bench_resident(server->pid) / c->clients / 1e3;
	return 0;
}

static int measure(const void *arg, double *values)
{
	const struct quote_case *c = arg;
	struct echo_server settings = { .loops = 1, .io = c->contender->io };
	bool apart = bench_cpus() > 1;
	struct server server;
	int err;

	quote_interval = 1000000000 / (uint64_t)c->rate;
	quote_first = c->rate > 1 ? CONNECT_NS : quote_interval;
	err = server_start(&server, settings, c->contender->serve, apart ? 0 : -1);
	if (err < 0)
		return err;
	if (apart)
		bench_pin(1);
	err = measure_server(&server, c, values);
	return server_stop(&server, err);
}

static const struct bench_plan plan = {
	.name = "quote-server",
	.work = "64 bytes a second to each client, at a whole millisecond, over loopback TCP; the\n"
		"last case has 10 times that, which is more than one core can do. Server and\n"
		"clients have a CPU each.\n"
		"late: what a quote came more than a second after the one before. weft: an async\n"
		"body for each client; NPTL and Go: a thread for each; epoll: a queue, by hand",
	.metrics = { [SERVED] = { "served", "K/s", BENCH_HIGHER },
		     [LATE] = { "late, p99", "ms", BENCH_LOWER },
		     [CPU] = { "server CPU", "us/quote", BENCH_LOWER },
		     [CPU_MS] = { "server CPU", "ms/s", BENCH_LOWER },
		     [MEMORY] = { "memory", "KB/client", BENCH_LOWER } },
	.metric_count = METRICS,
	.repeats = 3,
};

#define POINTS 4
static struct quote_case cases[POINTS][CONTENDERS];
static struct bench_row *rows[POINTS][CONTENDERS];

static void point_label(const struct quote_case *c, char *label, size_t size)
{
	snprintf(label, size, "%d clients, %d a second", c->clients, c->rate);
}

static void add_point(int p, int clients, int rate)
{
	char label[48], variant[64];

	for (int i = 0; i < CONTENDERS; i++) {
		struct quote_case *c = &cases[p][i];
		const struct contender *who = &contenders[i];

		*c = (struct quote_case){ who, clients, rate };
		point_label(c, label, sizeof label);
		snprintf(variant, sizeof variant, "%s, %s", label, who->io);
		if (who->io != NULL)
			rows[p][i] = server_add_weft(variant, who->io, measure, c);
		else if (i == GO && !program_built("go"))
			bench_add_missing(label, who->who, peer_go.missing);
		else
			rows[p][i] = bench_add(label, who->who, measure, c);
	}
}

static void derive(int p)
{
	char label[48], text[96];

	point_label(&cases[p][0], label, sizeof label);
	for (int i = PEER_EPOLL; i < CONTENDERS; i++) {
		snprintf(text, sizeof text, "%s: CPU a quote, %s / the better weft", label,
			 contenders[i].who);
		bench_derive(text,
			     bench_value(rows[p][i], CPU) / fmin(bench_value(rows[p][URING], CPU),
								 bench_value(rows[p][EPOLL], CPU)),
			     "x", BENCH_HIGHER, i == PEER_EPOLL ? "about 1" : "above 1");
	}
}

/* What the text says of figure 12: where one core was at its end. */
static void add_papers(void)
{
	static const struct {
		const char *who;
		double clients;
	} papers[] = {
		{ "AC", 18 }, { "callbacks", 18 }, { "F#", 10 }, { "C#", 8 }, { "threads", 4.5 }
	};

	for (int i = 0; i < BENCH_COUNT(papers); i++) {
		const double values[METRICS] = { papers[i].clients, NAN, NAN, NAN, NAN };

		bench_add_paper("most clients, 1 a second", papers[i].who, values);
	}
}

int bench_quote_server(void)
{
	long files = bench_raise_files() - 64;
	int most = files < 20000 ? (int)files : 20000;

	bench_begin(&plan);
	add_point(0, most / 20, 1);
	add_point(1, most / 4, 1);
	add_point(2, most, 1);
	add_point(3, most, 10);
	add_papers();
	bench_run();
	for (int p = 0; p < POINTS; p++)
		derive(p);
	return bench_end();
}
