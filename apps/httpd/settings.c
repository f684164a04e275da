/* settings.c - the flags. */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

struct settings settings = {
	.listen = "127.0.0.1:8080",
	.status = "local",
	.max_per_address = 1024,
	.max_head = 16384,
	.max_headers = REQUEST_HEADERS_MAX,
	.max_body = 1048576,
	.head_time = 10000,
	.idle_time = 60000,
	.body_time = 30000,
	.send_time = 30000,
	.stop_time = 10000,
	.queue_time = 1000,
	.cache_size = 64 << 20,
	.cache_file = 65536,
	.cache_time = 1000,
};

/* A flag has either a text or a number, or nothing and is a switch. */
struct flag {
	const char *name, *value, *help;
	const char **text;
	uint64_t *number, least, most;
	bool *given;
};

static const struct flag flags[] = {
	{ "listen", "ADDRESS", "where: 127.0.0.1:8080, [::]:80, :80 (every IPv4 address)",
	  .text = &settings.listen, .given = &settings.port_given },
	{ "listen-tls", "ADDRESS", "where encrypted connections come",
	  .text = &settings.listen_tls },
	{ "certificate", "FILE", "the server's certificate and those above it, PEM",
	  .text = &settings.certificate },
	{ "key", "FILE", "its private key, PEM", .text = &settings.key },
	{ "root", "DIRECTORY", "serve the files below it; without, pages of the demo",
	  .text = &settings.root },
	{ "user", "NAME", "become this user once the sockets are open", .text = &settings.user },
	{ "access-log", "FILE", "a line for each request; - is standard output",
	  .text = &settings.access_log },
	{ "status", "WHO", "who may see /_status: none, local or all", .text = &settings.status },
	{ "max-connections", "N", "at one time; more get 503 (0: as descriptors allow)",
	  .number = &settings.max_connections, .most = 10000000 },
	{ "max-per-address", "N", "connections of one address, or IPv6 /64 (0: any)",
	  .number = &settings.max_per_address, .most = 10000000 },
	{ "max-requests", "N", "on one connection (0: any)", .number = &settings.max_requests,
	  .most = UINT32_MAX },
	{ "max-head", "BYTES", "of a request's line and headers", .number = &settings.max_head,
	  .least = 512, .most = 1048576 },
	{ "max-headers", "N", "of one request", .number = &settings.max_headers, .least = 1,
	  .most = REQUEST_HEADERS_MAX },
	{ "max-body", "BYTES", "of a request's body", .number = &settings.max_body,
	  .most = INT64_MAX },
	{ "head-time", "MS", "for a head to come, from its first byte",
	  .number = &settings.head_time, .least = 1, .most = UINT32_MAX },
	{ "idle-time", "MS", "between requests", .number = &settings.idle_time, .least = 1,
	  .most = UINT32_MAX },
	{ "body-time", "MS", "for each 64 KiB of a body to come", .number = &settings.body_time,
	  .least = 1, .most = UINT32_MAX },
	{ "send-time", "MS", "for each 256 KiB of a reply to go", .number = &settings.send_time,
	  .least = 1, .most = UINT32_MAX },
	{ "stop-time", "MS", "for requests under way at the end", .number = &settings.stop_time,
	  .least = 1, .most = UINT32_MAX },
	{ "queue-time", "MS", "a connection that waits longer for its turn gets 503 (0: none)",
	  .number = &settings.queue_time, .most = UINT32_MAX },
	{ "cache-size", "BYTES", "of small files kept in memory", .number = &settings.cache_size,
	  .most = INT64_MAX },
	{ "cache-file", "BYTES", "most of one that is kept", .number = &settings.cache_file,
	  .most = 16 << 20 },
	{ "cache-time", "MS", "until a kept file is compared with the disk",
	  .number = &settings.cache_time, .most = UINT32_MAX },
	{ "once", NULL, "fetch a page and the counters, show both, stop", .given = &settings.once },
};
enum { FLAGS = sizeof flags / sizeof *flags };

static void print_usage(FILE *out)
{
	char left[40];

	fputs("usage: weft-httpd [FLAG...]\n\nServes files by HTTP until SIGTERM or ctrl-C; "
	      "SIGHUP opens log, root and certificate\nanew.\n\n",
	      out);
	for (int i = 0; i < FLAGS; i++) {
		const struct flag *f = &flags[i];

		snprintf(left, sizeof left, "--%s%s%s", f->name, f->value ? " " : "",
			 f->value ? f->value : "");
		fprintf(out, "  %-24s %s", left, f->help);
		if (f->number != NULL)
			fprintf(out, " [%llu]", (unsigned long long)*f->number);
		else if (f->text != NULL && *f->text != NULL)
			fprintf(out, " [%s]", *f->text);
		fputc('\n', out);
	}
	fputs("  --help                   this text\n\n"
	      "Settings of the runtime come from the environment: WEFT_WORKERS=1, WEFT_IO=epoll\n"
	      "...\n",
	      out);
}

static bool read_number(const struct flag *f, const char *text)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < f->least ||
	    value > f->most) {
		fprintf(stderr, "weft-httpd: --%s takes a number from %llu to %llu, not %s\n",
			f->name, (unsigned long long)f->least, (unsigned long long)f->most, text);
		return false;
	}
	*f->number = value;
	return true;
}

static const struct flag *find(const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		for (int i = 0; i < FLAGS; i++)
			if (strcmp(word + 2, flags[i].name) == 0)
				return &flags[i];
	return NULL;
}

static bool read_all(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct flag *f = find(argv[i]);

		if (f == NULL) {
			fprintf(stderr, "weft-httpd: no such flag: %s (see --help)\n", argv[i]);
			return false;
		}
		if (f->given != NULL)
			*f->given = true;
		if (f->value == NULL)
			continue;
		if (++i == argc) {
			fprintf(stderr, "weft-httpd: --%s takes a value\n", f->name);
			return false;
		}
		if (f->text != NULL)
			*f->text = argv[i];
		else if (!read_number(f, argv[i]))
			return false;
	}
	return true;
}

/* What no flag can be right about alone. */
static const char *find_problem(void)
{
	static const char *const words[] = { "none", "local", "all" };
	bool known = false;

	for (int i = 0; i < 3; i++) {
		if (strcmp(settings.status, words[i]) == 0) {
			settings.status_to = (enum status_to)i;
			known = true;
		}
	}
	if (!known)
		return "--status takes none, local or all";
	if (settings.listen_tls != NULL && (settings.certificate == NULL || settings.key == NULL))
		return "--listen-tls needs --certificate and --key";
	return NULL;
}

int settings_read(int argc, char **argv)
{
	const char *problem;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			print_usage(stdout);
			return EXIT_SUCCESS;
		}
	}
	if (!read_all(argc, argv))
		return 2;
	problem = find_problem();
	if (problem != NULL) {
		fprintf(stderr, "weft-httpd: %s\n", problem);
		return 2;
	}
	return -1;
}
