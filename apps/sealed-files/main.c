/* main.c - weft-sealed-files: serves files, every message sealed.
 *
 * server.c accepts a client, session.c is its thread. channel.c brings requests, which
 * perform.c does: leases by lease.c, files by tree.c.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/socket.h"
#include "server.h"
#include "settings.h"

static void say_where(void)
{
	weft_stats_all all = { 0 };
	char address[80];

	weft_stats(&all, NULL, 0);
	server_name(address, sizeof address);
	printf("weft-sealed-files: %s (%d workers, %s)%s, press ctrl-C to stop\n", address,
	       weft_workers(), all.io, settings.serial ? ", all in one color" : "");
	fflush(stdout);
}

static int app(void *unused)
{
	int rc = server_start();

	(void)unused;
	if (rc == 0)
		rc = weft_on_signal(SIGINT, WEFT_MAIN, server_stop, NULL);
	if (rc == 0)
		rc = weft_on_signal(SIGTERM, WEFT_MAIN, server_stop, NULL);
	if (rc < 0) {
		weft_stop();
		return rc;
	}
	say_where();
	return 0;
}

int main(int argc, char **argv)
{
	int rc = settings_read(argc, argv);
	uint64_t numbers, most;

	if (rc >= 0)
		return rc;
	socket_room(0, &numbers, &most); /* a client that writes needs three */
	if (server_open() < 0)
		return EXIT_FAILURE;
	rc = weft_run(app, NULL, NULL);
	server_close();
	if (rc < 0) {
		fprintf(stderr, "weft-sealed-files: %s\n", strerror(-rc));
		return EXIT_FAILURE;
	}
	printf("stopped after %" PRIu64 " clients, %" PRIu64 " turned away\n", server_clients(),
	       server_refused());
	return EXIT_SUCCESS;
}
