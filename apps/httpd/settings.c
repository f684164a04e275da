/* settings.c - the flags. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "common/flags.h"
#include "request.h"

struct settings settings = {
	.listen = "127.0.0.1:8080",
	.status = "local",
	.max_per_address = 1024,
	.max_head = 16384,
	.max_headers = REQUEST_HEADERS_MAX,
	.max_body = 1048576,
	.max_unsent = 16 << 20,
	.max_kept = 128 << 20,
	.head_time = 10000,
	.idle_time = 60000,
	.body_time = 30000,
	.send_time = 30000,
	.stop_time = 10000,
	.queue_time = 200,
	.cache_size = 64 << 20,
	.cache_file = 65536,
	.cache_time = 1000,
};

static const struct flag list[] = {
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
	{ "max-connections", "N",
	  "at one time; the one idle longest gives way (0: as descriptors allow)",
	  .number = &settings.max_connections, .most = 10000000 },
	{ "max-per-address", "N", "connections of one address, or IPv6 /64 (0: any)",
	  .number = &settings.max_per_address, .most = 10000000 },
	{ "max-handshakes", "N", "TLS handshakes computed at one time (0: one a worker)",
	  .number = &settings.max_handshakes, .most = 1024 },
	{ "max-requests", "N", "on one connection (0: any)", .number = &settings.max_requests,
	  .most = UINT32_MAX },
	{ "max-head", "BYTES", "of a request's line and headers", .number = &settings.max_head,
	  .least = 512, .most = 1048576 },
	{ "max-headers", "N", "of one request", .number = &settings.max_headers, .least = 1,
	  .most = REQUEST_HEADERS_MAX },
	{ "max-body", "BYTES", "of a request's body", .number = &settings.max_body,
	  .most = INT64_MAX },
	{ "max-unsent", "BYTES", "of handlers' replies that an HTTP/2 connection keeps",
	  .number = &settings.max_unsent, .least = 1024, .most = INT64_MAX },
	{ "max-kept", "BYTES", "of streams, requests and replies that all HTTP/2 connections keep",
	  .number = &settings.max_kept, .most = INT64_MAX },
	{ "head-time", "MS",
	  "for a head to come, from its first byte, and for a first request to begin",
	  .number = &settings.head_time, .least = 1, .most = UINT32_MAX },
	{ "idle-time", "MS", "between requests", .number = &settings.idle_time, .least = 1,
	  .most = UINT32_MAX },
	{ "body-time", "MS", "for each 64 KiB of a body to come", .number = &settings.body_time,
	  .least = 1, .most = UINT32_MAX },
	{ "send-time", "MS", "for each 256 KiB of a reply to go", .number = &settings.send_time,
	  .least = 1, .most = UINT32_MAX },
	{ "stop-time", "MS", "for requests under way at the end", .number = &settings.stop_time,
	  .least = 1, .most = UINT32_MAX },
	{ "queue-time", "MS", "who waits longer for a turn gets 503 (0: nobody)",
	  .number = &settings.queue_time, .most = UINT32_MAX },
	{ "cache-size", "BYTES", "of small files kept in memory", .number = &settings.cache_size,
	  .most = INT64_MAX },
	{ "cache-file", "BYTES", "most of one that is kept", .number = &settings.cache_file,
	  .most = 16 << 20 },
	{ "cache-time", "MS", "until a kept file is compared with the disk",
	  .number = &settings.cache_time, .most = UINT32_MAX },
	{ "once", NULL, "fetch a page and the counters, show both, stop", .given = &settings.once },
};

static const struct flags flags = {
	.program = "weft-httpd",
	.usage = "[FLAG...]",
	.about = "Serves files by HTTP until SIGTERM or ctrl-C; SIGHUP opens log, root and "
		 "certificate\nanew.",
	.list = list,
	.count = sizeof list / sizeof *list,
	.runtime = true,
};

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
	int rc;

	rc = flags_read(&flags, argc, argv, NULL);
	if (rc >= 0)
		return rc;
	problem = find_problem();
	if (problem != NULL) {
		fprintf(stderr, "weft-httpd: %s\n", problem);
		return 2;
	}
	return -1;
}
