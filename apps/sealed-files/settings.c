/* settings.c - the server's flags. */
#include "settings.h"

#include <stdio.h>

#include "common/flags.h"

struct settings settings = {
	.listen = "127.0.0.1:7733",
	.max_clients = 1024,
	.max_strangers = 1024,
	.max_per_address = 64,
	.max_file = UINT64_C(1) << 40,
	.handshake_time = 5000,
	.idle_time = 600000,
	.message_time = 30000,
	.lease_time = 30000,
	.wait_time = 30000,
	.stop_time = 10000,
};

static const struct flag list[] = {
	{ "listen", "ADDRESS", "where: 127.0.0.1:7733, [::]:7733, :7733 (every IPv4 address)",
	  .text = &settings.listen },
	{ "root", "DIRECTORY", "the files", .text = &settings.root },
	{ "keys", "DIRECTORY", "a key file for each client, of the client's name",
	  .text = &settings.keys },
	{ "serial", NULL, "run all clients in one color", .given = &settings.serial },
	{ "max-clients", "N", "at one time; more are turned away", .number = &settings.max_clients,
	  .least = 1, .most = 1000000 },
	{ "max-per-key", "N", "of those, by one key (0: a quarter)",
	  .number = &settings.max_per_key, .most = 1000000 },
	{ "max-strangers", "N",
	  "who have not proved who they are; the oldest goes (0: as descriptors allow)",
	  .number = &settings.max_strangers, .most = 1000000 },
	{ "max-per-address", "N", "of those, from one address (0: any number)",
	  .number = &settings.max_per_address, .most = 1000000 },
	{ "max-file", "BYTES", "of a file that is written", .number = &settings.max_file,
	  .most = INT64_MAX },
	{ "handshake-time", "MS", "for a client to prove who it is",
	  .number = &settings.handshake_time, .least = 1, .most = UINT32_MAX },
	{ "idle-time", "MS", "between requests", .number = &settings.idle_time, .least = 1,
	  .most = UINT32_MAX },
	{ "message-time", "MS", "for a message to come or to go", .number = &settings.message_time,
	  .least = 1, .most = UINT32_MAX },
	{ "lease-time", "MS", "that a lease lasts from its last use on",
	  .number = &settings.lease_time, .least = 1, .most = UINT32_MAX },
	{ "wait-time", "MS", "most that a client may wait for a lease or a change",
	  .number = &settings.wait_time, .most = UINT32_MAX },
	{ "stop-time", "MS", "for requests under way at the end", .number = &settings.stop_time,
	  .least = 1, .most = UINT32_MAX },
};

static const struct flags flags = {
	.program = "weft-sealed-files",
	.usage = "--root DIRECTORY --keys DIRECTORY [FLAG...]",
	.about = "Serves files to clients that have a key, every message sealed, until SIGTERM or "
		 "ctrl-C.",
	.list = list,
	.count = sizeof list / sizeof *list,
	.runtime = true,
};

int settings_read(int argc, char **argv)
{
	int rc = flags_read(&flags, argc, argv, NULL);

	if (rc < 0 && (settings.root == NULL || settings.keys == NULL)) {
		fputs("weft-sealed-files: needs --root and --keys (see --help)\n", stderr);
		return 2;
	}
	return rc;
}
