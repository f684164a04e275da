/* libevent.c - the peer libevent, used as its manual says and as fast as it can be.
 *
 * Plain events with recv and send: bufferevents are slower for an echo.
 */
#include <errno.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

/* Posts: event_active in the loop's own thread. The last event of a round
 * starts the next one. */

static struct {
	const struct post_work *work;
	struct event *posts;
	int round;
	uint64_t post_ns;
} in_loop;

static void posted_run(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void post_round(evutil_socket_t fd, short what, void *arg)
{
	uint64_t start;

	(void)fd;
	(void)what;
	(void)arg;
	if (in_loop.round++ == in_loop.work->rounds)
		return;
	start = bench_now();
	for (int i = 0; i < in_loop.work->batch; i++)
		event_active(&in_loop.posts[i], EV_READ, 0);
	in_loop.post_ns += bench_now() - start;
}

static int post(const void *arg, double *values)
{
	const struct post_work *work = arg;
	double posts = (double)work->batch * work->rounds;
	struct event_base *base = event_base_new();
	uint64_t start;

	in_loop.work = work;
	in_loop.posts = calloc((size_t)work->batch, sizeof *in_loop.posts);
	if (base == NULL || in_loop.posts == NULL)
		return -ENOMEM;
	for (int i = 0; i < work->batch - 1; i++)
		event_assign(&in_loop.posts[i], base, -1, 0, posted_run, NULL);
	event_assign(&in_loop.posts[work->batch - 1], base, -1, 0, post_round, NULL);
	start = bench_now();
	post_round(-1, 0, NULL);
	event_base_dispatch(base);
	values[0] = (double)in_loop.post_ns / posts;
	values[1] = (double)(bench_now() - start) / posts;
	return 0;
}

/* From a foreign thread: event_active with libevent's own locks. */

static struct {
	struct peer_poster poster;
	struct event_base *base;
	struct event *posts;
	uint64_t ran;
} foreign;

static void foreign_post(int i)
{
	event_active(&foreign.posts[i], EV_READ, 0);
}

static void foreign_run(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	atomic_store_explicit(&foreign.poster.ran, ++foreign.ran, memory_order_release);
}

static void foreign_end(void)
{
	event_base_loopbreak(foreign.base);
}

static int post_foreign(const void *arg, double *values)
{
	const struct post_work *work = arg;
	pthread_t thread;

	evthread_use_pthreads();
	foreign.base = event_base_new();
	foreign.posts = calloc((size_t)work->batch, sizeof *foreign.posts);
	foreign.poster =
		(struct peer_poster){ .work = work, .post = foreign_post, .end = foreign_end };
	if (foreign.base == NULL || foreign.posts == NULL)
		return -ENOMEM;
	for (int i = 0; i < work->batch; i++)
		event_assign(&foreign.posts[i], foreign.base, -1, 0, foreign_run, NULL);
	if (pthread_create(&thread, NULL, peer_poster_main, &foreign.poster) != 0)
		return -EAGAIN;
	event_base_loop(foreign.base, EVLOOP_NO_EXIT_ON_EMPTY);
	pthread_join(thread, NULL);
	peer_poster_values(&foreign.poster, values);
	return 0;
}

/* Timers */

static uint64_t fired;

static void timer_fired(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	fired++;
}

static struct event *timers_new(struct event_base *base, int count)
{
	struct event *timers = calloc((size_t)count, sizeof *timers);

	for (int i = 0; timers != NULL && i < count; i++)
		evtimer_assign(&timers[i], base, timer_fired, NULL);
	return timers;
}

static void timer_add(struct event *timer, uint32_t ms)
{
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	event_add(timer, &tv);
}

static void timer_start(struct event *timer, int span_ms, uint64_t *seed)
{
	timer_add(timer, 1 + bench_random(seed) % (uint32_t)span_ms);
}

static int timers_fire(const void *arg, double *values)
{
	const struct timer_work *work = arg;
	struct event_base *base = event_base_new();
	struct event *timers = timers_new(base, work->count);
	uint64_t start, started, due, seed = 1;

	if (base == NULL || timers == NULL)
		return -ENOMEM;
	start = bench_now();
	for (int i = 0; i < work->count; i++)
		timer_start(&timers[i], work->span_ms, &seed);
	started = bench_now();
	while (bench_now() - started < (uint64_t)(work->span_ms + 10) * 1000000u)
		usleep(1000);
	due = bench_now();
	event_base_dispatch(base);
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
	struct event_base *base = event_base_new();
	struct event *timers = timers_new(base, work->count);
	uint64_t start, seed = 1;
	const struct timer_step *steps = timer_steps_new(work, &seed);

	if (base == NULL || timers == NULL || steps == NULL)
		return -ENOMEM;
	for (int i = 0; i < work->count; i++)
		timer_start(&timers[i], work->span_ms, &seed);
	start = bench_thread_cpu();
	for (int i = 0; i < work->restarts; i++) {
		struct event *t = &timers[steps[i].timer];

		if (!work->put_off)
			event_del(t);
		timer_add(t, steps[i].delay_ms);
	}
	values[0] = (double)(bench_thread_cpu() - start) / work->restarts;
	return 0;
}

/* Echo */

struct conn {
	struct event readable, writable;
	int fd;
	size_t sent, len; /* of what waits for room */
	char buf[ECHO_BUFFER];
};

static void echo_close(struct conn *c)
{
	event_del(&c->readable);
	event_del(&c->writable);
	close(c->fd);
	free(c);
}

static bool would_block(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void echo_read(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	ssize_t n = recv(fd, c->buf, sizeof c->buf, 0);
	ssize_t sent;

	(void)what;
	if (would_block(n))
		return;
	if (n <= 0) {
		echo_close(c);
		return;
	}
	sent = send(fd, c->buf, (size_t)n, MSG_NOSIGNAL);
	if (sent == n)
		return;
	if (sent < 0 && !would_block(sent)) {
		echo_close(c);
		return;
	}
	c->sent = sent > 0 ? (size_t)sent : 0;
	c->len = (size_t)n;
	event_del(&c->readable);
	event_add(&c->writable, NULL);
}

static void echo_write(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	ssize_t n = send(fd, c->buf + c->sent, c->len - c->sent, MSG_NOSIGNAL);

	(void)what;
	if (n < 0 && !would_block(n)) {
		echo_close(c);
		return;
	}
	c->sent += n > 0 ? (size_t)n : 0;
	if (c->sent < c->len)
		return;
	event_del(&c->writable);
	event_add(&c->readable, NULL);
}

static void echo_accept(evutil_socket_t listener, short what, void *arg)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct conn *c;
	int one = 1;

	(void)what;
	if (fd < 0)
		return;
	c = malloc(sizeof *c);
	if (c == NULL) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	c->fd = fd;
	event_assign(&c->readable, arg, fd, EV_READ | EV_PERSIST, echo_read, c);
	event_assign(&c->writable, arg, fd, EV_WRITE | EV_PERSIST, echo_write, c);
	event_add(&c->readable, NULL);
}

struct echo_loop {
	int listener, timers;
};

static void *echo_main(void *arg)
{
	const struct timeval hour = { .tv_sec = 3600 };
	const struct echo_loop *e = arg;
	struct event_base *base = event_base_new();
	struct event *timers, listener;

	if (base == NULL)
		return NULL;
	timers = timers_new(base, e->timers);
	for (int i = 0; timers != NULL && i < e->timers; i++)
		event_add(&timers[i], &hour);
	event_assign(&listener, base, e->listener, EV_READ | EV_PERSIST, echo_accept, base);
	event_add(&listener, NULL);
	event_base_dispatch(base);
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

const struct peer peer_libevent = {
	.name = "libevent",
	.post = post,
	.post_foreign = post_foreign,
	.timers_fire = timers_fire,
	.timers_churn = timers_churn,
	.echo = echo,
};
