/* nptl.c - the peer NPTL: the kernel's threads, by pthreads.
 *
 * For one core they are kept on one CPU, or a yield would not be a switch.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "threads.h"

#define STACK ((size_t)64 * 1024)
#define TC_SLOWER 4

typedef pthread_t tc_thread;
typedef pthread_mutex_t tc_mutex;
typedef pthread_cond_t tc_cond;

static pthread_attr_t attr;

static void tc_entry(int i);

static int tc_run(int (*fn)(void), const struct thread_work *work)
{
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (work->cores == 1)
		bench_pin(0);
	return fn();
}

static void *entry(void *i)
{
	tc_entry((int)(intptr_t)i);
	return NULL;
}

static int tc_start(tc_thread *thread, int i)
{
	return pthread_create(thread, &attr, entry, (void *)(intptr_t)i) == 0 ? 0 : -1;
}

static void tc_join(tc_thread thread)
{
	pthread_join(thread, NULL);
}

static void tc_yield(void)
{
	sched_yield();
}

static void tc_switch(int i)
{
	(void)i;
	sched_yield();
}

static void tc_mutex_init(tc_mutex *m)
{
	pthread_mutex_init(m, NULL);
}

static void tc_lock(tc_mutex *m)
{
	pthread_mutex_lock(m);
}

static void tc_unlock(tc_mutex *m)
{
	pthread_mutex_unlock(m);
}

static void tc_cond_init(tc_cond *c)
{
	pthread_cond_init(c, NULL);
}

static void tc_wait(tc_cond *c, tc_mutex *m)
{
	pthread_cond_wait(c, m);
}

static void tc_signal(tc_cond *c)
{
	pthread_cond_signal(c);
}

static void tc_broadcast(tc_cond *c)
{
	pthread_cond_broadcast(c);
}

#include "thread_cases.h"

const struct thread_peer peer_nptl = {
	.name = "NPTL",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
};
