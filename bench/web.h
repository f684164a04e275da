/* web.h - the papers' loads on web servers: one server, or several copies of one that has a
 * single worker, asked by the client of client.h.
 */
#ifndef BENCH_WEB_H
#define BENCH_WEB_H

#include "client.h"
#include "site.h"

struct web_case {
	int server;        /* of site_servers */
	int workers;       /* 0: one for each CPU */
	int copies;        /* so many servers, each with a port and clients of its own; 0: 1 */
	const char *steal; /* WEFT_STEAL; NULL: as it is */
	struct client_load load;
	/* Adds the files that load.choose asks for. */
	int (*add_files)(const struct site *site);
};

/* Measures a case; result->cpu_us is that of all copies. A server of one worker and the client
 * have a CPU each; all others share all CPUs. Returns 0 or -Exxx. */
int web_measure(const struct web_case *c, struct client_result *result);

/* Adds a row for a case, or says that the server is not there. */
struct bench_row *web_add(const char *label, const struct web_case *c, bench_measure *fn);

/* A request for a file of so many bytes. */
struct client_question web_question(const char *path, int body);

#endif
