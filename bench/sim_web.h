/* sim_web.h - web servers on the pretend machine of sim/: requests are events whose costs
 * were measured, and clients never pause.
 */
#ifndef BENCH_SIM_WEB_H
#define BENCH_SIM_WEB_H

#include "bench.h"
#include "sim.h"

enum sim_web_kind {
	/* weft-httpd: each core has its own ring; a request is one event of its connection. */
	SIM_WEB_RINGS,
	/* Mely's SWS: one color looks for readable connections and posts for them, in their
	 * colors, to the core that the color belongs to. */
	SIM_WEB_SWS,
	/* libasync-mp's web server: all requests pass through the color of the page cache. */
	SIM_WEB_CACHE_COLOR,
	/* Its SFS server: 65% of a request is encryption, in the client's color, 35% not. */
	SIM_WEB_SFS,
};

struct sim_web {
	enum sim_web_kind kind;
	int cores, clients;
	const char *steal;
	int per_connection; /* requests; 0: no end */
};

/* Requests a second, on cores of 2.33 GHz. */
double sim_web_run(const struct sim_web *setting);

#endif
