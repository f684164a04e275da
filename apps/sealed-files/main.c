/* main.c - weft-sealed-files: serves files, every message sealed.
 *
 * server.c accepts a client, session.c is its thread. channel.c brings requests, which
 * perform.c does: leases by lease.c, files by tree.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/service.h"
#include "common/socket.h"
#include "server.h"
#include "settings.h"

static void say_where(void)
{
	char address[80];

	server_name(address, sizeof address);
	service_say("weft-sealed-files", address,
		    settings.serial ? ", all in one color, press ctrl-C to stop"
				    : ", press ctrl-C to stop");
}

static int app(void *unused)
{
	int rc = server_start();

	(void)unused;
	if (rc == 0)
		rc = service_signals(server_stop, 0, NULL);
	if (rc < 0) {
		weft_stop();
		return rc;
	}
	say_where();
	return 0;
}

/* Leaves descriptors for clients: one that writes needs three, and each that connects needs one for
 * its key file. Strangers get at most a quarter. */
static void share_descriptors(void)
{
	uint64_t numbers, most;

	if (socket_room(0, &numbers, &most) < 0)
		return;
	if (settings.max_strangers == 0 || settings.max_strangers > numbers / 4)
		settings.max_strangers = numbers / 4;
}

int main(int argc, char **argv)
{
	int rc = settings_read(argc, argv);

	if (rc >= 0)
		return rc;
	share_descriptors();
	if (server_open() < 0)
		return EXIT_FAILURE;
	rc = weft_run(app, NULL, NULL);
	if (rc == 0)
		rc = server_error();
	server_close();
	if (rc < 0) {
		fprintf(stderr, "weft-sealed-files: %s\n", strerror(-rc));
		return EXIT_FAILURE;
	}
	printf("stopped after %" PRIu64 " clients, %" PRIu64 " turned away\n", server_clients(),
	       server_refused());
	return EXIT_SUCCESS;
}
