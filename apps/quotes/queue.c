/* queue.c - clients in the order of their next quotes, in a ring. */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>

#include <weft/weft.h>

enum { ROOM_LEAST = 64 };

/* Nothing comes from elsewhere: who waits can go on at any time. */
static bool stop_waiting(weft_wait *unused)
{
	(void)unused;
	return true;
}

void queue_init(struct queue *q)
{
	*q = (struct queue){ .arrival = WEFT_WAIT_INIT("a client", stop_waiting) };
}

void queue_free(struct queue *q)
{
	free(q->ring);
}

int queue_reserve(struct queue *q, uint32_t count)
{
	uint32_t room = q->room > 0 ? q->room : ROOM_LEAST;
	struct client *ring;

	if (count <= q->room)
		return 0;
	while (room < count)
		room *= 2;
	ring = calloc(room, sizeof *ring);
	if (ring == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->count; i++)
		ring[i] = q->ring[(q->first + i) & (q->room - 1)];
	free(q->ring);
	q->ring = ring;
	q->room = room;
	q->first = 0;
	return 0;
}

void queue_add(struct queue *q, struct client c)
{
	q->ring[(q->first + q->count++) & (q->room - 1)] = c;
	if (q->count == 1)
		weft_schedule(&q->arrival);
}

struct client queue_take(struct queue *q)
{
	struct client c = q->ring[q->first];

	q->first = (q->first + 1) & (q->room - 1);
	q->count--;
	return c;
}

int queue_await(struct queue *q)
{
	while (q->count == 0) {
		int rc = weft_suspend(&q->arrival);

		if (rc < 0)
			return rc;
	}
	return weft_sleep_until(queue_first(q)->due);
}
