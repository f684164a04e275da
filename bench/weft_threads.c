/* weft_threads.c - Weft's threads in the thread benchmarks.
 *
 * Threads of one color run on one worker at a time; where a case says colors,
 * thread i is of color 1 + i % colors, and runs beside the others.
 */
#include <stdint.h>
#include <stdlib.h>

#include <weft/channel.h>
#include <weft/sync.h>
#include <weft/weft.h>

#include "threads.h"

typedef weft_thread *tc_thread;
typedef weft_mutex tc_mutex;
typedef weft_cond tc_cond;
#define TC_OWN_CHANNELS

static const struct thread_work *the_work;

static void tc_entry(int i);

static int app(void *fn)
{
	int (*const *main_of_case)(void) = fn;

	for (int i = 0; the_work->apart && i < the_work->colors; i++)
		if (weft_color_pin((weft_color)(1 + i), i % the_work->cores) < 0)
			return bench_fail("a color could not be pinned");
	return (*main_of_case)();
}

static int tc_run(int (*fn)(void), const struct thread_work *work)
{
	weft_options opt = { .workers = work->cores, .stall_ms = -1 };

	the_work = work;
	return weft_run(app, &fn, &opt);
}

static int entry(void *i)
{
	tc_entry((int)(intptr_t)i);
	return 0;
}

static int tc_start(tc_thread *thread, int i)
{
	weft_thread_attr attr = { .on = true };

	if (the_work->colors == 0)
		return weft_thread_start(thread, NULL, entry, (void *)(intptr_t)i);
	attr.color = (weft_color)(1 + i % the_work->colors);
	return weft_thread_start(thread, &attr, entry, (void *)(intptr_t)i);
}

static void tc_join(tc_thread thread)
{
	weft_join(thread, NULL);
}

static void tc_yield(void)
{
	weft_yield();
}

static void tc_switch(int i)
{
	(void)i;
	weft_yield();
}

static void tc_mutex_init(tc_mutex *m)
{
	*m = (weft_mutex)WEFT_MUTEX_INIT;
}

static void tc_lock(tc_mutex *m)
{
	weft_mutex_lock(m);
}

static void tc_unlock(tc_mutex *m)
{
	weft_mutex_unlock(m);
}

static void tc_cond_init(tc_cond *c)
{
	*c = (weft_cond)WEFT_COND_INIT;
}

static void tc_wait(tc_cond *c, tc_mutex *m)
{
	weft_cond_wait(c, m);
}

static void tc_signal(tc_cond *c)
{
	weft_cond_signal(c);
}

static void tc_broadcast(tc_cond *c)
{
	weft_cond_broadcast(c);
}

#include "thread_cases.h"

/* Channels */

WEFT_CHANNEL(longs, long);

static longs *there, *back;

static int channels_new(void)
{
	there = longs_new((size_t)tc.work->depth);
	back = longs_new((size_t)tc.work->depth);
	return there == NULL || back == NULL ? -ENOMEM : 0;
}

static void ping_pong_body(int i)
{
	longs *to = i == 0 ? there : back, *from = i == 0 ? back : there;
	long value;

	for (long r = 0; r < tc.work->rounds; r++) {
		if (i == 0)
			longs_send(to, r);
		longs_receive(from, &value);
		if (i != 0)
			longs_send(to, r);
	}
}

static int ping_pong_main(void)
{
	double ns = 0;
	int err = channels_new();

	if (err == 0)
		err = run_all(ping_pong_body, &ns);
	tc.values[0] = ns / all_rounds();
	return err;
}

static void stream_body(int i)
{
	long value;

	for (long r = 0; r < tc.work->rounds; r++)
		if (i == 0)
			longs_send(there, r);
		else
			longs_receive(there, &value);
}

static int stream_main(void)
{
	double ns = 0;
	int err = channels_new();

	if (err == 0)
		err = run_all(stream_body, &ns);
	tc.values[0] = ns / (double)tc.work->rounds;
	return err;
}

TC_MEASURE(ping_pong)
TC_MEASURE(stream)

/* Skynet: a task starts ten, each a tenth of its size, and adds up what they give. The
 * ten below the root have colors of their own if there are several cores. */

struct task {
	longs *up;
	long *sum;
	long number, size;
};

static void skynet_failed(void)
{
	bench_fail("a thread could not be started");
	weft_stop();
}

static weft_thread_attr task_attr(const struct task *t)
{
	bool spread = tc.work->cores > 1 && t->size == 100000;

	return (weft_thread_attr){ .on = spread, .color = (weft_color)(1 + t->number) };
}

static int channel_task(void *arg)
{
	struct task self = *(struct task *)arg, below[10];
	long sum = 0, value;
	longs *down;

	if (self.size == 1) {
		longs_send(self.up, self.number);
		return 0;
	}
	down = longs_new(0);
	for (int i = 0; i < 10; i++) {
		weft_thread_attr attr;

		below[i] = (struct task){ .up = down, .size = self.size / 10 };
		below[i].number = self.number + i * below[i].size;
		attr = task_attr(&below[i]);
		if (weft_thread_start(NULL, &attr, channel_task, &below[i]) < 0)
			skynet_failed();
	}
	for (int i = 0; i < 10; i++) {
		longs_receive(down, &value);
		sum += value;
	}
	longs_free(down);
	longs_send(self.up, sum);
	return 0;
}

static int join_task(void *arg)
{
	struct task *self = arg, below[10];
	weft_thread *threads[10];
	long sums[10];

	if (self->size == 1) {
		*self->sum = self->number;
		return 0;
	}
	for (int i = 0; i < 10; i++) {
		weft_thread_attr attr;

		below[i] = (struct task){ .sum = &sums[i], .size = self->size / 10 };
		below[i].number = self->number + i * below[i].size;
		attr = task_attr(&below[i]);
		if (weft_thread_start(&threads[i], &attr, join_task, &below[i]) < 0)
			skynet_failed();
	}
	*self->sum = 0;
	for (int i = 0; i < 10; i++) {
		weft_join(threads[i], NULL);
		*self->sum += sums[i];
	}
	return 0;
}

static int skynet_end(double start, long sum)
{
	tc.values[0] = (threads_clock(tc.work) - start) / 1e6;
	return sum == 499999500000 ? 0 : bench_fail("the sum is wrong: %ld", sum);
}

static int skynet_channels_main(void)
{
	struct task root = { .up = longs_new(0), .size = 1000000 };
	double start = threads_clock(tc.work);
	long sum = 0;

	if (weft_go(channel_task, &root) < 0)
		return -ENOMEM;
	longs_receive(root.up, &sum);
	return skynet_end(start, sum);
}

static int skynet_joins_main(void)
{
	long sum = 0;
	struct task root = { .sum = &sum, .size = 1000000 };
	double start = threads_clock(tc.work);
	weft_thread *thread;

	if (weft_thread_start(&thread, NULL, join_task, &root) < 0)
		return -ENOMEM;
	weft_join(thread, NULL);
	return skynet_end(start, sum);
}

TC_MEASURE(skynet_channels)
TC_MEASURE(skynet_joins)

const struct thread_peer peer_weft = {
	.name = "weft",
	.yield = yield,
	.spawn = spawn,
	.mutex = mutex,
	.ping_pong = ping_pong,
	.stream = stream,
	.produce = produce,
	.parked = parked,
	.skynet_channels = skynet_channels,
	.skynet_joins = skynet_joins,
};
