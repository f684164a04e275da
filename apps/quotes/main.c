/* main.c - weft-quotes: a quote a second to every client.
 *
 * server.c has a desk for each worker (desk.c), which accepts clients and keeps them in the
 * order of their next quotes (queue.c).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

#include "server.h"
#include "settings.h"

static void report(void *unused)
{
	(void)unused;
	server_report("");
}

static int watch_signals(void)
{
	int rc = weft_on_signal(SIGINT, WEFT_MAIN, server_stop, NULL);

	if (rc == 0)
		rc = weft_on_signal(SIGTERM, WEFT_MAIN, server_stop, NULL);
	return rc == 0 ? weft_on_signal(SIGUSR1, WEFT_MAIN, report, NULL) : rc;
}

static void say_where(void)
{
	weft_stats_all all = { 0 };
	char address[80] = "";

	weft_stats(&all, NULL, 0);
	server_address(address, sizeof address);
	printf("weft-quotes: %s (%d workers, %s), press ctrl-C to stop\n", address, weft_workers(),
	       all.io);
	fflush(stdout);
}

static int app(void *unused)
{
	int rc = watch_signals();

	(void)unused;
	if (rc < 0)
		return rc;
	say_where();
	return server_run();
}

int main(int argc, char **argv)
{
	int rc = settings_read(argc, argv);

	if (rc >= 0)
		return rc;
	rc = server_listen();
	if (rc < 0) {
		fprintf(stderr, "weft-quotes: cannot listen on %s: %s\n", settings.listen,
			strerror(-rc));
		return EXIT_FAILURE;
	}
	rc = weft_run(app, NULL, NULL);
	if (rc < 0) {
		fprintf(stderr, "weft-quotes: %s\n", strerror(-rc));
		return EXIT_FAILURE;
	}
	server_report("stopped; ");
	return EXIT_SUCCESS;
}
