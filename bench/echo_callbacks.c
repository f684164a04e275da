/* echo_callbacks.c - an echo server under load, judged by its CPU time a request.
 *
 * Client and server share the machine, so throughput says as much about the
 * client; what a request costs the server does not depend on it. One loop: the
 * server has one CPU and the client another. Two loops: all share all CPUs, and
 * the peers run a loop in each of two threads, sharing the port.
 */
#include <stdio.h>

#include "client.h"

struct contender {
	const char *variant; /* of weft; or NULL */
	const struct peer *peer;
	const char *io;
	bool watches;
};

static const struct contender contenders[] = {
	{ .variant = "uring ops", .io = "uring" },
	{ .variant = "uring watches", .io = "uring", .watches = true },
	{ .variant = "epoll ops", .io = "epoll" },
	{ .variant = "epoll watches", .io = "epoll", .watches = true },
	{ .peer = &peer_libuv },
	{ .peer = &peer_libevent },
	{ .peer = &peer_epoll },
};
#define CONTENDERS BENCH_COUNT(contenders)
#define WEFT_CONTENDERS 4
#define VARIANTS 2 /* of weft on a backend */

struct echo_case {
	const struct contender *contender;
	int loops, connections;
};

static int measure(const void *arg, double *values)
{
	const struct echo_case *c = arg;
	const struct contender *who = c->contender;
	struct echo_server settings = { .loops = c->loops, .io = who->io, .watches = who->watches };
	struct client_load load = { .connections = c->connections,
				    .warm_s = 0.05,
				    .seconds = bench_seconds(0.12) };
	struct client_result r;
	int err = client_measure(who->peer, settings, &load, &r);

	if (err < 0)
		return err;
	values[0] = r.cpu_us;
	values[1] = r.requests_per_s / 1e3;
	values[2] = r.p50_us;
	values[3] = r.p99_us;
	return 0;
}

static const struct bench_plan plan = {
	.name = "echo-callbacks",
	.work = "64-byte messages echoed over loopback TCP, one under way on each connection;\n"
		"1 loop: server and client have a CPU each; 2 loops: all share all CPUs",
	.metrics = { { "server CPU", "us/request", BENCH_LOWER },
		     { "throughput", "Kreq/s", BENCH_HIGHER },
		     { "latency p50", "us", BENCH_LOWER },
		     { "latency p99", "us", BENCH_LOWER } },
	.metric_count = 4,
	.repeats = 9,
};

/* On each backend, the variant of weft that needs less CPU time; against each peer. */
static void derive(const char *group, struct bench_row *const *rows)
{
	char label[96];

	for (int w = 0; w < WEFT_CONTENDERS; w += VARIANTS) {
		int best = w + bench_pick(rows + w, VARIANTS, 0, BENCH_LOWER);

		for (int i = WEFT_CONTENDERS; i < CONTENDERS; i++) {
			snprintf(label, sizeof label, "%s: CPU of %s / weft %s", group,
				 contenders[i].peer->name, contenders[best].variant);
			bench_ratio(label, rows[i], rows[best], 0, BENCH_HIGHER, "above 1");
		}
	}
}

int bench_echo_callbacks(void)
{
	static const struct {
		int connections, loops;
	} groups[] = { { 64, 1 }, { 1000, 1 }, { 64, 2 }, { 1000, 2 } };
	static struct echo_case cases[BENCH_COUNT(groups)][CONTENDERS];
	struct bench_row *rows[BENCH_COUNT(groups)][CONTENDERS];
	char group[64], label[96];

	bench_begin(&plan);
	for (int g = 0; g < BENCH_COUNT(groups); g++) {
		snprintf(group, sizeof group, "%d conns, %d loop%s", groups[g].connections,
			 groups[g].loops, groups[g].loops > 1 ? "s" : "");
		for (int i = 0; i < CONTENDERS; i++) {
			const struct contender *who = &contenders[i];
			struct echo_case *c = &cases[g][i];

			*c = (struct echo_case){ who, groups[g].loops, groups[g].connections };
			if (who->peer != NULL) {
				rows[g][i] = peer_add(group, who->peer, measure, c);
				continue;
			}
			snprintf(label, sizeof label, "%s, %s", group, who->variant);
			rows[g][i] = server_add_weft(label, who->io, measure, c);
		}
	}
	bench_run();
	for (int g = 0; g < BENCH_COUNT(groups); g++) {
		snprintf(group, sizeof group, "%d conns, %d loop%s", groups[g].connections,
			 groups[g].loops, groups[g].loops > 1 ? "s" : "");
		derive(group, rows[g]);
	}
	return bench_end();
}
