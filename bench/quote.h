/* quote.h - quote servers: whoever connects is sent a quote at once, and another one at
 * regular intervals. */
#ifndef BENCH_QUOTE_H
#define BENCH_QUOTE_H

#include <string.h>

#include "bench.h"

#define QUOTE_SIZE 64

/* Nanoseconds between a client's first quote and the second, and between any others. Set
 * before the server is forked. */
extern uint64_t quote_first, quote_interval;

/* When a client that comes now is sent its second quote. At a whole millisecond: epoll_wait
 * cannot do better, and what is due together can be sent together, by all servers. */
static inline uint64_t quote_second(uint64_t now)
{
	return (now / 1000000 + 1) * 1000000 + quote_first;
}

/* What is sent: a name, and a price that always changes. */
static inline void quote_make(char quote[QUOTE_SIZE])
{
	static const char text[QUOTE_SIZE - sizeof(uint64_t)] = "WEFT, last traded at";
	static uint64_t price = 1;

	price = price * 6364136223846793005u + 1;
	memcpy(quote, text, sizeof text);
	memcpy(quote + sizeof text, &price, sizeof price);
}

/* Servers of the peers. The argument is a struct echo_server, of which they use the
 * listener; they serve until they are killed. */
void quote_epoll(const void *echo_server);
void quote_nptl(const void *echo_server);
void quote_go(const void *echo_server);

#endif
