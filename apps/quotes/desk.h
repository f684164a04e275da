/* desk.h - one worker's clients, in a color of their own.
 *
 * Between two waits nothing else of a desk runs, so it needs no lock. A client is either in
 * one of the queues or in a block that sends it a quote.
 */
#ifndef QUOTES_DESK_H
#define QUOTES_DESK_H

#include <stdatomic.h>

#include "common/acceptor.h"
#include "market.h"
#include "queue.h"

/* Written by the desk, read by all. */
struct counters {
	_Atomic uint64_t accepted, refused; /* connections */
	_Atomic uint64_t left, dropped;     /* of those accepted: gone by themselves; too slow */
	_Atomic uint64_t quotes, skipped;   /* sent; left out, as the last was still on its way */
};

struct desk {
	_Alignas(64) weft_color color;
	int listener;
	struct market market;
	struct queue newcomers; /* who have had one quote */
	struct queue regulars;
	struct acceptor acceptor;
	uint32_t clients; /* in a queue or a block */
	struct counters counters;
};

void desk_init(struct desk *d, weft_color color, int listener);

/* Accepts and serves until its scope is cancelled. Then all its clients are closed. */
void desk_run(struct desk *d);

#endif
