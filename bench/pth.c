/* pth.c - the peer GNU Pth. One kernel thread runs all.
 *
 * Each switch passes through its scheduler, which asks the kernel for events.
 */
#include <errno.h>
#include <pth.h>
#include <stdint.h>

#include "threads.h"

#define STACK (64 * 1024)
#define TC_SLOWER 20

typedef pth_t tc_thread;
typedef pth_mutex_t tc_mutex;
typedef pth_cond_t tc_cond;

static pth_attr_t attr;

static void tc_entry(int i);

static int tc_run(int (*fn)(void), const struct thread_work *work)
{
	(void)work;
	if (!pth_init())
		return -ENOMEM;
	attr = pth_attr_new();
	pth_attr_set(attr, PTH_ATTR_STACK_SIZE, STACK);
	return fn();
}

static void *entry(void *i)
{
	tc_entry((int)(intptr_t)i);
	return NULL;
}

static int tc_start(tc_thread *thread, int i)
{
	*thread = pth_spawn(attr, entry, (void *)(intptr_t)i);
	return *thread != NULL ? 0 : -1;
}

static void tc_join(tc_thread thread)
{
	pth_join(thread, NULL);
}

static void tc_yield(void)
{
	pth_yield(NULL);
}

static void tc_switch(int i)
{
	(void)i;
	pth_yield(NULL);
}

static void tc_mutex_init(tc_mutex *m)
{
	pth_mutex_init(m);
}

static void tc_lock(tc_mutex *m)
{
	pth_mutex_acquire(m, FALSE, NULL);
}

static void tc_unlock(tc_mutex *m)
{
	pth_mutex_release(m);
}

static void tc_cond_init(tc_cond *c)
{
	pth_cond_init(c);
}

static void tc_wait(tc_cond *c, tc_mutex *m)
{
	pth_cond_await(c, m, NULL);
}

static void tc_signal(tc_cond *c)
{
	pth_cond_notify(c, FALSE);
}

static void tc_broadcast(tc_cond *c)
{
	pth_cond_notify(c, TRUE);
}

#include "thread_cases.h"

const struct thread_peer peer_pth = {
	.name = "GNU Pth",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
};
