/* settings.c - the flags. */
#include "settings.h"

#include <stddef.h>

#include "common/flags.h"

struct settings settings = {
	.listen = "127.0.0.1:8090",
	.max_per_address = 1024,
	.max_unsent = 4096,
	.interval = 1000,
	.patience = 5000,
	.stop_time = 1000,
};

static const struct flag list[] = {
	{ "listen", "ADDRESS", "where: 127.0.0.1:8090, :8090, or fd:3, a socket that we are given",
	  .text = &settings.listen },
	{ "interval", "MS", "between two quotes", .number = &settings.interval, .least = 1,
	  .most = 86400000 },
	{ "first", "MS", "between a client's first two (0: as --interval)",
	  .number = &settings.first, .most = 86400000 },
	{ "max-clients", "N", "at one time (0: as descriptors allow)",
	  .number = &settings.max_clients, .most = 10000000 },
	{ "max-per-address", "N", "of one address, or IPv6 /64 (0: any)",
	  .number = &settings.max_per_address, .most = 10000000 },
	{ "max-unsent", "BYTES", "that wait for a client to read (0: as the kernel thinks)",
	  .number = &settings.max_unsent, .most = 1 << 30 },
	{ "patience", "MS", "for a quote to go; who takes longer is dropped",
	  .number = &settings.patience, .least = 1, .most = UINT32_MAX },
	{ "stop-time", "MS", "for quotes that have gone in part at the end",
	  .number = &settings.stop_time, .most = UINT32_MAX },
};

static const struct flags flags = {
	.program = "weft-quotes",
	.usage = "[FLAG...]",
	.about = "Sends every client a stock quote a second, until SIGTERM or ctrl-C; SIGUSR1 "
		 "shows\nthe counters.",
	.list = list,
	.count = sizeof list / sizeof *list,
	.runtime = true,
};

int settings_read(int argc, char **argv)
{
	int rc = flags_read(&flags, argc, argv, NULL);

	if (rc < 0 && settings.first == 0)
		settings.first = settings.interval;
	return rc;
}
