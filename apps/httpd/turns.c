/* turns.c - a semaphore with a queue for each power of two of the number of connections. */
#include "turns.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <weft/weft.h>

enum { QUEUES = 65 };

struct waiter {
	struct waiter *next, *prev;
	weft_sem called;
	bool queued;
};

/* The lock is a plain mutex, as it is held for a few instructions only. */
static struct {
	pthread_mutex_t lock;
	uint64_t free;
	struct {
		struct waiter *first, *last;
	} queues[QUEUES];
} turns = { .lock = PTHREAD_MUTEX_INITIALIZER };

void turns_init(uint64_t most)
{
	turns.free = most;
}

static unsigned queue_of(uint64_t crowd)
{
	return crowd == 0 ? 0 : 64 - (unsigned)__builtin_clzll(crowd);
}

static void enter(struct waiter *w, unsigned q)
{
	w->prev = turns.queues[q].last;
	if (w->prev != NULL)
		w->prev->next = w;
	else
		turns.queues[q].first = w;
	turns.queues[q].last = w;
	w->queued = true;
}

static void leave(struct waiter *w, unsigned q)
{
	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		turns.queues[q].first = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	else
		turns.queues[q].last = w->prev;
	w->queued = false;
}

static int await_call(struct waiter *w, unsigned q, uint64_t deadline)
{
	int rc = weft_sem_wait_until(&w->called, deadline);

	/* Needed also after a call: the caller of weft_sem_post has left w->called once we have the
	 * lock. */
	pthread_mutex_lock(&turns.lock);
	if (w->queued)
		leave(w, q);
	else
		rc = 0; /* the call came together with the deadline */
	pthread_mutex_unlock(&turns.lock);
	return rc;
}

int turn_take(uint64_t crowd, uint64_t deadline)
{
	struct waiter w = { .called = WEFT_SEM_INIT(0) };
	unsigned q = queue_of(crowd);
	bool wait;

	pthread_mutex_lock(&turns.lock);
	wait = turns.free == 0;
	if (wait)
		enter(&w, q);
	else
		turns.free--;
	pthread_mutex_unlock(&turns.lock);
	return wait ? await_call(&w, q, deadline) : 0;
}

void turn_give(void)
{
	unsigned q = 0;

	pthread_mutex_lock(&turns.lock);
	while (q < QUEUES && turns.queues[q].first == NULL)
		q++;
	if (q == QUEUES) {
		turns.free++;
	} else {
		struct waiter *w = turns.queues[q].first;

		leave(w, q);
		weft_sem_post(&w->called);
	}
	pthread_mutex_unlock(&turns.lock);
}
