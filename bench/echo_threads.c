/* echo_threads.c - a thread for each connection, 20,000 of them, against event loops.
 *
 * Half of the connections are slow: they send half a message a second, and their
 * threads wait most of the time. The others have a message under way at all times, so
 * that the server is never idle, and latency is mostly the queue of the others.
 */
#include <stdio.h>

#include "client.h"

#define CONNECTIONS 20000

struct contender {
	const char *io; /* of weft; or NULL */
	const struct peer *peer;
};

static const struct contender contenders[] = {
	{ .io = "uring" },
	{ .io = "epoll" },
	{ .peer = &peer_libuv },
	{ .peer = &peer_epoll },
};
#define CONTENDERS BENCH_COUNT(contenders)
#define WEFT_CONTENDERS 2

struct echo_case {
	const struct contender *contender;
	int loops, connections;
};

static int measure(const void *arg, double *values)
{
	const struct echo_case *c = arg;
	const struct contender *who = c->contender;
	struct echo_server settings = { .loops = c->loops, .io = who->io, .threads = true };
	struct client_load load = { .connections = c->connections,
				    .slow = c->connections / 2,
				    .warm_s = 1.2,
				    .seconds = bench_seconds(2) };
	struct client_result r;
	int err = client_measure(who->peer, settings, &load, &r);

	if (err < 0)
		return err;
	values[0] = r.cpu_us;
	values[1] = r.requests_per_s / 1e3;
	values[2] = r.p50_us / 1e3;
	values[3] = r.p99_us / 1e3;
	values[4] = r.slow_p99_us / 1e3;
	values[5] = r.resident / c->connections / 1e3;
	return 0;
}

static const struct bench_plan plan = {
	.name = "echo-threads",
	.work = "64-byte messages echoed over loopback TCP; half of the connections are slow;\n"
		"weft has a thread for each, the others callbacks. 1 loop: server and client have\n"
		"a CPU each; 2 loops: all share all CPUs",
	.metrics = { { "server CPU", "us/request", BENCH_LOWER },
		     { "throughput", "Kreq/s", BENCH_HIGHER },
		     { "p50", "ms", BENCH_LOWER },
		     { "p99", "ms", BENCH_LOWER },
		     { "p99 slow", "ms", BENCH_LOWER },
		     { "memory", "KB/conn", BENCH_LOWER } },
	.metric_count = 6,
	.repeats = 3,
};

static void group_label(int loops, int connections, char *label, size_t size)
{
	snprintf(label, size, "%d conns, %d loop%s", connections, loops, loops > 1 ? "s" : "");
}

/* Of the two backends, the one with the higher throughput; against each peer. */
static void derive(int loops, int connections, struct bench_row *const *rows)
{
	int best = bench_pick(rows, WEFT_CONTENDERS, 1, BENCH_HIGHER);
	char group[40], text[96];

	group_label(loops, connections, group, sizeof group);
	for (int i = WEFT_CONTENDERS; i < CONTENDERS; i++) {
		snprintf(text, sizeof text, "%s: throughput of weft %s / %s", group,
			 contenders[best].io, contenders[i].peer->name);
		bench_ratio(text, rows[best], rows[i], 1, BENCH_HIGHER, "above 1");
		snprintf(text, sizeof text, "%s: p99 of %s / weft %s", group,
			 contenders[i].peer->name, contenders[best].io);
		bench_ratio(text, rows[i], rows[best], 3, BENCH_HIGHER, "above 1");
	}
}

static struct bench_row *add(struct echo_case *c)
{
	const struct contender *who = c->contender;
	char group[40], label[64];

	group_label(c->loops, c->connections, group, sizeof group);
	if (who->peer != NULL)
		return peer_add(group, who->peer, measure, c);
	snprintf(label, sizeof label, "%s, %s", group, who->io);
	return server_add_weft(label, who->io, measure, c);
}

int bench_echo_threads(void)
{
	static struct echo_case cases[2][CONTENDERS];
	struct bench_row *rows[2][CONTENDERS];
	long files = bench_raise_files() - 64;
	/* As many as may be open, where that is less. */
	int connections = files < CONNECTIONS ? (int)files : CONNECTIONS;

	bench_begin(&plan);
	for (int g = 0; g < 2; g++)
		for (int i = 0; i < CONTENDERS; i++) {
			cases[g][i] = (struct echo_case){ &contenders[i], g + 1, connections };
			rows[g][i] = add(&cases[g][i]);
		}
	bench_run();
	for (int g = 0; g < 2; g++)
		derive(g + 1, connections, rows[g]);
	return bench_end();
}
