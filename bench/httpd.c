/* httpd.c - weft-httpd beside other web servers, asked by wrk: requests for each second of
 * CPU time that the server uses, requests a second, and the slowest of a hundred.
 *
 * Servers and client are programs that are looked for in PATH, or peers that were built. All
 * servers have a worker for each CPU, serve the same files and write no log.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "site.h"

/* What is left of the limit of descriptors, for the server's other needs. */
enum { IDLE = 20000, DESCRIPTORS_KEPT = 1000 };

/* Until connections are idle in the server's eyes too. */
enum { IDLE_SECONDS = 2 };

enum { SMALL = 1024, LARGE = 1 << 20 };

static const struct load {
	const char *label, *path;
	int connections;
	bool closes;
	bool beside_idle; /* connections that asked once */
} loads[] = {
	{ "1 KB, 64 connections", "/small", 64, false, false },
	{ "1 KB, 1,000 connections", "/small", 1000, false, false },
	{ "1 KB, a connection each", "/small", 64, true, false },
	{ "1 MB, 16 connections", "/large", 16, false, false },
	{ "1 KB, 64 of 20,000 connections", "/small", 64, false, true },
};

struct work {
	const struct site_server *who;
	const struct load *load;
};

/* "12.34ms" in milliseconds. */
static double read_time(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);

	return strncmp(unit, "us", 2) == 0 ? value / 1000 : *unit == 's' ? value * 1000 : value;
}

/* Values: requests in all, requests a second, the 99th percentile in milliseconds. */
static int run_wrk(const struct load *load, int port, double *values)
{
	char line[256], *at;
	FILE *in;

	snprintf(line, sizeof line, "wrk -t1 -c%d -d%.0f --latency %s http://127.0.0.1:%d%s 2>&1",
		 load->connections, fmax(1, bench_seconds(3)),
		 load->closes ? "-H 'Connection: close'" : "", port, load->path);
	in = popen(line, "r");
	if (in == NULL)
		return bench_fail("wrk: %s", strerror(errno));
	while (fgets(line, sizeof line, in) != NULL) {
		if (strstr(line, " requests in ") != NULL)
			values[0] = strtod(line, NULL);
		else if ((at = strstr(line, " 99%")) != NULL)
			values[2] = read_time(at + 4);
		else if ((at = strstr(line, "Requests/sec:")) != NULL)
			values[1] = strtod(at + 13, NULL);
		else if (strstr(line, "Non-2xx") != NULL)
			values[0] = -1;
	}
	if (pclose(in) != 0 || !(values[0] > 0))
		return bench_fail("wrk has no good answers to tell of");
	return 0;
}

/* Asks for the small file, and takes the answer. */
static int ask_once(int fd)
{
	static const char question[] = "GET /small HTTP/1.1\r\nHost: x\r\n\r\n";
	struct timeval patience = { .tv_sec = 20 };
	char buf[4096];
	size_t have = 0;
	ssize_t n = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (send(fd, question, sizeof question - 1, MSG_NOSIGNAL) < 0)
		return bench_fail("send: %s", strerror(errno));
	while (have < SMALL && n > 0) {
		n = recv(fd, buf, sizeof buf, 0);
		have += n > 0 ? (size_t)n : 0;
	}
	return n > 0 ? 0 : bench_fail("an idle connection was not served");
}

static struct {
	int fd[IDLE];
	int count;
} idle;

static int connect_idle(int port)
{
	long most = bench_raise_files() - DESCRIPTORS_KEPT;
	int rc = 0;

	for (int i = 0; i < IDLE && i < most && rc == 0; i++) {
		int fd = client_connect(port);

		if (fd >= 0)
			idle.fd[idle.count++] = fd;
		rc = fd < 0 ? fd : ask_once(fd);
	}
	if (rc == 0)
		sleep(IDLE_SECONDS);
	return rc;
}

/* Before the server is told to end: some wait until their clients have gone. */
static void close_idle(void)
{
	while (idle.count > 0)
		close(idle.fd[--idle.count]);
}

static int start(struct site *site, const struct work *work)
{
	int rc = site_make(site, work->who, 0);

	if (rc == 0)
		rc = site_add_file(site, "small", SMALL);
	if (rc == 0)
		rc = site_add_file(site, "large", LARGE);
	if (rc == 0)
		rc = site_start(site);
	return rc == 0 && work->load->beside_idle ? connect_idle(site->port) : rc;
}

static int measure(const void *arg, double *values)
{
	const struct work *work = arg;
	double got[3] = { NAN, NAN, NAN }, before;
	struct site site;
	int rc = start(&site, work);

	before = site_cpu(&site);
	if (rc == 0)
		rc = run_wrk(work->load, site.port, got);
	values[0] = got[0] / (site_cpu(&site) - before);
	values[1] = got[1];
	values[2] = got[2];
	values[3] = site_memory(&site) / 1e6;
	close_idle();
	return site_stop(&site, rc);
}

/* The best of the others, by one figure. */
static void derive(const struct load *load, struct bench_row *const *rows, int metric,
		   const char *what)
{
	enum bench_better better = metric == 2 ? BENCH_LOWER : BENCH_HIGHER;
	int best = 1 + bench_pick(rows + 1, SITE_SERVERS - 1, metric, better);
	char label[96];

	snprintf(label, sizeof label, "%s, %s / best peer (%s)", load->label, what,
		 site_servers[best].name);
	bench_ratio(label, rows[0], rows[best], metric, better,
		    better == BENCH_HIGHER ? "above 1" : "below 1");
}

int bench_httpd(void)
{
	static struct work works[BENCH_COUNT(loads)][SITE_SERVERS];
	struct bench_row *rows[BENCH_COUNT(loads)][SITE_SERVERS] = { 0 };
	const char *no_client = site_missing(&(struct site_server){ .program = "wrk" });
	const struct bench_plan plan = {
		.name = "httpd",
		.work = "web servers with a worker for each CPU, asked by wrk",
		.metrics = { { "per CPU second", "requests", BENCH_HIGHER },
			     { "per second", "requests", BENCH_HIGHER },
			     { "p99", "ms", BENCH_LOWER },
			     { "memory", "MB", BENCH_LOWER } },
		.metric_count = 4,
		.repeats = 3,
		.limit_s = 120,
	};

	bench_begin(&plan);
	for (int l = 0; l < BENCH_COUNT(loads); l++) {
		for (int c = 0; c < SITE_SERVERS; c++) {
			const struct site_server *who = &site_servers[c];
			const char *missing = site_missing(who);

			works[l][c] = (struct work){ who, &loads[l] };
			if (missing != NULL || no_client != NULL)
				bench_add_missing(loads[l].label, who->name,
						  missing ? missing : "wrk is not installed");
			else
				rows[l][c] =
					bench_add(loads[l].label, who->name, measure, &works[l][c]);
		}
	}
	bench_run();
	for (int l = 0; l < BENCH_COUNT(loads); l++) {
		derive(&loads[l], rows[l], 0, "per CPU second");
		derive(&loads[l], rows[l], 2, "p99");
	}
	return bench_end();
}
