/* sealed_files.h - the parts of the benchmark of apps/sealed-files. */
#ifndef BENCH_SEALED_FILES_H
#define BENCH_SEALED_FILES_H

#include <stdint.h>

#include "bench.h"

/* A server's port, and how many clients go to it. */
struct sealed_load {
	int port, clients;
	double seconds;
};

struct sealed_result {
	double bytes;      /* of files, that the clients got */
	double server_cpu; /* nanoseconds */
	double client_cpu;
};

/* What the file `name` of the servers holds at an offset. */
static inline uint8_t sealed_byte(uint64_t offset)
{
	return (uint8_t)(offset * 131 + offset / 4096);
}

#define SEALED_FILE "file"
#define SEALED_FILE_SIZE (32 << 20)
#define SEALED_CLIENT "client"

/* Reads the file again and again from servers, by many clients of this one process, and
 * gives what came in the time. `pids` are the servers', `key` is the clients'. */
int sealed_load_run(const struct sealed_load *loads, const int *pids, int servers,
		    const uint8_t *key, struct sealed_result *result);

/* Adds rows of the same server on virtual cores, and the figures that follow from them. */
void sealed_sim_add(int speedup_metric);
void sealed_sim_derive(int speedup_metric);

#endif
