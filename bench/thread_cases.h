/* thread_cases.h - the work of the thread benchmarks, written once for all C peers.
 *
 * A peer's file says what its threads, mutexes and conditions are, and includes
 * this: the same code is then measured for each, without a call through a table
 * in between. Before the inclusion it defines
 *
 *	tc_thread, tc_mutex, tc_cond           types
 *	int tc_run(int (*fn)(void), const struct thread_work *)
 *	                                       calls fn where threads can be used
 *	int tc_start(tc_thread *, int i)       thread i calls tc_entry(i); 0 or -1
 *	void tc_join(tc_thread)
 *	void tc_yield(void)                    lets others run
 *	void tc_switch(int i)                  thread i lets the next one run
 *	void tc_mutex_init(tc_mutex *), tc_lock, tc_unlock
 *	void tc_cond_init(tc_cond *), tc_signal, tc_broadcast
 *	void tc_wait(tc_cond *, tc_mutex *)
 *	TC_SLOWER                              if it is too slow for all rounds: by how much
 *	TC_OWN_CHANNELS                        if it has channels, and measures them itself
 *
 * and gets the measurements yield, spawn, mutex, ping_pong, stream, produce, parked.
 */
#ifndef BENCH_THREAD_CASES_H
#define BENCH_THREAD_CASES_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "threads.h"

#define RING 1024
#ifndef TC_SLOWER
#define TC_SLOWER 1
#endif

/* A bounded channel as one writes it with a mutex and conditions. */
struct channel {
	tc_mutex mutex;
	tc_cond room, items;
	int count, depth, head;
	long ring[RING];
};

static struct {
	const struct thread_work *work;
	struct thread_work slower;
	double *values;
	void (*body)(int i); /* what each thread does; NULL: nothing, not even wait */
	tc_thread *threads;
	tc_mutex mutex;
	tc_cond gate;
	int arrived;
	bool open;
	tc_mutex shared_mutex;
	long shared;
	struct channel channels[2];
} tc;

static void gate_pass(void)
{
	tc_lock(&tc.mutex);
	tc.arrived++;
	while (!tc.open)
		tc_wait(&tc.gate, &tc.mutex);
	tc_unlock(&tc.mutex);
}

static void tc_entry(int i)
{
	if (tc.body == NULL)
		return;
	gate_pass();
	tc.body(i);
}

static int start_all(void)
{
	for (int i = 0; i < tc.work->threads; i++)
		if (tc_start(&tc.threads[i], i) < 0)
			return bench_fail("could not start thread %d", i);
	return 0;
}

static void join_all(void)
{
	for (int i = 0; i < tc.work->threads; i++)
		tc_join(tc.threads[i]);
}

/* Starts all threads and waits until each of them waits. */
static int gather(void (*body)(int i))
{
	int arrived, err;

	tc.body = body;
	err = start_all();
	if (err < 0)
		return err;
	do {
		tc_yield();
		tc_lock(&tc.mutex);
		arrived = tc.arrived;
		tc_unlock(&tc.mutex);
	} while (arrived < tc.work->threads);
	return 0;
}

static void gate_open(void)
{
	tc_lock(&tc.mutex);
	tc.open = true;
	tc_broadcast(&tc.gate);
	tc_unlock(&tc.mutex);
}

/* *ns: from when all may begin until all have ended. */
static int run_all(void (*body)(int i), double *ns)
{
	int err = gather(body);
	double start = threads_clock(tc.work);

	if (err < 0)
		return err;
	gate_open();
	join_all();
	*ns = (threads_clock(tc.work) - start);
	return 0;
}

static double all_rounds(void)
{
	return (double)tc.work->threads * (double)tc.work->rounds;
}

/* Switch */

static void yield_body(int i)
{
	for (long r = 0; r < tc.work->rounds; r++)
		tc_switch(i);
}

static int yield_main(void)
{
	double ns = 0;
	int err = run_all(yield_body, &ns);

	tc.values[0] = ns / all_rounds();
	return err;
}

/* Spawn */

static int spawn_main(void)
{
	double start = threads_clock(tc.work);

	for (long r = 0; r < tc.work->rounds; r++) {
		int err = start_all();

		if (err < 0)
			return err;
		join_all();
	}
	tc.values[0] = (threads_clock(tc.work) - start) / all_rounds();
	return 0;
}

/* Mutex */

static void mutex_body(int i)
{
	(void)i;
	for (long r = 0; r < tc.work->rounds; r++) {
		tc_lock(&tc.shared_mutex);
		tc.shared++;
		tc_unlock(&tc.shared_mutex);
	}
}

static int mutex_main(void)
{
	double ns = 0;
	int err;

	/* Used here too: where the threads are of another color it is shared then. */
	tc_lock(&tc.shared_mutex);
	tc_unlock(&tc.shared_mutex);
	err = run_all(mutex_body, &ns);

	tc.values[0] = ns / all_rounds();
	if (err == 0 && (double)tc.shared != all_rounds())
		return bench_fail("the mutex let two in");
	return err;
}

/* Channels */

static void channel_init(struct channel *c)
{
	tc_mutex_init(&c->mutex);
	tc_cond_init(&c->room);
	tc_cond_init(&c->items);
	c->depth = tc.work->depth > 0 && tc.work->depth < RING ? tc.work->depth : 1;
}

static void channel_send(struct channel *c, long value)
{
	tc_lock(&c->mutex);
	while (c->count == c->depth)
		tc_wait(&c->room, &c->mutex);
	c->ring[(c->head + c->count++) % c->depth] = value;
	tc_signal(&c->items);
	tc_unlock(&c->mutex);
}

static long channel_receive(struct channel *c)
{
	long value;

	tc_lock(&c->mutex);
	while (c->count == 0)
		tc_wait(&c->items, &c->mutex);
	value = c->ring[c->head];
	c->head = (c->head + 1) % c->depth;
	c->count--;
	tc_signal(&c->room);
	tc_unlock(&c->mutex);
	return value;
}

#ifndef TC_OWN_CHANNELS
static void ping_pong_body(int i)
{
	for (long r = 0; r < tc.work->rounds; r++) {
		if (i == 0)
			channel_send(&tc.channels[0], r);
		channel_receive(&tc.channels[i == 0]);
		if (i == 1)
			channel_send(&tc.channels[1], r);
	}
}

static int ping_pong_main(void)
{
	double ns = 0;
	int err = run_all(ping_pong_body, &ns);

	tc.values[0] = ns / all_rounds();
	return err;
}

static void stream_body(int i)
{
	for (long r = 0; r < tc.work->rounds; r++)
		if (i == 0)
			channel_send(&tc.channels[0], r);
		else
			channel_receive(&tc.channels[0]);
}

static int stream_main(void)
{
	double ns = 0;
	int err = run_all(stream_body, &ns);

	tc.values[0] = ns / (double)tc.work->rounds;
	return err;
}
#endif

/* Even ones produce, odd ones consume. */
static void produce_body(int i)
{
	long mine = tc.work->rounds / (tc.work->threads / 2);
	uint64_t seed = (uint64_t)i;

	for (long n = 0; n < mine; n++) {
		if (i % 2 == 0) {
			channel_send(&tc.channels[0], n);
			continue;
		}
		channel_receive(&tc.channels[0]);
		threads_consume(&seed);
	}
}

static int produce_main(void)
{
	double ns = 0;
	int err = run_all(produce_body, &ns);

	tc.values[0] = err == 0 ? (double)tc.work->rounds / ns * 1e6 : 0;
	return err;
}

/* Parked */

static void parked_body(int i)
{
	(void)i;
}

static int parked_main(void)
{
	double before = threads_memory();
	double start = threads_clock(tc.work);
	int err = gather(parked_body);

	if (err < 0)
		return err;
	tc.values[0] = (threads_clock(tc.work) - start) / tc.work->threads;
	tc.values[2] = (threads_memory() - before) / tc.work->threads;
	start = threads_clock(tc.work);
	gate_open();
	join_all();
	tc.values[1] = (threads_clock(tc.work) - start) / tc.work->threads;
	return 0;
}

/* The measurements */

static int begin_main(int (*main_of_case)(void))
{
	tc_mutex_init(&tc.mutex);
	tc_mutex_init(&tc.shared_mutex);
	tc_cond_init(&tc.gate);
	channel_init(&tc.channels[0]);
	channel_init(&tc.channels[1]);
	return main_of_case();
}

static int measure(int (*begin)(void), const struct thread_work *work, double *values)
{
	tc.slower = *work;
	tc.slower.rounds /= TC_SLOWER;
	tc.work = &tc.slower;
	tc.values = values;
	tc.threads = calloc((size_t)work->threads + 1, sizeof *tc.threads);
	return tc.threads == NULL ? -ENOMEM : tc_run(begin, tc.work);
}

#define TC_MEASURE(name) \
	static int name##_begin(void) \
	{ \
		return begin_main(name##_main); \
	} \
	static int name(const void *arg, double *values) \
	{ \
		return measure(name##_begin, arg, values); \
	}

TC_MEASURE(yield)
TC_MEASURE(spawn)
TC_MEASURE(mutex)
TC_MEASURE(produce)
TC_MEASURE(parked)
#ifndef TC_OWN_CHANNELS
TC_MEASURE(ping_pong)
TC_MEASURE(stream)
#endif

#endif
