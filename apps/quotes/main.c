/* main.c - weft-quotes: a quote a second to every client.
 *
 * server.c has a desk for each worker (desk.c), which accepts clients and keeps them in the
 * order of their next quotes (queue.c).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/service.h"
#include "server.h"
#include "settings.h"

static void report(void *unused)
{
	(void)unused;
	server_report("");
}

static void say_where(void)
{
	char address[80] = "";

	server_address(address, sizeof address);
	service_say("weft-quotes", address, ", press ctrl-C to stop");
}

static int app(void *unused)
{
	int rc = service_signals(server_stop, SIGUSR1, report);

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
