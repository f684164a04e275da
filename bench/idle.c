/* idle.c - what an idle server costs: connections and timers that do nothing. */
#include <unistd.h>

#include "client.h"

#define CONNECTIONS 10000
#define TIMERS 10000

struct idle_case {
	const char *label;
	const struct peer *peer; /* NULL: weft */
	struct echo_server settings;
};

static int measure(const void *arg, double *values)
{
	const struct idle_case *c = arg;
	double seconds = bench_seconds(1), cpu, switches, before;
	struct server server;
	int err;

	if (bench_raise_files() < CONNECTIONS + 100)
		return bench_fail("the limit of descriptors is below %d", CONNECTIONS + 100);
	err = server_start(&server, c->settings, c->peer != NULL ? c->peer->echo : server_weft, -1);
	if (err < 0)
		return err;
	/* Started, with its timers: the rest is what connections take. */
	usleep(100000);
	before = bench_resident(server.pid);
	err = client_connect_idle(&server, CONNECTIONS);
	/* What the last echo left to do is not idleness. */
	usleep(300000);
	cpu = bench_cpu_ns(server.pid);
	switches = bench_switches(server.pid);
	usleep((useconds_t)(seconds * 1e6));
	cpu = bench_cpu_ns(server.pid) - cpu;
	switches = bench_switches(server.pid) - switches;
	if (err == 0) {
		values[0] = cpu / seconds / 1e6;
		values[1] = switches / seconds;
		values[2] = (bench_resident(server.pid) - before) / CONNECTIONS / 1e3;
	}
	return server_stop(&server, err);
}

static const struct idle_case cases[] = {
	{ "uring ops, 2 workers", NULL, { .loops = 2, .timers = TIMERS, .io = "uring" } },
	{ "uring watches, 2 workers",
	  NULL,
	  { .loops = 2, .timers = TIMERS, .io = "uring", .watches = true } },
	{ "epoll ops, 2 workers", NULL, { .loops = 2, .timers = TIMERS, .io = "epoll" } },
	{ "epoll watches, 2 workers",
	  NULL,
	  { .loops = 2, .timers = TIMERS, .io = "epoll", .watches = true } },
	{ "1 loop", &peer_libuv, { .loops = 1, .timers = TIMERS } },
	{ "1 loop", &peer_libevent, { .loops = 1, .timers = TIMERS } },
};
#define WEFT_CASES 4

static const struct bench_plan plan = {
	.name = "idle",
	.work = "a server with 10,000 idle connections and 10,000 timers an hour away;\n"
		"memory includes the 4 KB buffer that each of these servers keeps",
	.metrics = { { "CPU time", "ms/s", BENCH_LOWER },
		     { "switches", "per s", BENCH_LOWER },
		     { "memory", "KB/conn", BENCH_LOWER } },
	.metric_count = 3,
	.repeats = 3,
};

int bench_idle(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)];

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++) {
		if (cases[i].peer != NULL)
			rows[i] = peer_add(cases[i].label, cases[i].peer, measure, &cases[i]);
		else
			rows[i] = server_add_weft(cases[i].label, cases[i].settings.io, measure,
						  &cases[i]);
	}
	bench_run();
	bench_figure("CPU time of an idle server, the worst",
		     rows[bench_pick(rows, WEFT_CASES, 0, BENCH_HIGHER)], 0, "0");
	return bench_end();
}
