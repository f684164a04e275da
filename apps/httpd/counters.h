/* counters.h - what the server counts. Each worker counts for itself; who reads adds up. */
#ifndef HTTPD_COUNTERS_H
#define HTTPD_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

enum counter {
	COUNT_CONNECTIONS, /* accepted */
	COUNT_REFUSED,     /* answered 503 or closed for lack of room */
	COUNT_REQUESTS,    /* answered */
	COUNT_BYTES,       /* sent, heads included */
	COUNT_1XX,
	COUNT_2XX,
	COUNT_3XX,
	COUNT_4XX,
	COUNT_5XX,
	COUNT_LATE,   /* connections that ran out of time */
	COUNT_BROKEN, /* and those that broke in the midst of a reply */
	COUNT_CACHE_HITS,
	COUNT_CACHE_LOADS,
	COUNT_LOG_DROPPED, /* lines for which the log, or its disk, had no room */
	COUNTERS,
};

/* Latency is counted by powers of two of microseconds; the last has all that is longer. */
enum { LATENCIES = 24 };

void count(enum counter what, uint64_t n);
void count_latency(uint64_t ns);
uint64_t counter_sum(enum counter what);
void latency_sums(uint64_t out[LATENCIES]);

/* Connections that are open now. */
extern _Atomic uint64_t open_connections;

#endif
