/* libuv.c - the peer libuv, used as its manual says and as fast as it can be. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "peer.h"

/* Posts. libuv has no queue of user events. The nearest equal in the loop's own
 * thread is an idle handle that is started, called in the next turn of the loop,
 * and stops itself. */

static struct {
	const struct post_work *work;
	uv_idle_t driver;
	uv_idle_t *posts;
	int round;
	uint64_t post_ns;
} in_loop;

static void posted_run(uv_idle_t *idle)
{
	uv_idle_stop(idle);
}

static void post_round(uv_idle_t *driver)
{
	uint64_t start;

	if (in_loop.round++ == in_loop.work->rounds) {
		uv_idle_stop(driver);
		return;
	}
	start = bench_now();
	for (int i = 0; i < in_loop.work->batch; i++)
		uv_idle_start(&in_loop.posts[i], posted_run);
	in_loop.post_ns += bench_now() - start;
}

static int post(const void *arg, double *values)
{
	const struct post_work *work = arg;
	double posts = (double)work->batch * work->rounds;
	uv_loop_t *loop = uv_default_loop();
	uint64_t start;

	in_loop.work = work;
	in_loop.posts = calloc((size_t)work->batch, sizeof *in_loop.posts);
	if (loop == NULL || in_loop.posts == NULL)
		return -ENOMEM;
	for (int i = 0; i < work->batch; i++)
		uv_idle_init(loop, &in_loop.posts[i]);
	uv_idle_init(loop, &in_loop.driver);
	uv_idle_start(&in_loop.driver, post_round);
	start = bench_now();
	uv_run(loop, UV_RUN_DEFAULT);
	values[0] = (double)in_loop.post_ns / posts;
	values[1] = (double)(bench_now() - start) / posts;
	return 0;
}

/* From a foreign thread: a list behind a mutex, and uv_async_send when the list
 * was empty. A send for each post would cost a system call each. */

struct item {
	struct item *next;
};

static struct {
	struct peer_poster poster;
	uv_async_t async, end;
	pthread_mutex_t mutex;
	struct item *items, *head, **tail;
} foreign;

static void foreign_post(int i)
{
	struct item *item = &foreign.items[i];
	bool was_empty;

	item->next = NULL;
	pthread_mutex_lock(&foreign.mutex);
	was_empty = foreign.head == NULL;
	*foreign.tail = item;
	foreign.tail = &item->next;
	pthread_mutex_unlock(&foreign.mutex);
	if (was_empty)
		uv_async_send(&foreign.async);
}

static void foreign_run(uv_async_t *async)
{
	struct item *item;
	uint64_t ran = 0;

	(void)async;
	pthread_mutex_lock(&foreign.mutex);
	item = foreign.head;
	foreign.head = NULL;
	foreign.tail = &foreign.head;
	pthread_mutex_unlock(&foreign.mutex);
	for (; item != NULL; item = item->next)
		ran++;
	atomic_fetch_add_explicit(&foreign.poster.ran, ran, memory_order_release);
}

static void foreign_end(void)
{
	uv_async_send(&foreign.end);
}

static void end_loop(uv_async_t *end)
{
	uv_stop(end->loop);
}

static int post_foreign(const void *arg, double *values)
{
	const struct post_work *work = arg;
	uv_loop_t *loop = uv_default_loop();
	pthread_t thread;

	foreign.poster =
		(struct peer_poster){ .work = work, .post = foreign_post, .end = foreign_end };
	foreign.items = calloc((size_t)work->batch, sizeof *foreign.items);
	foreign.tail = &foreign.head;
	pthread_mutex_init(&foreign.mutex, NULL);
	if (loop == NULL || foreign.items == NULL)
		return -ENOMEM;
	uv_async_init(loop, &foreign.async, foreign_run);
	uv_async_init(loop, &foreign.end, end_loop);
	if (pthread_create(&thread, NULL, peer_poster_main, &foreign.poster) != 0)
		return -EAGAIN;
	uv_run(loop, UV_RUN_DEFAULT);
	pthread_join(thread, NULL);
	peer_poster_values(&foreign.poster, values);
	return 0;
}

/* Timers */

static uint64_t fired;

static void timer_fired(uv_timer_t *timer)
{
	(void)timer;
	fired++;
}

static uv_timer_t *timers_new(uv_loop_t *loop, int count)
{
	uv_timer_t *timers = calloc((size_t)count, sizeof *timers);

	for (int i = 0; timers != NULL && i < count; i++)
		uv_timer_init(loop, &timers[i]);
	return timers;
}

static void timers_start(uv_timer_t *timers, int count, int span_ms, uint64_t *seed)
{
	for (int i = 0; i < count; i++)
		uv_timer_start(&timers[i], timer_fired, 1 + bench_random(seed) % (uint32_t)span_ms,
			       0);
}

static int timers_fire(const void *arg, double *values)
{
	const struct timer_work *work = arg;
	uv_loop_t *loop = uv_default_loop();
	uv_timer_t *timers = timers_new(loop, work->count);
	uint64_t start, started, due, seed = 1;

	if (timers == NULL)
		return -ENOMEM;
	start = bench_now();
	timers_start(timers, work->count, work->span_ms, &seed);
	started = bench_now();
	while (bench_now() - started < (uint64_t)(work->span_ms + 10) * 1000000u)
		usleep(1000);
	due = bench_now();
	uv_run(loop, UV_RUN_DEFAULT);
	if (fired != (uint64_t)work->count)
		return bench_fail("%llu timers fired", (unsigned long long)fired);
	values[0] = (double)(started - start) / work->count;
	values[1] = (double)(bench_now() - due) / work->count;
	values[2] = (values[0] + values[1]) * work->count / 1e6;
	return 0;
}

static int timers_churn(const void *arg, double *values)
{
	const struct timer_work *work = arg;
	uv_timer_t *timers = timers_new(uv_default_loop(), work->count);
	uint64_t start, seed = 1;
	const struct timer_step *steps = timer_steps_new(work, &seed);

	if (timers == NULL || steps == NULL)
		return -ENOMEM;
	timers_start(timers, work->count, work->span_ms, &seed);
	start = bench_thread_cpu();
	for (int i = 0; i < work->restarts; i++) {
		uv_timer_t *t = &timers[steps[i].timer];

		if (!work->put_off)
			uv_timer_stop(t);
		if (work->from_now)
			uv_update_time(uv_default_loop());
		uv_timer_start(t, timer_fired, steps[i].delay_ms, 0);
	}
	values[0] = (double)(bench_thread_cpu() - start) / work->restarts;
	return 0;
}

/* Echo: uv_try_write first, which saves the request and its callback. */

struct conn {
	uv_tcp_t tcp;
	uv_write_t write;
	char buf[ECHO_BUFFER];
};

static void echo_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static void echo_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
	struct conn *c = (struct conn *)handle;

	(void)size;
	*buf = uv_buf_init(c->buf, sizeof c->buf);
}

static void echo_closed(uv_handle_t *handle)
{
	free(handle);
}

static void echo_written(uv_write_t *write, int status)
{
	if (status < 0)
		uv_close((uv_handle_t *)write->handle, echo_closed);
	else
		uv_read_start(write->handle, echo_alloc, echo_read);
}

static void echo_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct conn *c = (struct conn *)stream;
	uv_buf_t out = uv_buf_init(buf->base, n > 0 ? (unsigned)n : 0);
	int done;

	if (n == 0)
		return;
	if (n < 0) {
		uv_close((uv_handle_t *)stream, echo_closed);
		return;
	}
	done = uv_try_write(stream, &out, 1);
	if (done == n)
		return;
	/* The rest waits for room; meanwhile the buffer must not be read into. */
	out.base += done > 0 ? done : 0;
	out.len -= done > 0 ? (size_t)done : 0;
	uv_read_stop(stream);
	uv_write(&c->write, stream, &out, 1, echo_written);
}

static void echo_accept(uv_stream_t *listener, int status)
{
	struct conn *c;

	if (status < 0)
		return;
	c = malloc(sizeof *c);
	if (c == NULL)
		return;
	uv_tcp_init(listener->loop, &c->tcp);
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0) {
		uv_close((uv_handle_t *)&c->tcp, echo_closed);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
	uv_read_start((uv_stream_t *)&c->tcp, echo_alloc, echo_read);
}

struct echo_loop {
	int listener, timers;
};

static void *echo_main(void *arg)
{
	const struct echo_loop *e = arg;
	uv_timer_t *timers;
	uv_tcp_t listener;
	uv_loop_t loop;

	if (uv_loop_init(&loop) < 0)
		return NULL;
	timers = timers_new(&loop, e->timers);
	for (int i = 0; timers != NULL && i < e->timers; i++)
		uv_timer_start(&timers[i], timer_fired, 3600 * 1000, 0);
	uv_tcp_init(&loop, &listener);
	uv_tcp_open(&listener, e->listener);
	uv_listen((uv_stream_t *)&listener, 4096, echo_accept);
	uv_run(&loop, UV_RUN_DEFAULT);
	return NULL;
}

static void echo(const void *arg)
{
	const struct echo_server *s = arg;
	struct echo_loop loops[ECHO_LOOPS_MAX];
	pthread_t thread;

	for (int i = 0; i < s->loops; i++)
		loops[i] = (struct echo_loop){ s->listeners[i], s->timers / s->loops };
	for (int i = 1; i < s->loops; i++)
		pthread_create(&thread, NULL, echo_main, &loops[i]);
	echo_main(&loops[0]);
}

const struct peer peer_libuv = {
	.name = "libuv",
	.post = post,
	.post_foreign = post_foreign,
	.timers_fire = timers_fire,
	.timers_churn = timers_churn,
	.echo = echo,
};
