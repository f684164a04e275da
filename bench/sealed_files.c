/* sealed_files.c - what colors bring to a server that is busy with cryptography: clients
 * read a file that is in the server's page cache, as fast as they get it (libasync-mp,
 * figure 5-5).
 */
#include "sealed_files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key.h"
#include "server.h"

enum { CLIENTS = 16, SERVERS_MAX = 2 };
enum { THROUGHPUT, SERVER_CPU, CLIENT_CPU, SPEEDUP, METRICS };

struct sealed_case {
	const char *label, *io;
	int workers, copies;
	bool serial;
};

static const struct sealed_case kinds[] = {
	{ "1 worker, serial", NULL, 1, 1, true },
	{ "2 workers, all in one color", NULL, 2, 1, true },
	{ "1 worker, a color for each client", NULL, 1, 1, false },
	{ "2 workers, a color for each client", NULL, 2, 1, false },
	{ "2 serial servers, 8 clients each", NULL, 1, 2, true },
};
enum { SERIAL, ONE_COLOR, ONE_WORKER, COLORS, COPIES };
static const char *const backends[] = { "uring", "epoll" };

/* A directory with the file and the key. */
static char site[32];

static void site_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", site, name);
}

static int make_file(const char *path)
{
	FILE *out = fopen(path, "w");

	if (out == NULL)
		return -errno;
	for (uint64_t i = 0; i < SEALED_FILE_SIZE; i++)
		putc_unlocked(sealed_byte(i), out);
	return fclose(out) == 0 ? 0 : -EIO;
}

static int make_site(uint8_t *key)
{
	char path[64];
	int rc;

	strcpy(site, "/tmp/weft-bench-XXXXXX");
	if (mkdtemp(site) == NULL)
		return -errno;
	site_path(path, sizeof path, SEALED_CLIENT);
	rc = key_make(path);
	if (rc == 0)
		rc = key_load(path, key);
	site_path(path, sizeof path, SEALED_FILE);
	return rc == 0 ? make_file(path) : rc;
}

static void remove_site(void)
{
	static const char *const names[] = { SEALED_CLIENT, SEALED_FILE };
	char path[64];

	for (int i = 0; i < BENCH_COUNT(names); i++) {
		site_path(path, sizeof path, names[i]);
		unlink(path);
	}
	rmdir(site);
}

static int start_server(const struct sealed_case *c, struct server *server)
{
	const char *arguments[] = { WEFT_SEALED_FILES,
				    "--listen",
				    "127.0.0.1:0",
				    "--root",
				    site,
				    "--keys",
				    site,
				    c->serial ? "--serial" : NULL,
				    NULL };
	struct server_program program = { arguments, "weft-sealed-files: 127.0.0.1:%d", c->io,
					  c->workers };

	return server_start_program(server, &program);
}

static int load(const struct sealed_case *c, struct server *servers, const uint8_t *key,
		struct sealed_result *result)
{
	struct sealed_load loads[SERVERS_MAX];
	int pids[SERVERS_MAX];

	for (int i = 0; i < c->copies; i++) {
		int rc = start_server(c, &servers[i]);

		if (rc < 0)
			return rc;
		loads[i] = (struct sealed_load){ servers[i].port, CLIENTS / c->copies,
						 bench_seconds(2) };
		pids[i] = servers[i].pid;
	}
	return sealed_load_run(loads, pids, c->copies, key, result);
}

static int measure(const void *arg, double *values)
{
	const struct sealed_case *c = arg;
	struct server servers[SERVERS_MAX];
	struct sealed_result result;
	uint8_t key[SEAL_KEY];
	int rc = make_site(key);

	if (rc == 0)
		rc = load(c, servers, key, &result);
	remove_site();
	if (rc < 0)
		return rc;
	values[THROUGHPUT] = result.bytes / bench_seconds(2) / 1e6;
	values[SERVER_CPU] = result.server_cpu / result.bytes * 1e3;
	values[CLIENT_CPU] = result.client_cpu / result.bytes * 1e3;
	for (int i = 0; i < c->copies; i++)
		rc = server_stop(&servers[i], rc);
	return rc;
}

static void paper(void)
{
	static const double values[4][METRICS] = {
		{ NAN, NAN, NAN, 0.95 },
		{ NAN, NAN, NAN, 1.62 },
		{ NAN, NAN, NAN, 2.18 },
		{ NAN, NAN, NAN, 2.55 },
	};
	char label[64];

	for (int i = 0; i < 4; i++) {
		snprintf(label, sizeof label, "%d CPU%s, cryptography in colors", i + 1,
			 i > 0 ? "s" : "");
		bench_add_paper(label, "SFS, libasync-mp", values[i]);
	}
}

static const struct bench_plan plan = {
	.name = "sealed-files",
	.work = "the encrypted file server of apps/sealed-files: 16 clients read a cached file of\n"
		"32 MB in pieces of 64 KB, 16 under way each; the clients share the CPUs, open "
		"one\n"
		"reply of 256 and throw the others away unread; speed-ups are over 1 worker, "
		"serial",
	.metrics = { [THROUGHPUT] = { "throughput", "MB/s", BENCH_HIGHER },
		     [SERVER_CPU] = { "server CPU", "us/MB", BENCH_LOWER },
		     [CLIENT_CPU] = { "client CPU", "us/MB", BENCH_LOWER },
		     [SPEEDUP] = { "speed-up", "x", BENCH_HIGHER } },
	.metric_count = METRICS,
	.repeats = 5,
};

static void derive(struct bench_row *const rows[], const char *io)
{
	char label[96];

	snprintf(label, sizeof label, "speed-up of 2 workers, all in one color, %s", io);
	bench_ratio(label, rows[ONE_COLOR], rows[SERIAL], THROUGHPUT, BENCH_HIGHER, "");
	snprintf(label, sizeof label, "speed-up of 2 workers, a color for each client, %s", io);
	bench_ratio(label, rows[COLORS], rows[SERIAL], THROUGHPUT, BENCH_HIGHER, "at least 1.8");
	snprintf(label, sizeof label, "the same / 2 serial servers, %s", io);
	bench_ratio(label, rows[COLORS], rows[COPIES], THROUGHPUT, BENCH_HIGHER, "");
}

int bench_sealed_files(void)
{
	static struct sealed_case cases[BENCH_COUNT(backends)][BENCH_COUNT(kinds)];
	struct bench_row *rows[BENCH_COUNT(backends)][BENCH_COUNT(kinds)];
	char label[64];

	bench_begin(&plan);
	for (int b = 0; b < BENCH_COUNT(backends); b++)
		for (int k = 0; k < BENCH_COUNT(kinds); k++) {
			cases[b][k] = kinds[k];
			cases[b][k].io = backends[b];
			snprintf(label, sizeof label, "%s, %s", kinds[k].label, backends[b]);
			rows[b][k] = server_add_weft(label, backends[b], measure, &cases[b][k]);
		}
	sealed_sim_add(SPEEDUP);
	paper();
	bench_run();
	for (int b = 0; b < BENCH_COUNT(backends); b++)
		if (rows[b][SERIAL] != NULL)
			derive(rows[b], backends[b]);
	sealed_sim_derive(SPEEDUP);
	return bench_end();
}
