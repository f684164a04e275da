/* overload.c - how many requests are answered in time when too many come.
 *
 * An open loop: a foreign thread, on a CPU of its own, posts requests at a rate
 * given in units of what one worker can serve, which is measured first. An
 * answer counts if it comes within the deadline after the request was due. With
 * a drop function, a request that waited too long costs almost nothing; without,
 * the worker spends its time on requests that are late already.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "bench.h"

#define SERVICE 50000 /* cycles of work a request */
#define COLORS 64
#define FIRST_COLOR ((weft_color)1000)
#define DEADLINE (20 * WEFT_MS)
#define WARM_UP 2000 /* requests that measure the capacity */

struct overload_case {
	const char *label;
	double load;
	bool drop;
	uint32_t delay_ms, depth;
};

struct request {
	weft_event event;
	uint64_t due;
};

static struct {
	const struct overload_case *c;
	struct request *requests;
	int count;
	int warm_left;
	uint64_t warm_begin;
	double service_ns;
	sem_t go;
	pthread_t thread;
	/* Of the worker alone. */
	uint64_t good, late, dropped;
	int error;
} t;

static void serve(void *arg)
{
	struct request *r = arg;

	bench_work(SERVICE);
	if (bench_now() - r->due <= DEADLINE)
		t.good++;
	else
		t.late++;
}

static void say_busy(void *arg)
{
	(void)arg;
	t.dropped++;
}

static void warm_up(void *arg)
{
	(void)arg;
	bench_work(SERVICE);
	if (--t.warm_left > 0)
		return;
	t.service_ns = (double)(bench_now() - t.warm_begin) / WARM_UP;
	sem_post(&t.go);
}

/* Posts the requests when they are due, then gives the last ones their time. */
static void *arrivals(void *arg)
{
	uint64_t start, interval;
	int result = 0;

	(void)arg;
	bench_pin(1);
	sem_wait(&t.go);
	start = bench_now();
	interval = (uint64_t)(t.service_ns / t.c->load);
	t.count = (int)(bench_seconds(0.7) * 1e9 / (double)interval);
	t.requests = calloc((size_t)t.count, sizeof *t.requests);
	if (t.requests == NULL)
		result = -ENOMEM;
	for (int i = 0; i < t.count && result == 0; i++) {
		struct request *r = &t.requests[i];

		weft_event_init(&r->event, FIRST_COLOR + (weft_color)(i % COLORS), serve, r);
		r->event.drop = t.c->drop ? say_busy : NULL;
		r->due = start + (uint64_t)i * interval;
		while (bench_now() < r->due)
			bench_work(100);
		result = weft_event_post(&r->event);
	}
	start = bench_now();
	while (bench_now() - start < DEADLINE)
		bench_work(1000);
	t.error = result;
	weft_stop();
	return NULL;
}

static int app(void *arg)
{
	int result = weft_hold();

	(void)arg;
	t.warm_left = WARM_UP;
	t.warm_begin = bench_now();
	for (int i = 0; i < WARM_UP && result == 0; i++)
		result = weft_post(FIRST_COLOR + (weft_color)(i % COLORS), warm_up, NULL);
	return result;
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	double seconds = bench_seconds(0.7);
	int result;

	t.c = arg;
	opt.queue_delay_ms = t.c->delay_ms;
	opt.queue_depth = t.c->depth;
	sem_init(&t.go, 0, 0);
	if (pthread_create(&t.thread, NULL, arrivals, NULL) != 0)
		return -EAGAIN;
	bench_pin(0);
	result = weft_run(app, NULL, &opt);
	if (result < 0)
		return result;
	pthread_join(t.thread, NULL);
	if (t.error < 0)
		return t.error;
	values[0] = (double)t.good / seconds;
	values[1] = values[0] * t.service_ns / 1e9 * 100;
	values[2] = 100.0 * (double)t.dropped / t.count;
	values[3] = 100.0 * (double)(t.count - (int)t.good - (int)t.dropped) / t.count;
	return 0;
}

static const struct overload_case cases[] = {
	{ "0.9 x capacity, no drop function", 0.9, false, 0, 0 },
	{ "0.9 x capacity, drop by delay", 0.9, true, 5, 0 },
	{ "3 x capacity, no drop function", 3, false, 0, 0 },
	{ "3 x capacity, drop after 5 ms", 3, true, 5, 0 },
	{ "3 x capacity, drop above 200 queued", 3, true, 0, 200 },
};

static const struct bench_plan plan = {
	.name = "overload",
	.work = "requests of 50,000 cycles for one worker, from a thread on another CPU; an\n"
		"answer is good within 20 ms; 'late' includes what was never answered",
	.metrics = { { "goodput", "req/s", BENCH_HIGHER },
		     { "of capacity", "%", BENCH_HIGHER },
		     { "dropped", "%", BENCH_LOWER },
		     { "late", "%", BENCH_LOWER } },
	.metric_count = 4,
	.repeats = 3,
};

int bench_overload(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)], *peak;

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		rows[i] = bench_add(cases[i].label, "weft", measure, &cases[i]);
	bench_run();
	peak = rows[bench_pick(rows, BENCH_COUNT(cases), 0, BENCH_HIGHER)];
	bench_ratio("3 x, drop after 5 ms / the peak", rows[3], peak, 0, BENCH_HIGHER,
		    "at least 0.9");
	bench_ratio("3 x, drop above 200 queued / the peak", rows[4], peak, 0, BENCH_HIGHER,
		    "at least 0.9");
	bench_ratio("3 x, no drop function / the peak", rows[2], peak, 0, BENCH_HIGHER, "");
	return bench_end();
}
