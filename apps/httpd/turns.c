/* turns.c - a semaphore with a queue for each power of two of the number of connections. */
#include "turns.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <weft/weft.h>

enum { QUEUES = 65 };

struct waiter {
	struct waiter *next, *prev;
	weft_scope wait; /* cancelled by the call */
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
	w->next = NULL;
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

static int await_call(struct waiter *w, unsigned q, int fd, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = 0 }; /* POLLHUP and POLLERR come without asking */
	int rc = weft_poll_until(&p, 1, deadline);

	/* Needed also after a call: the caller of weft_scope_cancel has left w->wait once we have
	 * the lock. */
	pthread_mutex_lock(&turns.lock);
	if (!w->queued) {
		rc = 0; /* the call may have come together with the deadline */
	} else {
		leave(w, q);
		rc = rc < 0 ? rc : -ECONNRESET;
	}
	pthread_mutex_unlock(&turns.lock);
	weft_scope_end(&w->wait);
	return rc;
}

int turn_take(int fd, uint64_t crowd, uint64_t deadline)
{
	unsigned q = queue_of(crowd);
	struct waiter w;
	bool wait;

	pthread_mutex_lock(&turns.lock);
	wait = turns.free == 0;
	if (wait) {
		weft_scope_begin(&w.wait);
		enter(&w, q);
	} else {
		turns.free--;
	}
	pthread_mutex_unlock(&turns.lock);
	return wait ? await_call(&w, q, fd, deadline) : 0;
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
		weft_scope_cancel(&w->wait);
	}
	pthread_mutex_unlock(&turns.lock);
}
