/* web_pauses.c - Capriccio's web servers (figure 9): more and more clients that connect, ask
 * five times with pauses of 20 ms, and connect anew; files as SPECweb99 has them.
 */
#include <math.h>
#include <stdio.h>

#include "web.h"

enum { DIRECTORIES = 8, CLASSES = 4, FILES = 9, PER_CONNECTION = 5, OTHER_FILES = 200 };
enum { BANDWIDTH, RATE, CPU, P99, FAILED, RELATIVE, METRICS };

static const int clients[] = { 16, 64, 256, 1024, 4096, 16384 };
static const int servers[] = { SITE_WEFT, SITE_NGINX, SITE_APACHE };
#define COUNTS BENCH_COUNT(clients)
#define SERVERS BENCH_COUNT(servers)

/* How often a directory has a file asked for, a class of sizes, and a file of a class. */
static const double by_directory[] = { 1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8 };
static const double by_class[] = { 0.35, 0.50, 0.14, 0.01 };
static const double by_file[] = { 0.039, 0.059, 0.088, 0.177, 0.353, 0.118, 0.071, 0.050, 0.045 };

static struct client_question questions[DIRECTORIES][CLASSES][FILES];

static int add_files(const struct site *site)
{
	char path[64];
	int err = 0;

	for (int i = 0; i < DIRECTORIES * CLASSES * FILES && err == 0; i++) {
		int directory = i / FILES / CLASSES, class = i / FILES % CLASSES, file = i % FILES;
		double size = 102.4 * (file + 1);

		for (int c = 0; c < class; c++)
			size *= 10;
		snprintf(path, sizeof path, "dir%05d/class%d_%d", directory, class, file + 1);
		questions[directory][class][file] = web_question(path, (int)size);
		err = site_add_file(site, path, (size_t)size);
	}
	return err;
}

static int pick(const double *parts, int count, uint64_t *random)
{
	double sum = 0, at;
	int i = 0;

	for (int k = 0; k < count; k++)
		sum += parts[k];
	at = sum * bench_random(random) / 0x80000000u;
	while (i < count - 1 && (at -= parts[i]) >= 0)
		i++;
	return i;
}

static const struct client_question *choose(uint64_t *random)
{
	int directory = pick(by_directory, DIRECTORIES, random);
	int class = pick(by_class, CLASSES, random);

	return &questions[directory][class][pick(by_file, FILES, random)];
}

static int measure(const void *arg, double *values)
{
	struct client_result r;
	int err = web_measure(arg, &r);

	if (err < 0)
		return err;
	values[BANDWIDTH] = r.bytes_per_s * 8 / 1e6;
	values[RATE] = r.requests_per_s / 1e3;
	values[CPU] = r.cpu_us;
	values[P99] = r.p99_us / 1e3;
	values[FAILED] = 100 * r.failed;
	return 0;
}

static const struct bench_plan plan = {
	.name = "web-pauses",
	.work = "clients connect, ask for five files with pauses of 20 ms, and connect anew "
		"(Capriccio, figure 9);\nsizes as SPECweb99 has them, all in memory; clients and "
		"server share all CPUs",
	.metrics = { [BANDWIDTH] = { "bandwidth", "Mbit/s", BENCH_HIGHER },
		     [RATE] = { "throughput", "Kreq/s", BENCH_HIGHER },
		     [CPU] = { "server CPU", "us/request", BENCH_LOWER },
		     [P99] = { "p99", "ms", BENCH_LOWER },
		     [FAILED] = { "failed", "%", BENCH_LOWER },
		     [RELATIVE] = { "relative", "x Apache", BENCH_HIGHER } },
	.metric_count = METRICS,
	.repeats = 3,
};

static void derive(struct bench_row *const (*rows)[SERVERS])
{
	struct bench_row *of_one[COUNTS];
	char label[64];

	for (int s = 0; s < SERVERS; s++) {
		for (int i = 0; i < COUNTS; i++) {
			of_one[i] = rows[i][s];
			bench_relate(rows[i][s], RELATIVE, rows[i][SERVERS - 1], BANDWIDTH);
		}
		snprintf(label, sizeof label, "bandwidth of %s with most clients, of its best",
			 site_servers[servers[s]].name);
		bench_ratio(label, of_one[COUNTS - 1],
			    of_one[bench_pick(of_one, COUNTS, BANDWIDTH, BENCH_HIGHER)], BANDWIDTH,
			    BENCH_HIGHER, s == 0 ? "above 0.9" : "");
	}
}

int bench_web_pauses(void)
{
	static struct web_case cases[COUNTS][SERVERS];
	static const double on_capriccio[METRICS] = { NAN, NAN, NAN, NAN, NAN, 1.15 };
	struct bench_row *rows[COUNTS][SERVERS];
	long files = bench_raise_files() - OTHER_FILES;
	char label[64];

	bench_begin(&plan);
	for (int i = 0; i < COUNTS; i++) {
		int count = clients[i] < files ? clients[i] : (int)files;

		snprintf(label, sizeof label, "%d clients", count);
		for (int s = 0; s < SERVERS; s++) {
			cases[i][s] = (struct web_case){
				.server = servers[s],
				.load = { .connections = count,
					  .warm_s = 1 + count / CLIENT_CONNECTS_PER_S,
					  .seconds = bench_seconds(1.5),
					  .choose = choose,
					  .per_connection = PER_CONNECTION,
					  .pause_s = 0.02 },
				.add_files = add_files,
			};
			rows[i][s] = web_add(label, &cases[i][s], measure);
		}
	}
	bench_add_paper("4 cores, the best", "Apache on Capriccio", on_capriccio);
	bench_run();
	derive(rows);
	return bench_end();
}
