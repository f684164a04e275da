/* queue.h - clients in the order of their next quotes.
 *
 * All who are in one queue wait equally long. So who comes last is served last, and a ring
 * is all that it takes: nobody is searched for, and what is touched lies side by side.
 */
#ifndef QUOTES_QUEUE_H
#define QUOTES_QUEUE_H

#include <stdint.h>

#include <weft/scope.h>

struct address;

struct client {
	uint64_t due; /* when its next quote is, on weft_now's clock */
	struct address *address;
	int fd;
};

struct queue {
	struct client *ring;
	uint32_t room; /* a power of 2, or 0 */
	uint32_t first, count;
	weft_wait arrival; /* who waits for a first client */
};

void queue_init(struct queue *q);
void queue_free(struct queue *q);

/* Makes room for so many clients in all. 0 or -ENOMEM. */
WEFT_NO_WAIT int queue_reserve(struct queue *q, uint32_t count);

/* Adds one, for whom there is room; takes the first, if there is one. */
WEFT_NO_WAIT void queue_add(struct queue *q, struct client c);
WEFT_NO_WAIT struct client queue_take(struct queue *q);

/* Waits until the first is due. 0, or -ECANCELED. */
int queue_await(struct queue *q);

static inline const struct client *queue_first(const struct queue *q)
{
	return q->count > 0 ? &q->ring[q->first] : NULL;
}

#endif
