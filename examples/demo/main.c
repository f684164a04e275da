/* main.c - weft-demo: a small web server on all cores.
 *
 * server.c has what connections share (in WEFT_MAIN), conn.c one connection (in a
 * color of its own), http.c and pages.c the texts, once.c a client for `--once`.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

#include "once.h"
#include "server.h"

enum { PORT = 8080 };

static struct {
	int port;
	bool port_given, once;
	int listener;
	weft_timer show; /* the line of counters, on terminals */
	bool shown;
	struct totals last;
} demo = { .port = PORT };

static const char usage[] =
	"usage: weft-demo [--port N] [--once]\n"
	"\n"
	"Serves a page on http://127.0.0.1:8080/, or on the next port that is free, until\n"
	"ctrl-C.\n"
	"\n"
	"  --port N   on this port, and no other (0: any that is free)\n"
	"  --once     fetch the page and the counters, show both, stop\n"
	"  --help     this text\n"
	"\n"
	"A connection that sends no whole request for 15 seconds is closed.\n"
	"Settings of the runtime come from the environment: WEFT_WORKERS=1, WEFT_IO=epoll,\n"
	"WEFT_STEAL=off ...\n";

/* Writes the line of counters over the last one, if any has changed. */
static void show(void *unused)
{
	struct totals now = server_totals();
	uint64_t run = 0, steals = 0;
	weft_worker_stats workers[64];
	int n = weft_stats(NULL, workers, 64);

	(void)unused;
	if (now.requests == demo.last.requests && now.open == demo.last.open)
		return;
	demo.last = now;
	demo.shown = true;
	for (int i = 0; i < n; i++) {
		run += workers[i].run;
		steals += workers[i].steals;
	}
	printf("\r\033[K%" PRIu64 " requests, %u open; %" PRIu64 " events, %" PRIu64 " steals",
	       now.requests, now.open, run, steals);
	for (int i = 0; i < n && i < 4 && run > 0; i++)
		printf("%s worker %d %" PRIu64 "%%", i == 0 ? ";" : ",", i,
		       workers[i].run * 100 / run);
	fflush(stdout);
}

static void start_showing(void)
{
	if (demo.once || !isatty(STDOUT_FILENO))
		return;
	weft_timer_init(&demo.show, WEFT_MAIN, show, NULL);
	demo.show.every = WEFT_SEC;
	demo.show.background = true;
	weft_timer_start(&demo.show, WEFT_SEC);
}

static int app(void *unused)
{
	weft_stats_all all = { 0 };
	int rc;

	(void)unused;
	weft_stats(&all, NULL, 0);
	printf("Weft demo: http://127.0.0.1:%d/ (%d workers, %s)%s\n", demo.port, weft_workers(),
	       all.io ? all.io : "?", demo.once ? "" : ", press ctrl-C to stop");
	fflush(stdout);
	rc = server_start(demo.listener);
	if (rc == 0)
		rc = weft_on_signal(SIGINT, WEFT_MAIN, server_stop, NULL);
	if (rc == 0)
		rc = weft_on_signal(SIGTERM, WEFT_MAIN, server_stop, NULL);
	if (rc == 0 && demo.once)
		rc = once_start(demo.port);
	if (rc < 0) {
		weft_stop();
		return rc;
	}
	start_showing();
	return 0;
}

static int run(void)
{
	/* "Busy" is said to requests that could not be looked at in time. */
	weft_options opt = { .queue_delay_ms = 1000 };
	struct totals totals;
	int wanted = demo.port, rc;

	demo.listener = server_listen(&demo.port, !demo.port_given);
	if (demo.listener < 0) {
		fprintf(stderr, "weft-demo: cannot listen on port %d: %s\n", demo.port,
			strerror(-demo.listener));
		return EXIT_FAILURE;
	}
	if (!demo.port_given && demo.port != wanted)
		fprintf(stderr, "weft-demo: port %d is taken, using %d\n", wanted, demo.port);
	rc = weft_run(app, NULL, &opt);
	server_free();
	totals = server_totals();
	if (rc < 0) {
		fprintf(stderr, "weft-demo: %s\n", strerror(-rc));
		return EXIT_FAILURE;
	}
	printf("%sstopped after %" PRIu64 " requests on %" PRIu64 " connections\n",
	       demo.shown || demo.once ? "\n" : "", totals.requests, totals.connections);
	return !demo.once || once_succeeded() ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool read_port(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = text != NULL ? strtol(text, &end, 10) : -1;
	if (value < 0 || value > 65535 || errno != 0 || end == text || *end != '\0')
		return false;
	demo.port = (int)value;
	demo.port_given = true;
	return true;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			demo.once = true;
		} else if (strcmp(argv[i], "--port") == 0 && read_port(argv[i + 1])) {
			i++;
		} else if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		} else {
			fputs(usage, stderr);
			return 2;
		}
	}
	return run();
}
