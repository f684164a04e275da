/* httpd.c - weft-httpd beside other web servers, asked by wrk: requests for each second of
 * CPU time that the server uses, requests a second, and the slowest of a hundred.
 *
 * Servers and client are programs that are looked for in PATH. All servers have a worker
 * for each CPU, serve the same files and write no log.
 */
#include "bench.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WEFT_HTTPD
#define WEFT_HTTPD "weft-httpd"
#endif

enum { SMALL = 1024, LARGE = 1 << 20, CONFIGURATION = 4096, PATH_MOST = 128 };

/* A server that was made ready in a directory of its own. */
struct site {
	char directory[32], root[PATH_MOST], config[PATH_MOST];
	int port;
};

struct contender {
	const char *name, *program;
	/* The file that it is given, with %1$s the directory, %2$d the port. */
	const char *config;
	/* Its arguments: "@config", "@root" and "@listen" stand for what they say. */
	const char *arguments[12];
};

static const struct contender contenders[] = {
	{ "weft",
	  WEFT_HTTPD,
	  NULL,
	  { "--root", "@root", "--listen", "@listen", "--max-per-address", "0" } },
	{ "nginx",
	  "nginx",
	  "worker_processes auto; daemon off; pid %1$s/pid; error_log %1$s/error crit;\n"
	  "worker_rlimit_nofile 20000; events { worker_connections 9000; }\n"
	  "http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n"
	  "open_file_cache max=1000 inactive=60s;\n"
	  "client_body_temp_path %1$s/t1; proxy_temp_path %1$s/t2; fastcgi_temp_path %1$s/t3;\n"
	  "uwsgi_temp_path %1$s/t4; scgi_temp_path %1$s/t5;\n"
	  "server { listen 127.0.0.1:%2$d; root %1$s/root; } }\n",
	  { "-c", "@config" } },
	{ "lighttpd",
	  "lighttpd",
	  "server.document-root = \"%1$s/root\"\nserver.bind = \"127.0.0.1\"\n"
	  "server.port = %2$d\nserver.max-worker = 2\nserver.max-fds = 9000\n"
	  "server.max-keep-alive-requests = 1000000000\n",
	  { "-D", "-f", "@config" } },
	{ "h2o",
	  "h2o",
	  "num-threads: 2\nlisten: { host: 127.0.0.1, port: %2$d }\nhosts:\n  default:\n    "
	  "paths:\n      /:\n"
	  "        file.dir: %1$s/root\n",
	  { "-c", "@config" } },
	{ "Apache",
	  "apache2",
	  "ServerRoot %1$s\nPidFile %1$s/pid\nErrorLog %1$s/error\nListen 127.0.0.1:%2$d\n"
	  "ServerName x\nDocumentRoot %1$s/root\nMaxKeepAliveRequests 0\n"
	  "User www-data\nGroup www-data\nDefaultRuntimeDir %1$s\nMutex file:%1$s\n"
	  "LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\n"
	  "LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n",
	  { "-D", "FOREGROUND", "-f", "@config" } },
};

static const struct load {
	const char *label, *path;
	int connections;
	bool closes;
} loads[] = {
	{ "1 KB, 64 connections", "/small", 64, false },
	{ "1 KB, 1,000 connections", "/small", 1000, false },
	{ "1 KB, a connection each", "/small", 64, true },
	{ "1 MB, 16 connections", "/large", 16, false },
};

struct work {
	const struct contender *who;
	const struct load *load;
};

static int write_file(const char *path, const void *data, size_t size)
{
	FILE *out = fopen(path, "w");

	if (out == NULL)
		return bench_fail("%s: %s", path, strerror(errno));
	fwrite(data, 1, size, out);
	return fclose(out) == 0 ? 0 : -EIO;
}

/* A port that is free now. */
static int find_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	bind(fd, (struct sockaddr *)&address, sizeof address);
	getsockname(fd, (struct sockaddr *)&address, &size);
	close(fd);
	return ntohs(address.sin_port);
}

static int make_site(struct site *s, const struct contender *who)
{
	static char data[LARGE];
	char path[PATH_MOST + 16], config[CONFIGURATION];
	int n;

	strcpy(s->directory, "/tmp/weft-bench-XXXXXX");
	if (mkdtemp(s->directory) == NULL || chmod(s->directory, 0755) < 0)
		return bench_fail("no directory: %s", strerror(errno));
	s->port = find_port();
	snprintf(s->root, sizeof s->root, "%s/root", s->directory);
	snprintf(s->config, sizeof s->config, "%s/config", s->directory);
	mkdir(s->root, 0755);
	memset(data, 'x', sizeof data);
	snprintf(path, sizeof path, "%s/small", s->root);
	write_file(path, data, SMALL);
	snprintf(path, sizeof path, "%s/large", s->root);
	write_file(path, data, LARGE);
	if (who->config == NULL)
		return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	n = snprintf(config, sizeof config, who->config, s->directory, s->port);
#pragma GCC diagnostic pop
	return write_file(s->config, config, (size_t)n);
}

static void remove_site(const struct site *s)
{
	char command[PATH_MOST];

	snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
	if (system(command) != 0)
		fprintf(stderr, "weft-bench: cannot remove %s\n", s->directory);
}

struct start {
	const struct contender *who;
	const struct site *site;
};

/* Where servers are, and not in everybody's PATH. */
static void look_in_sbin(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s:/usr/sbin", getenv("PATH") ? getenv("PATH") : "");
	setenv("PATH", path, 1);
}

static void become_server(const void *arg)
{
	const struct start *start = arg;
	const struct contender *who = start->who;
	char *argv[16] = { (char *)(uintptr_t)who->program }, address[32], log[PATH_MOST];
	int n = 1;

	setsid(); /* some end all of their group */
	bench_raise_files();
	look_in_sbin();
	snprintf(address, sizeof address, "127.0.0.1:%d", start->site->port);
	snprintf(log, sizeof log, "%s/output", start->site->directory);
	for (int i = 0; i < BENCH_COUNT(who->arguments) && who->arguments[i] != NULL; i++) {
		const char *a = who->arguments[i];

		a = strcmp(a, "@root") == 0 ? start->site->root : a;
		a = strcmp(a, "@config") == 0 ? start->site->config : a;
		a = strcmp(a, "@listen") == 0 ? address : a;
		argv[n++] = (char *)(uintptr_t)a;
	}
	if (freopen(log, "w", stdout) != NULL)
		dup2(STDOUT_FILENO, STDERR_FILENO);
	execvp(who->program, argv);
	_exit(127);
}

static bool answers(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool good = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;

	close(fd);
	return good;
}

static int await(int pid, int port)
{
	for (int i = 0; i < 500; i++) {
		if (answers(port))
			return 0;
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return bench_fail("the server ended by itself");
		usleep(10000);
	}
	return bench_fail("the server does not answer");
}

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
		 load->connections, bench_seconds(3), load->closes ? "-H 'Connection: close'" : "",
		 port, load->path);
	in = popen(line, "r");
	if (in == NULL)
		return bench_fail("wrk: %s", strerror(errno));
	while (fgets(line, sizeof line, in) != NULL) {
		if (strstr(line, " requests in ") != NULL)
			values[0] = strtod(line, NULL);
		else if ((at = strstr(line, "99%")) != NULL)
			values[2] = read_time(at + 3);
		else if ((at = strstr(line, "Requests/sec:")) != NULL)
			values[1] = strtod(at + 13, NULL);
		else if (strstr(line, "Non-2xx") != NULL)
			values[0] = -1;
	}
	if (pclose(in) != 0 || !(values[0] > 0))
		return bench_fail("wrk has no good answers to tell of");
	return 0;
}

/* CPU time of a process, if it is of that session; else 0. */
static double seconds_of(const char *pid, int session)
{
	char path[300], text[512];
	unsigned long user = 0, system = 0;
	const char *at;
	int of = -1;
	FILE *in;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	in = fopen(path, "r");
	if (in == NULL)
		return 0;
	at = fgets(text, sizeof text, in) != NULL ? strrchr(text, ')') : NULL;
	if (at != NULL)
		sscanf(at, ") %*c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &of, &user,
		       &system);
	fclose(in);
	return of == session ? (double)(user + system) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* Of all processes of a server: not each of them waits for its children. */
static double cpu_seconds(int session)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	double sum = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			sum += seconds_of(entry->d_name, session);
	if (dir != NULL)
		closedir(dir);
	return sum;
}

static int measure(const void *arg, double *values)
{
	const struct work *work = arg;
	struct site site;
	struct start start = { work->who, &site };
	double got[3] = { NAN, NAN, NAN }, cpu;
	int pid, rc = make_site(&site, work->who);

	if (rc < 0)
		return rc;
	pid = bench_spawn(become_server, &start);
	rc = await(pid, site.port);
	if (rc == 0)
		rc = run_wrk(work->load, site.port, got);
	cpu = cpu_seconds(pid);
	kill(pid, SIGTERM);
	if (waitpid(pid, NULL, 0) != pid && rc == 0)
		rc = bench_fail("the server ended by itself");
	remove_site(&site);
	if (rc < 0)
		return rc;
	values[0] = got[0] / cpu;
	values[1] = got[1];
	values[2] = got[2];
	return 0;
}

static bool is_there(const char *program)
{
	char command[512];

	snprintf(command, sizeof command, "PATH=$PATH:/usr/sbin command -v '%s' >/dev/null",
		 program);
	return system(command) == 0;
}

int bench_httpd(void)
{
	static struct work works[BENCH_COUNT(loads)][BENCH_COUNT(contenders)];
	struct bench_row *rows[BENCH_COUNT(loads)][2] = { 0 };
	const struct bench_plan plan = {
		.name = "httpd",
		.work = "web servers with a worker for each CPU, asked by wrk",
		.metrics = { { "per CPU second", "requests", BENCH_HIGHER },
			     { "per second", "requests", BENCH_HIGHER },
			     { "p99", "ms", BENCH_LOWER } },
		.metric_count = 3,
		.repeats = 3,
	};

	bench_begin(&plan);
	for (int l = 0; l < BENCH_COUNT(loads); l++) {
		for (int c = 0; c < BENCH_COUNT(contenders); c++) {
			const struct contender *who = &contenders[c];
			struct bench_row *row;

			works[l][c] = (struct work){ who, &loads[l] };
			if (!is_there(who->program) || !is_there("wrk")) {
				bench_add_missing(loads[l].label, who->name,
						  is_there("wrk") ? "it is not installed"
								  : "wrk is not installed");
				continue;
			}
			row = bench_add(loads[l].label, who->name, measure, &works[l][c]);
			if (c < 2)
				rows[l][c] = row;
		}
	}
	bench_run();
	for (int l = 0; l < BENCH_COUNT(loads); l++)
		if (rows[l][0] != NULL && rows[l][1] != NULL)
			bench_derive(loads[l].label,
				     bench_value(rows[l][0], 0) / bench_value(rows[l][1], 0),
				     "times nginx, per CPU second", BENCH_HIGHER, "above 1");
	return bench_end();
}
