/* quote_server.c - a stock-quote server: one message a second to each client (AC, figure
 * 12).
 *
 * Weft's is apps/quotes, as a program of its own. Server and clients have a CPU each. The
 * clients come evenly over a second, so that the messages do too.
 */
#include "client.h"
#include "histogram.h"
#include "quote.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef WEFT_QUOTES
#define WEFT_QUOTES "weft-quotes"
#endif

uint64_t quote_first, quote_interval;

/* Clients come evenly over a second. All are there after three, or what comes is too much
 * for the server anyway; so if there is more to do than it can, that begins then. */
#define SPREAD_NS 1000000000
#define CONNECT_NS 3000000000
#define SETTLE_NS 200000000

/* What is measured, and perhaps another one beside it. */
enum { MEASURED, BESIDE, SERVERS };

/* The server of Weft: apps/quotes, on one worker */

static void quote_weft(const void *arg)
{
	const struct echo_server *s = arg;
	char listener[16], interval[24], first[24];

	fcntl(s->listeners[0], F_SETFD, 0);
	snprintf(listener, sizeof listener, "fd:%d", s->listeners[0]);
	snprintf(interval, sizeof interval, "%llu", (unsigned long long)quote_interval / 1000000);
	snprintf(first, sizeof first, "%llu", (unsigned long long)quote_first / 1000000);
	setenv("WEFT_WORKERS", "1", 1);
	setenv("WEFT_IO", s->io, 1);
	if (freopen("/dev/null", "w", stdout) == NULL)
		_exit(errno);
	execl(WEFT_QUOTES, "weft-quotes", "--listen", listener, "--interval", interval, "--first",
	      first, "--max-per-address", "0", NULL);
	_exit(errno);
}

/* The clients */

struct client {
	int fd;
	int server;       /* which of those that run beside each other */
	size_t got;       /* bytes of a quote that is not complete */
	uint64_t last_at; /* when the last quote came */
};

static struct {
	struct client *clients;
	int epoll;
	uint64_t quotes[SERVERS]; /* of each server */
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

		if (c->last_at != 0 && c->server == MEASURED)
			histogram_add(&t.late, now > due ? now - due : 0);
		c->last_at = now;
		t.quotes[c->server]++;
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

/* In turn to each of the servers. */
static int connect_all(const struct server *servers, int server_count, int count)
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

		c->server = i % server_count;
		c->fd = client_connect(servers[c->server].port);
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
	int rate;    /* quotes a second for each */
	bool beside; /* the epoll server by hand runs beside it, on the same CPU, with as many */
};

enum { SERVED, LATE, CPU, CPU_MS, MEMORY, COMPARED, METRICS };

static int settle(const struct server *servers, const struct quote_case *c)
{
	int count = c->beside ? SERVERS : 1;
	int err = connect_all(servers, count, c->clients * count);

	if (err == 0)
		err = receive_until(bench_now() + quote_first + SETTLE_NS);
	memset(&t.late, 0, sizeof t.late);
	memset(t.quotes, 0, sizeof t.quotes);
	return err;
}

static int measure_servers(const struct server *servers, const struct quote_case *c, double *values)
{
	int err = settle(servers, c), count = c->beside ? SERVERS : 1;
	uint64_t start = bench_now();
	double cpu[SERVERS], seconds;

	for (int i = 0; i < count && err == 0; i++)
		cpu[i] = bench_cpu_ns(servers[i].pid);
	if (err == 0)
		err = receive_until(start + (uint64_t)(bench_seconds(1) * 1e9));
	seconds = (double)(bench_now() - start) / 1e9;
	for (int i = 0; i < count && err == 0; i++) {
		cpu[i] = bench_cpu_ns(servers[i].pid) - cpu[i];
		if (t.quotes[i] == 0)
			err = bench_fail("no quotes came");
	}
	if (err < 0)
		return err;
	values[SERVED] = (double)t.quotes[MEASURED] / seconds / 1e3;
	values[LATE] = histogram_percentile(&t.late, 0.99) / 1e6;
	values[CPU] = cpu[MEASURED] / (double)t.quotes[MEASURED] / 1e3;
	values[CPU_MS] = cpu[MEASURED] / seconds / 1e6;
	values[MEMORY] = bench_resident(servers[MEASURED].pid) / c->clients / 1e3;
	if (c->beside)
		values[COMPARED] = cpu[BESIDE] / (double)t.quotes[BESIDE] / 1e3 / values[CPU];
	return 0;
}

static int measure(const void *arg, double *values)
{
	const struct quote_case *c = arg;
	struct echo_server settings = { .loops = 1, .io = c->contender->io };
	bool apart = bench_cpus() > 1;
	int pin = apart ? 0 : -1, err;
	struct server servers[SERVERS];

	quote_interval = 1000000000 / (uint64_t)c->rate;
	quote_first = c->rate > 1 ? CONNECT_NS : quote_interval;
	err = server_start(&servers[MEASURED], settings, c->contender->serve, pin);
	if (err < 0)
		return err;
	if (c->beside)
		err = server_start(&servers[BESIDE], settings, quote_epoll, pin);
	if (err < 0)
		return server_stop(&servers[MEASURED], err);
	if (apart)
		bench_pin(1);
	err = measure_servers(servers, c, values);
	if (c->beside)
		err = server_stop(&servers[BESIDE], err);
	return server_stop(&servers[MEASURED], err);
}

static const struct bench_plan plan = {
	.name = "quote-server",
	.work = "64 bytes a second to each client, at a whole millisecond, over loopback TCP; one\n"
		"case has 10 times that, which is more than one core can do. Server and clients "
		"have\n"
		"a CPU each; in the last case epoll by hand serves as many beside each contender, "
		"on\n"
		"the same CPU at the same time: the one steady comparison on a noisy machine.\n"
		"late: what a quote came more than a second after the one before. weft: an async\n"
		"block for each quote; NPTL and Go: a thread for each client; epoll: a queue, by "
		"hand",
	.metrics = { [SERVED] = { "served", "K/s", BENCH_HIGHER },
		     [LATE] = { "late, p99", "ms", BENCH_LOWER },
		     [CPU] = { "server CPU", "us/quote", BENCH_LOWER },
		     [CPU_MS] = { "server CPU", "ms/s", BENCH_LOWER },
		     [MEMORY] = { "memory", "KB/client", BENCH_LOWER },
		     [COMPARED] = { "epoll beside it", "x its CPU", BENCH_HIGHER } },
	.metric_count = METRICS,
	.repeats = 3,
};

#define POINTS 5
static struct quote_case cases[POINTS][CONTENDERS];
static struct bench_row *rows[POINTS][CONTENDERS];

static void point_label(const struct quote_case *c, char *label, size_t size)
{
	snprintf(label, size, "%d clients, %d a second%s", c->clients, c->rate,
		 c->beside ? ", beside epoll" : "");
}

static void add_point(int p, int clients, int rate, bool beside)
{
	char label[64], variant[80];

	for (int i = 0; i < CONTENDERS; i++) {
		struct quote_case *c = &cases[p][i];
		const struct contender *who = &contenders[i];

		*c = (struct quote_case){ who, clients, rate, beside };
		point_label(c, label, sizeof label);
		snprintf(variant, sizeof variant, "%s, %s", label, who->io);
		if (who->io != NULL && access(WEFT_QUOTES, X_OK) < 0)
			bench_add_missing(variant, who->who, "weft-quotes was not built");
		else if (who->io != NULL)
			rows[p][i] = server_add_weft(variant, who->io, measure, c);
		else if (i == GO && !program_built("go"))
			bench_add_missing(label, who->who, peer_go.missing);
		else
			rows[p][i] = bench_add(label, who->who, measure, c);
	}
}

static void derive(int p)
{
	bool beside = cases[p][0].beside;
	int metric = beside ? COMPARED : CPU;
	struct bench_row *weft = rows[p][bench_pick(rows[p], PEER_EPOLL, metric,
						    beside ? BENCH_HIGHER : BENCH_LOWER)];
	char label[64], text[112];

	point_label(&cases[p][0], label, sizeof label);
	for (int i = PEER_EPOLL; i < CONTENDERS; i++) {
		struct bench_row *peer = rows[p][i];

		snprintf(text, sizeof text, "%s: CPU a quote, %s / the better weft", label,
			 contenders[i].who);
		bench_ratio(text, beside ? weft : peer, beside ? peer : weft, metric, BENCH_HIGHER,
			    i == PEER_EPOLL ? "about 1" : "above 1");
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
		const double values[METRICS] = { papers[i].clients, NAN, NAN, NAN, NAN, NAN };

		bench_add_paper("most clients, 1 a second", papers[i].who, values);
	}
}

int bench_quote_server(void)
{
	long files = bench_raise_files() - 64;
	int most = files < 20000 ? (int)files : 20000;

	bench_begin(&plan);
	add_point(0, most / 20, 1, false);
	add_point(1, most / 4, 1, false);
	add_point(2, most, 1, false);
	add_point(3, most, 10, false);
	add_point(4, most / SERVERS, 1, true);
	add_papers();
	bench_run();
	for (int p = 0; p < POINTS; p++)
		derive(p);
	return bench_end();
}
