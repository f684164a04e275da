/* four_styles.c - what the style of a server costs: the key server of examples/four-styles as
 * callbacks, tamed functions, threads and async blocks, each as a program of its own.
 */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"

#define CONNECTIONS 20000
#define ACTIVE 100
#define CLIENTS 1200 /* of the paper, who all ask */
#define HELLO "hello\n"
#define QUESTION "GET cat\n"
#define ANSWER "= a small animal\n"

static const char *const styles[] = { "callbacks", "tamed", "threads", "async" };
static const char *const backends[] = { "uring", "epoll" };

struct style_case {
	const char *style, *io;
	int connections, active;
};

/* The examples are built beside this program. */
static void program_path(const char *style, char *path, size_t size)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(path, size, "%s/../examples/four-styles/keys_%s", dirname(self), style);
}

static int start_server(const struct style_case *c, struct server *server)
{
	char path[600];
	const char *arguments[] = { path, "127.0.0.1:0", NULL };
	struct server_program program = { arguments, "port %d", c->io, 0 };

	program_path(c->style, path, sizeof path);
	return server_start_program(server, &program);
}

static int expect(int fd, const char *text)
{
	char buf[64];
	size_t len = strlen(text);

	if (recv(fd, buf, len, MSG_WAITALL) != (ssize_t)len || memcmp(buf, text, len) != 0)
		return bench_fail("a connection was not served");
	return 0;
}

static int ask(int fd)
{
	if (send(fd, QUESTION, strlen(QUESTION), MSG_NOSIGNAL) < 0)
		return bench_fail("send: %s", strerror(errno));
	return 0;
}

/* Each asks once, so that all has been used that a connection uses. */
static int connect_all(int port, int *fds, int count)
{
	int err = 0;

	for (int i = 0; i < count && err == 0; i++) {
		struct timeval patience = { .tv_sec = 20 };

		fds[i] = client_connect(port);
		if (fds[i] < 0)
			return fds[i];
		setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
		err = expect(fds[i], HELLO);
		if (err == 0)
			err = ask(fds[i]);
		if (err == 0)
			err = expect(fds[i], ANSWER);
	}
	return err;
}

static int set_the_key(int port)
{
	int fd = client_connect(port), err = fd < 0 ? fd : expect(fd, HELLO);

	if (err == 0 && send(fd, "SET cat a small animal\n", 23, MSG_NOSIGNAL) < 0)
		err = -errno;
	return err < 0 ? err : expect(fd, "ok\n");
}

/* Asks on each of the connections again and again. Returns the number of answers, or -Exxx. */
static long load(const int *fds, int count, double seconds)
{
	uint64_t end = bench_now() + (uint64_t)(seconds * 1e9);
	struct epoll_event ev[CLIENTS];
	int epoll = epoll_create1(EPOLL_CLOEXEC), err = 0;
	long answers = 0;

	for (int i = 0; i < count && err == 0; i++) {
		ev[0] = (struct epoll_event){ .events = EPOLLIN, .data.fd = fds[i] };
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &ev[0]) < 0)
			return -errno;
		err = ask(fds[i]);
	}
	while (err == 0 && bench_now() < end) {
		int n = epoll_wait(epoll, ev, BENCH_COUNT(ev), 100);

		for (int i = 0; i < n && err == 0; i++, answers++) {
			err = expect(ev[i].data.fd, ANSWER);
			if (err == 0)
				err = ask(ev[i].data.fd);
		}
	}
	for (int i = 0; i < count && err == 0; i++)
		err = expect(fds[i], ANSWER);
	close(epoll);
	return err < 0 ? err : answers;
}

static int measure(const void *arg, double *values)
{
	const struct style_case *c = arg;
	int *fds = calloc((size_t)c->connections, sizeof *fds);
	double seconds = bench_seconds(2), before, cpu;
	struct server server;
	long answers = 0;
	int err = start_server(c, &server);

	if (err == 0)
		err = set_the_key(server.port);
	if (err < 0 || fds == NULL)
		return err < 0 ? err : -ENOMEM;
	before = bench_resident(server.pid);
	err = connect_all(server.port, fds, c->connections);
	values[0] = (bench_resident(server.pid) - before) / c->connections / 1e3;
	if (err == 0)
		err = (int)load(fds, c->active, 0.3);
	if (err >= 0) {
		cpu = bench_cpu_ns(server.pid);
		answers = load(fds, c->active, seconds);
		cpu = bench_cpu_ns(server.pid) - cpu;
		values[1] = (double)answers / seconds / 1e3;
		values[2] = cpu / (double)answers / 1e3;
		values[3] = bench_resident(server.pid) / 1e6;
		values[4] = bench_mapped(server.pid) / 1e6;
		err = answers < 0 ? (int)answers : 0;
	}
	return server_stop(&server, err);
}

static const struct bench_plan plan = {
	.name = "four-styles",
	.work = "the key server of examples/four-styles: 100 connections ask for a key as fast as\n"
		"they are answered, beside up to 20,000 that are idle, or 1,200 ask, as in Tame's\n"
		"figure 7; memory is that of a connection",
	.metrics = { { "memory", "KB/conn", BENCH_LOWER },
		     { "throughput", "Kreq/s", BENCH_HIGHER },
		     { "server CPU", "us/request", BENCH_LOWER },
		     { "resident", "MB", BENCH_LOWER },
		     { "virtual", "MB", BENCH_LOWER } },
	.metric_count = 5,
	.repeats = 3,
};

static void add(const char *label, struct style_case *c)
{
	char path[600];

	program_path(c->style, path, sizeof path);
	if (access(path, X_OK) == 0)
		server_add_weft(label, c->io, measure, c);
	else
		bench_add_missing(label, "weft", "the example was not built");
}

/* A web server, and connections a second: a client connects for each of its requests. */
static void add_paper(void)
{
	static const double capriccio[] = { 6560. / CLIENTS, 28.318, NAN, 6.560, 49.517 };
	static const double tame[] = { 2156. / CLIENTS, 28.457, NAN, 2.156, 10.740 };

	bench_add_paper("Knot, 1200 clients", "Capriccio", capriccio);
	bench_add_paper("Knot, 1200 clients", "Tame", tame);
}

int bench_four_styles(void)
{
	static struct style_case idle[BENCH_COUNT(styles)][BENCH_COUNT(backends)];
	static struct style_case paper[BENCH_COUNT(styles)];
	long files = bench_raise_files() - 64;
	int connections = files < CONNECTIONS ? (int)files : CONNECTIONS;
	char label[64];

	bench_begin(&plan);
	for (int s = 0; s < BENCH_COUNT(styles); s++)
		for (int b = 0; b < BENCH_COUNT(backends); b++) {
			idle[s][b] =
				(struct style_case){ styles[s], backends[b], connections, ACTIVE };
			snprintf(label, sizeof label, "%s, %s", styles[s], backends[b]);
			add(label, &idle[s][b]);
		}
	for (int s = 0; s < BENCH_COUNT(styles); s++) {
		paper[s] = (struct style_case){ styles[s], "epoll", CLIENTS, CLIENTS };
		snprintf(label, sizeof label, "%s, %d clients", styles[s], CLIENTS);
		add(label, &paper[s]);
	}
	add_paper();
	bench_run();
	return bench_end();
}
