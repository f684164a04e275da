/* site.c - directories, configurations and processes of web servers. */
#include "site.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads.h"

#ifndef WEFT_HTTPD
#define WEFT_HTTPD "weft-httpd"
#endif

/* Programs of bench/peers. */
#define PEERS "peers/"

enum { LARGEST = 1 << 20 };

const struct site_server site_servers[SITE_SERVERS] = {
	[SITE_WEFT] = { "weft",
			WEFT_HTTPD,
			NULL,
			{ "--root", "@root", "--listen", "@listen", "--max-per-address", "0" } },
	[SITE_NGINX] = { "nginx", "nginx", "nginx.conf", { "-c", "@config" } },
	[SITE_APACHE] = { "Apache",
			  "apache2",
			  "apache2.conf",
			  { "-D", "FOREGROUND", "-f", "@config" } },
	[SITE_LIGHTTPD] = { "lighttpd", "lighttpd", "lighttpd.conf", { "-D", "-f", "@config" } },
	[SITE_H2O] = { "h2o", "h2o", "h2o.conf", { "-c", "@config" } },
	[SITE_GO] = { "Go net/http", PEERS "weft-bench-files-go", NULL, { "@root", "@listen" } },
	[SITE_UV] = { "libuv", PEERS "weft-bench-files-uv", NULL, { "@root", "@listen" } },
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

int site_add_file(const struct site *s, const char *name, size_t size)
{
	static char data[LARGEST];
	char path[2 * SITE_PATH];

	if (size > sizeof data)
		return -E2BIG;
	memset(data, 'x', size);
	snprintf(path, sizeof path, "%s/%s", s->root, name);
	for (char *slash = path + strlen(s->root) + 1; (slash = strchr(slash, '/')) != NULL;) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash++ = '/';
	}
	return write_file(path, data, size);
}

/* Puts what the words between @ mean into a line. */
static void fill_in(const struct site *s, const char *line, FILE *out)
{
	const char *at, *end;

	while ((at = strchr(line, '@')) != NULL && (end = strchr(at + 1, '@')) != NULL) {
		fprintf(out, "%.*s", (int)(at - line), line);
		if (strncmp(at, "@DIRECTORY@", 11) == 0)
			fputs(s->directory, out);
		else if (strncmp(at, "@PORT@", 6) == 0)
			fprintf(out, "%d", s->port);
		else if (strncmp(at, "@FILES@", 7) == 0)
			fprintf(out, "%ld", bench_raise_files());
		else if (strncmp(at, "@THREADS@", 9) == 0)
			fprintf(out, "%d", 256 * s->workers);
		else
			fprintf(out, "%d", s->workers);
		line = end + 1;
	}
	fputs(line, out);
}

static int write_config(const struct site *s)
{
	char path[600], line[256];
	FILE *in, *out;

	peers_path(s->server->config, path, sizeof path);
	in = fopen(path, "r");
	out = in != NULL ? fopen(s->config, "w") : NULL;
	if (out == NULL)
		return bench_fail("%s cannot be filled in: %s", path, strerror(errno));
	while (fgets(line, sizeof line, in) != NULL)
		fill_in(s, line, out);
	fclose(in);
	return fclose(out) == 0 ? 0 : -EIO;
}

int site_make(struct site *s, const struct site_server *server, int workers)
{
	*s = (struct site){ .server = server, .workers = workers, .pin = -1 };
	if (workers == 0)
		s->workers = bench_cpus();
	strcpy(s->directory, "/tmp/weft-bench-XXXXXX");
	if (mkdtemp(s->directory) == NULL || chmod(s->directory, 0755) < 0)
		return bench_fail("no directory: %s", strerror(errno));
	s->port = find_port();
	snprintf(s->root, sizeof s->root, "%s/root", s->directory);
	snprintf(s->config, sizeof s->config, "%s/config", s->directory);
	mkdir(s->root, 0755);
	return server->config != NULL ? write_config(s) : 0;
}

static const char *find_program(const struct site_server *server, char *path, size_t size)
{
	if (strncmp(server->program, PEERS, strlen(PEERS)) != 0)
		return server->program;
	peers_path(server->program + strlen(PEERS), path, size);
	return path;
}

/* Where servers are, and not in everybody's PATH. */
static void look_in_sbin(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s:/usr/sbin", getenv("PATH") ? getenv("PATH") : "");
	setenv("PATH", path, 1);
}

/* Settings of the runtime come by the environment. */
static void set_runtime(const struct site *s)
{
	char workers[16];

	snprintf(workers, sizeof workers, "%d", s->workers);
	setenv("WEFT_WORKERS", workers, 1);
	if (s->steal != NULL)
		setenv("WEFT_STEAL", s->steal, 1);
}

static void become_server(const void *arg)
{
	const struct site *s = arg;
	const struct site_server *who = s->server;
	char program[600], address[32], log[SITE_PATH];
	const char *argv[16] = { find_program(who, program, sizeof program) };
	int n = 1;

	setsid(); /* some end all of their group */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	bench_raise_files();
	look_in_sbin();
	set_runtime(s);
	if (s->pin >= 0)
		bench_pin(s->pin);
	snprintf(address, sizeof address, "127.0.0.1:%d", s->port);
	snprintf(log, sizeof log, "%s/output", s->directory);
	for (int i = 0; i < BENCH_COUNT(who->arguments) && who->arguments[i] != NULL; i++) {
		const char *a = who->arguments[i];

		a = strcmp(a, "@root") == 0 ? s->root : a;
		a = strcmp(a, "@config") == 0 ? s->config : a;
		argv[n++] = strcmp(a, "@listen") == 0 ? address : a;
	}
	if (freopen(log, "w", stdout) != NULL)
		dup2(STDOUT_FILENO, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
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

int site_start(struct site *s)
{
	s->pid = bench_spawn(become_server, s);
	if (s->pid < 0)
		return s->pid;
	for (int i = 0; i < 500; i++) {
		if (answers(s->port))
			return 0;
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
			s->pid = 0;
			return bench_fail("the server ended by itself");
		}
		usleep(10000);
	}
	return bench_fail("the server does not answer");
}

/* Its processes are those of its session: not each of them waits for its children. */
static double sum_of_all(const struct site *s, double (*of)(const char *pid, int session))
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	double sum = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			sum += of(entry->d_name, s->pid);
	if (dir != NULL)
		closedir(dir);
	return sum;
}

/* CPU time of a process and of its children that have ended, if it is of that session; else
 * 0. */
static double seconds_of(const char *pid, int session)
{
	char path[300], text[512];
	unsigned long user = 0, system = 0, children = 0, kernel = 0;
	const char *at;
	int of = -1;
	FILE *in;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	in = fopen(path, "r");
	if (in == NULL)
		return 0;
	at = fgets(text, sizeof text, in) != NULL ? strrchr(text, ')') : NULL;
	if (at != NULL)
		sscanf(at, ") %*c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &of,
		       &user, &system, &children, &kernel);
	fclose(in);
	if (of != session)
		return 0;
	return (double)(user + system + children + kernel) / (double)sysconf(_SC_CLK_TCK);
}

double site_cpu(const struct site *s)
{
	return sum_of_all(s, seconds_of);
}

static double memory_of(const char *pid, int session)
{
	char path[300], line[256];
	double sum = 0;
	FILE *in;

	if (getsid((pid_t)strtol(pid, NULL, 10)) != session)
		return 0;
	snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
	in = fopen(path, "r");
	while (in != NULL && fgets(line, sizeof line, in) != NULL)
		if (strncmp(line, "Pss:", 4) == 0)
			sum = strtod(line + 4, NULL) * 1024;
	if (in != NULL)
		fclose(in);
	return sum;
}

double site_memory(const struct site *s)
{
	return sum_of_all(s, memory_of);
}

static void remove_site(const struct site *s)
{
	char command[SITE_PATH];

	snprintf(command, sizeof command, "rm -rf '%s'", s->directory);
	if (system(command) != 0)
		fprintf(stderr, "weft-bench: cannot remove %s\n", s->directory);
}

int site_stop(struct site *s, int result)
{
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		if (waitpid(s->pid, NULL, 0) != s->pid && result == 0)
			result = bench_fail("the server ended by itself");
	}
	remove_site(s);
	return result;
}

static bool is_there(const char *program)
{
	char command[700];

	snprintf(command, sizeof command, "PATH=$PATH:/usr/sbin command -v '%s' >/dev/null",
		 program);
	return system(command) == 0;
}

const char *site_missing(const struct site_server *server)
{
	char path[600];

	return is_there(find_program(server, path, sizeof path)) ? NULL : "it is not installed";
}
