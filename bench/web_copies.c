/* web_copies.c - libasync-mp's servers on more and more CPUs, against as many copies of a
 * server that has one (figures 5-2 to 5-4): 800 clients ask for 700 files of 4 KB, five times
 * on a connection.
 */
#include <math.h>
#include <stdio.h>

#include "sim_web.h"
#include "web.h"

enum { FILES = 700, FILE_SIZE = 4096, CLIENTS = 800, PER_CONNECTION = 5 };
enum { RATE, CPU, CAPACITY, P99, SPEEDUP, METRICS };

static struct client_question questions[FILES];

static int add_files(const struct site *site)
{
	char name[16];
	int err = 0;

	for (int i = 0; i < FILES && err == 0; i++) {
		snprintf(name, sizeof name, "4k%d", i);
		questions[i] = web_question(name, FILE_SIZE);
		err = site_add_file(site, name, FILE_SIZE);
	}
	return err;
}

static const struct client_question *choose(uint64_t *random)
{
	return &questions[bench_random(random) % FILES];
}

static int cpus_used(const struct web_case *c)
{
	return c->copies > 0 ? c->copies : c->workers > 0 ? c->workers : bench_cpus();
}

static int measure(const void *arg, double *values)
{
	struct client_result r;
	int err = web_measure(arg, &r);

	if (err < 0)
		return err;
	values[RATE] = r.requests_per_s / 1e3;
	values[CPU] = r.cpu_us;
	values[CAPACITY] = cpus_used(arg) / r.cpu_us * 1e3;
	values[P99] = r.p99_us / 1e3;
	return 0;
}

/* Copies have nothing to do with each other: the rate of one, so many times. */
static int simulate_copies(const void *arg, double *values)
{
	const struct sim_web *s = arg;
	struct sim_web one = { s->kind, 1, s->clients / s->cores, s->steal, s->per_connection };

	values[CAPACITY] = sim_web_run(&one) * s->cores / 1e3;
	return 0;
}

static int simulate(const void *arg, double *values)
{
	values[CAPACITY] = sim_web_run(arg) / 1e3;
	return 0;
}

/* Real servers. Rows of a server are compared with its first. */

static struct web_case web_case(int server, int workers, int copies, int clients)
{
	return (struct web_case){ .server = server,
				  .workers = workers,
				  .copies = copies,
				  .load = { .connections = clients,
					    .warm_s = 0.5,
					    .seconds = bench_seconds(1.5),
					    .choose = choose,
					    .per_connection = PER_CONNECTION },
				  .add_files = add_files };
}

enum { ONE, ALL, COPIES, WAYS };

static void add_server(int server, struct web_case *cases, struct bench_row **rows)
{
	int cpus = bench_cpus() < ECHO_LOOPS_MAX ? bench_cpus() : ECHO_LOOPS_MAX;
	char label[64];

	cases[ONE] = web_case(server, 1, 0, CLIENTS);
	rows[ONE] = web_add("1 worker", &cases[ONE], measure);
	cases[ALL] = web_case(server, cpus, 0, CLIENTS);
	snprintf(label, sizeof label, "%d workers", cpus);
	rows[ALL] = web_add(label, &cases[ALL], measure);
	if (server != SITE_WEFT)
		return;
	cases[COPIES] = web_case(server, 1, cpus, CLIENTS);
	snprintf(label, sizeof label, "%d copies", cpus);
	rows[COPIES] = web_add(label, &cases[COPIES], measure);
}

static void add_clients(void)
{
	static const int clients[] = { 50, 200, 800, 3200 };
	static struct web_case cases[BENCH_COUNT(clients)];
	char label[64];

	for (int i = 0; i < BENCH_COUNT(clients); i++) {
		cases[i] = web_case(SITE_WEFT, 0, 0, clients[i]);
		snprintf(label, sizeof label, "%d clients", clients[i]);
		web_add(label, &cases[i], measure);
	}
}

/* Virtual cores */

static const struct {
	const char *label;
	enum sim_web_kind kind;
	bool copies;
} virtual_servers[] = { { "workers", SIM_WEB_RINGS, false },
			{ "cache in a color", SIM_WEB_CACHE_COLOR, false },
			{ "copies", SIM_WEB_RINGS, true } };
static const int virtual_cores[] = { 1, 2, 3, 4, 8 };
#define VIRTUAL BENCH_COUNT(virtual_servers)
#define CORES BENCH_COUNT(virtual_cores)

static void add_virtual(int which, struct bench_row **rows)
{
	static struct sim_web settings[VIRTUAL][CORES];
	enum sim_web_kind kind = virtual_servers[which].kind;
	char label[64];

	for (int i = 0; i < CORES; i++) {
		int cores = virtual_cores[i];

		settings[which][i] =
			(struct sim_web){ kind, cores, CLIENTS, "all", PER_CONNECTION };
		snprintf(label, sizeof label, "%d virtual core%s, %s", cores, cores > 1 ? "s" : "",
			 virtual_servers[which].label);
		rows[i] = bench_add(label, "weft",
				    virtual_servers[which].copies ? simulate_copies : simulate,
				    &settings[which][i]);
	}
}

/* 4 KB a request; speed-ups are over one CPU. */
static void add_paper(void)
{
	static const struct {
		const char *label, *who;
		double mb_per_s, speedup;
	} figures[] = {
		{ "1 CPU", "libasync-mp", 22.8, 1 },    { "2 CPUs", "libasync-mp", NAN, 1.36 },
		{ "4 CPUs", "libasync-mp", NAN, 1.54 }, { "1 copy", "libasync", 24.8, 1 },
		{ "4 copies", "libasync", NAN, 2.50 },  { "4 CPUs", "Flash", NAN, 1.73 },
	};

	for (int i = 0; i < BENCH_COUNT(figures); i++) {
		double values[METRICS] = { NAN, NAN, figures[i].mb_per_s * 1e3 / FILE_SIZE, NAN,
					   figures[i].speedup };

		bench_add_paper(figures[i].label, figures[i].who, values);
	}
}

static void compare(struct bench_row *const *rows, int count)
{
	for (int i = 0; i < count; i++)
		bench_relate(rows[i], SPEEDUP, rows[0], CAPACITY);
}

static const struct bench_plan plan = {
	.name = "web-copies",
	.work = "800 clients ask for 700 files of 4 KB, five times on a connection "
		"(libasync-mp, figures 5-2 to 5-4);\nclients and server share all CPUs, so the "
		"speed-up is that of the capacity: CPUs / server CPU",
	.metrics = { [RATE] = { "throughput", "Kreq/s", BENCH_HIGHER },
		     [CPU] = { "server CPU", "us/request", BENCH_LOWER },
		     [CAPACITY] = { "capacity", "Kreq/s", BENCH_HIGHER },
		     [P99] = { "p99", "ms", BENCH_LOWER },
		     [SPEEDUP] = { "speed-up", "x one", BENCH_HIGHER } },
	.metric_count = METRICS,
	.repeats = 3,
};

int bench_web_copies(void)
{
	static const int servers[] = { SITE_WEFT, SITE_NGINX, SITE_APACHE };
	static struct web_case cases[BENCH_COUNT(servers)][WAYS];
	struct bench_row *real[BENCH_COUNT(servers)][WAYS] = { 0 };
	struct bench_row *virtual[VIRTUAL][CORES];

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(servers); i++)
		add_server(servers[i], cases[i], real[i]);
	add_clients();
	for (int i = 0; i < VIRTUAL; i++)
		add_virtual(i, virtual[i]);
	add_paper();
	bench_run();
	for (int i = 0; i < BENCH_COUNT(servers); i++)
		compare(real[i], WAYS);
	for (int i = 0; i < VIRTUAL; i++)
		compare(virtual[i], CORES);
	bench_ratio("capacity of all workers / that of as many copies", real[0][ALL],
		    real[0][COPIES], CAPACITY, BENCH_HIGHER, "at least 0.95");
	return bench_end();
}
