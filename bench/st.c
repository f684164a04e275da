/* st.c - the peer State Threads.
 *
 * It has no yield: threads switch by waiting for a condition that the one before
 * them signals. Its waits know no mutex; as one kernel thread runs all, a thread
 * that releases the mutex and waits does both at once.
 */
#include <errno.h>
#include <st.h>
#include <stdint.h>
#include <stdlib.h>

#include "threads.h"

#define STACK (64 * 1024)

typedef st_thread_t tc_thread;
typedef st_mutex_t tc_mutex;
typedef st_cond_t tc_cond;

static st_cond_t *turns; /* one a thread */
static int threads, ended;

static void tc_entry(int i);

static int tc_run(int (*fn)(void), const struct thread_work *work)
{
	threads = work->threads;
	turns = calloc((size_t)threads, sizeof(st_cond_t));
	if (turns == NULL || st_init() < 0)
		return -ENOMEM;
	for (int i = 0; i < threads; i++)
		turns[i] = st_cond_new();
	return fn();
}

static void *entry(void *arg)
{
	int i = (int)(intptr_t)arg;

	tc_entry(i);
	/* Whoever still waits for its turn shall end too. */
	ended++;
	st_cond_signal(turns[(i + 1) % threads]);
	return NULL;
}

static int tc_start(tc_thread *thread, int i)
{
	*thread = st_thread_create(entry, (void *)(intptr_t)i, 1, STACK);
	return *thread != NULL ? 0 : -1;
}

static void tc_join(tc_thread thread)
{
	st_thread_join(thread, NULL);
}

static void tc_yield(void)
{
	st_usleep(0);
}

static void tc_switch(int i)
{
	st_cond_signal(turns[i + 1 < threads ? i + 1 : 0]);
	if (ended == 0)
		st_cond_wait(turns[i]);
}

static void tc_mutex_init(tc_mutex *m)
{
	*m = st_mutex_new();
}

static void tc_lock(tc_mutex *m)
{
	st_mutex_lock(*m);
}

static void tc_unlock(tc_mutex *m)
{
	st_mutex_unlock(*m);
}

static void tc_cond_init(tc_cond *c)
{
	*c = st_cond_new();
}

static void tc_wait(tc_cond *c, tc_mutex *m)
{
	st_mutex_unlock(*m);
	st_cond_wait(*c);
	st_mutex_lock(*m);
}

static void tc_signal(tc_cond *c)
{
	st_cond_signal(*c);
}

static void tc_broadcast(tc_cond *c)
{
	st_cond_broadcast(*c);
}

#include "thread_cases.h"

const struct thread_peer peer_st = {
	.name = "State Threads",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
};
