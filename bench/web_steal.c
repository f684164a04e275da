/* web_steal.c - Mely's web server under stealing (figure 7): clients that ask 150 times for a
 * file of 1 KB, then connect anew, and never pause.
 */
#include <math.h>
#include <stdio.h>

#include "sim_web.h"
#include "web.h"

enum { FILE_SIZE = 1024, PER_CONNECTION = 150, VIRTUAL_CORES = 8, VIRTUAL_CLIENTS = 1000 };
enum { RATE, CPU, P99, RELATIVE, METRICS };

static const int clients[] = { 200, 1000, 2000 };
static const char *const steals[] = { "off", "base", "all" };

static struct client_question question;

static int add_files(const struct site *site)
{
	question = web_question("1k", FILE_SIZE);
	return site_add_file(site, "1k", FILE_SIZE);
}

static const struct client_question *choose(uint64_t *random)
{
	(void)random;
	return &question;
}

static int measure(const void *arg, double *values)
{
	struct client_result r;
	int err = web_measure(arg, &r);

	if (err < 0)
		return err;
	values[RATE] = r.requests_per_s / 1e3;
	values[CPU] = r.cpu_us;
	values[P99] = r.p99_us / 1e3;
	return 0;
}

static int simulate(const void *arg, double *values)
{
	values[RATE] = sim_web_run(arg) / 1e3;
	return 0;
}

/* What the text says; the figure itself has more. */
static void add_paper(void)
{
	static const struct {
		const char *label, *who;
		double relative;
	} figures[] = {
		{ "8 cores, stealing off", "Libasync-smp", 1 },
		{ "8 cores, stealing, at worst", "Libasync-smp", 0.67 },
		{ "8 cores, stealing off, at worst", "Mely", 0.80 },
		{ "8 cores, stealing off, at best", "Mely", 0.93 },
		{ "8 cores, stealing all, at best", "Mely", 1.25 },
	};

	for (int i = 0; i < BENCH_COUNT(figures); i++) {
		double values[METRICS] = { NAN, NAN, NAN, figures[i].relative };

		bench_add_paper(figures[i].label, figures[i].who, values);
	}
}

/* In the place of Mely's peers, Apache and the userver. */
static const int peers[] = { SITE_NGINX, SITE_APACHE };

/* A group of rows is compared with its first: each kind of stealing, copies, peers. */
enum { COPIES = BENCH_COUNT(steals), PEERS, ROWS = PEERS + BENCH_COUNT(peers) };
struct group {
	struct bench_row *rows[ROWS];
};

static void add_clients(int count, struct web_case *cases, struct group *g)
{
	struct client_load load = { .connections = count,
				    .warm_s = 0.5,
				    .seconds = bench_seconds(1.5),
				    .choose = choose,
				    .per_connection = PER_CONNECTION };
	int cpus = bench_cpus() < ECHO_LOOPS_MAX ? bench_cpus() : ECHO_LOOPS_MAX;
	char label[64];

	for (int s = 0; s < BENCH_COUNT(steals); s++) {
		cases[s] = (struct web_case){ .steal = steals[s],
					      .load = load,
					      .add_files = add_files };
		snprintf(label, sizeof label, "%d clients, stealing %s", count, steals[s]);
		g->rows[s] = web_add(label, &cases[s], measure);
	}
	cases[COPIES] = (struct web_case){
		.workers = 1, .copies = cpus, .load = load, .add_files = add_files
	};
	snprintf(label, sizeof label, "%d clients, %d copies", count, cpus);
	g->rows[COPIES] = web_add(label, &cases[COPIES], measure);
	snprintf(label, sizeof label, "%d clients", count);
	for (int p = 0; p < BENCH_COUNT(peers); p++) {
		cases[PEERS + p] = (struct web_case){ .server = peers[p],
						      .load = load,
						      .add_files = add_files };
		g->rows[PEERS + p] = web_add(label, &cases[PEERS + p], measure);
	}
}

static void add_virtual(enum sim_web_kind kind, const char *name, struct sim_web *settings,
			struct group *g)
{
	char label[64];

	for (int s = 0; s < BENCH_COUNT(steals); s++) {
		settings[s] = (struct sim_web){ kind, VIRTUAL_CORES, VIRTUAL_CLIENTS, steals[s],
						PER_CONNECTION };
		snprintf(label, sizeof label, "%d virtual cores, %s, stealing %s", VIRTUAL_CORES,
			 name, steals[s]);
		g->rows[s] = bench_add(label, "weft", simulate, &settings[s]);
	}
}

int bench_web_steal(void)
{
	enum { REAL = BENCH_COUNT(clients), GROUPS = REAL + 3 };
	static struct web_case cases[REAL][ROWS];
	static struct sim_web settings[3][BENCH_COUNT(steals)];
	struct group groups[GROUPS] = { 0 };
	const struct bench_plan plan = {
		.name = "web-steal",
		.work = "clients ask for a file of 1 KB, 150 times on a connection, and never "
			"pause (Mely, figure 7);\nclients and server share all CPUs: judge by "
			"server CPU",
		.metrics = { [RATE] = { "throughput", "Kreq/s", BENCH_HIGHER },
			     [CPU] = { "server CPU", "us/request", BENCH_LOWER },
			     [P99] = { "p99", "ms", BENCH_LOWER },
			     [RELATIVE] = { "relative", "x off", BENCH_HIGHER } },
		.metric_count = METRICS,
		.repeats = 3,
	};

	bench_begin(&plan);
	for (int i = 0; i < REAL; i++)
		add_clients(clients[i], cases[i], &groups[i]);
	add_virtual(SIM_WEB_RINGS, "httpd", settings[0], &groups[REAL]);
	add_virtual(SIM_WEB_SWS, "SWS", settings[1], &groups[REAL + 1]);
	add_virtual(SIM_WEB_SFS, "SFS", settings[2], &groups[REAL + 2]);
	add_paper();
	bench_run();
	for (int i = 0; i < GROUPS; i++)
		for (int s = 0; s < ROWS; s++)
			bench_relate(groups[i].rows[s], RELATIVE, groups[i].rows[0], RATE);
	return bench_end();
}
