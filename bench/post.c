/* post.c - what it costs to post an event, and to post it and run it.
 *
 * A round posts a batch of events and ends when all of them ran. The post alone
 * is the time of the posting loop; the post and its run is the time of the whole
 * round, so that nothing is hidden in between.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "bench.h"
#include "peer.h"

#define OWN ((weft_color)7)
#define OTHER ((weft_color)8)
#define FAR ((weft_color)9)
#define MANY 1000000

enum kind { TO_OWN, TO_OTHER, TO_FRESH, BY_FUNCTION, CROSS, FOREIGN, PING_PONG };

struct post_case {
	const char *label;
	enum kind kind;
	int workers;
	int colors_seen; /* before the measurement begins */
};

static const struct post_work batches = { .batch = 256, .rounds = 10000 };
static const struct post_work long_batches = { .batch = 4096, .rounds = 60 };

static struct {
	const struct post_case *c;
	const struct post_work *work;
	weft_event *events;
	weft_event next; /* starts a round, in color OWN */
	int round, left;
	_Atomic int left_shared;
	int colors_left, colors_queued;
	uint64_t begin, post_ns, prepare_ns, all_ns;
	pthread_t thread;
	struct peer_poster poster;
	uint64_t foreign_ran;
	int error;
} t;

static void check(int result)
{
	if (result < 0 && t.error == 0) {
		t.error = result;
		weft_stop();
	}
}

static void ran(void *arg)
{
	(void)arg;
	if (--t.left == 0)
		check(weft_event_post(&t.next));
}

/* For events that may run on several workers at once. */
static void ran_shared(void *arg)
{
	(void)arg;
	if (atomic_fetch_sub_explicit(&t.left_shared, 1, memory_order_acq_rel) == 1)
		check(weft_event_post(&t.next));
}

static void prepare(void)
{
	uint64_t start = bench_now();

	t.left = t.work->batch;
	atomic_store(&t.left_shared, t.work->batch);
	if (t.c->kind == TO_FRESH)
		for (int i = 0; i < t.work->batch; i++)
			t.events[i].color = weft_color_new();
	t.prepare_ns += bench_now() - start;
}

static void round_run(void *arg)
{
	uint64_t start;
	int result = 0;

	(void)arg;
	if (t.round == 0)
		t.begin = bench_now();
	if (t.round++ == t.work->rounds) {
		t.all_ns = bench_now() - t.begin - t.prepare_ns;
		weft_stop();
		return;
	}
	prepare();
	start = bench_now();
	if (t.c->kind == BY_FUNCTION)
		for (int i = 0; i < t.work->batch; i++)
			result |= weft_post(OWN, ran, NULL);
	else
		for (int i = 0; i < t.work->batch; i++)
			result |= weft_event_post(&t.events[i]);
	t.post_ns += bench_now() - start;
	check(result);
}

/* Two colors on two workers that hand an event to and fro. */
static void ping(void *arg)
{
	weft_event *answer = arg;

	if (t.round++ == 0)
		t.begin = bench_now();
	if (t.round > 100000) {
		t.all_ns = bench_now() - t.begin;
		weft_stop();
		return;
	}
	check(weft_event_post(answer));
}

static void foreign_post(int i)
{
	int result = weft_event_post(&t.events[i]);

	if (result < 0)
		check(result);
}

static void foreign_ran(void *arg)
{
	(void)arg;
	atomic_store_explicit(&t.poster.ran, ++t.foreign_ran, memory_order_release);
}

static void foreign_end(void)
{
	weft_drop();
}

static void begin_foreign(void)
{
	t.poster = (struct peer_poster){ .work = t.work, .post = foreign_post, .end = foreign_end };
	check(weft_hold());
	check(-pthread_create(&t.thread, NULL, peer_poster_main, &t.poster));
}

static void begin(void)
{
	switch (t.c->kind) {
	case FOREIGN:
		begin_foreign();
		break;
	case PING_PONG:
		check(weft_color_pin(OWN, 0));
		check(weft_color_pin(FAR, 1));
		check(weft_event_post(&t.events[0]));
		break;
	case CROSS:
		check(weft_color_pin(OWN, 0));
		check(weft_color_pin(FAR, 1));
		check(weft_event_post(&t.next));
		break;
	default:
		check(weft_event_post(&t.next));
	}
}

static void see_colors(void *arg);

static void color_seen(void *arg)
{
	(void)arg;
	if (--t.colors_queued == 0)
		check(weft_post(OWN, see_colors, NULL));
}

/* Runs an event in each of many fresh colors, a thousand at a time, then begins.
 * One worker only. */
static void see_colors(void *arg)
{
	(void)arg;
	if (t.colors_left == 0) {
		begin();
		return;
	}
	t.colors_queued = t.colors_left < 1000 ? t.colors_left : 1000;
	t.colors_left -= t.colors_queued;
	for (int i = t.colors_queued; i > 0; i--)
		check(weft_post(weft_color_new(), color_seen, NULL));
}

static int app(void *arg)
{
	weft_fn *fn = t.c->kind == FOREIGN                        ? foreign_ran
		      : t.c->kind == TO_FRESH && t.c->workers > 1 ? ran_shared
								  : ran;
	weft_color color = t.c->kind == TO_OTHER ? OTHER : t.c->kind == CROSS ? FAR : OWN;

	(void)arg;
	weft_event_init(&t.next, OWN, round_run, NULL);
	for (int i = 0; i < t.work->batch; i++)
		weft_event_init(&t.events[i], color, fn, NULL);
	if (t.c->kind == PING_PONG) {
		weft_event_init(&t.events[0], OWN, ping, &t.events[1]);
		weft_event_init(&t.events[1], FAR, ping, &t.events[0]);
	}
	t.colors_left = t.c->colors_seen;
	return weft_post(OWN, see_colors, NULL);
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .stall_ms = -1 };
	double posts;
	int result;

	t.c = arg;
	t.work = t.c->kind == CROSS || t.c->kind == FOREIGN ? &long_batches : &batches;
	t.events = calloc((size_t)t.work->batch, sizeof *t.events);
	if (t.events == NULL)
		return -ENOMEM;
	opt.workers = t.c->workers;
	result = weft_run(app, NULL, &opt);
	if (result < 0 || t.error < 0)
		return result < 0 ? result : t.error;
	posts = (double)t.work->batch * t.work->rounds;
	values[0] = (double)t.post_ns / posts;
	values[1] = (double)t.all_ns / posts;
	if (t.c->kind == FOREIGN) {
		pthread_join(t.thread, NULL);
		peer_poster_values(&t.poster, values);
	} else if (t.c->kind == PING_PONG) {
		values[0] = NAN;
		values[1] = (double)t.all_ns / 100000;
	}
	return 0;
}

enum { OWN_ROW, FRESH_ROW, OWN_MANY_ROW, FRESH_MANY_ROW };

static const struct post_case cases[] = {
	[OWN_ROW] = { "own color", TO_OWN, 1, 0 },
	[FRESH_ROW] = { "fresh colors", TO_FRESH, 1, 0 },
	[OWN_MANY_ROW] = { "own color, 1M colors seen", TO_OWN, 1, MANY },
	[FRESH_MANY_ROW] = { "fresh colors, 1M colors seen", TO_FRESH, 1, MANY },
	{ "fresh colors, 2 workers", TO_FRESH, 2, 0 },
	{ "another color", TO_OTHER, 1, 0 },
	{ "own color, weft_post", BY_FUNCTION, 1, 0 },
	{ "to another worker", CROSS, 2, 0 },
	{ "to and fro between 2 workers", PING_PONG, 2, 0 },
	{ "from a foreign thread", FOREIGN, 1, 0 },
};

static const struct bench_plan plan = {
	.name = "post",
	.work = "posts in batches of 256 (4096 across threads), then all of them run;\n"
		"libuv: idle handle started and stopped (foreign: list, mutex, uv_async);\n"
		"libevent: event_active",
	.metrics = { { "post", "ns", BENCH_LOWER }, { "post and run", "ns", BENCH_LOWER } },
	.metric_count = 2,
	.repeats = 5,
};

int bench_post(void)
{
	struct bench_row *rows[BENCH_COUNT(cases)];

	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++) {
		rows[i] = bench_add(cases[i].label, "weft", measure, &cases[i]);
		if (cases[i].kind == TO_OWN && cases[i].colors_seen == 0) {
			peer_add(cases[i].label, &peer_libuv, peer_libuv.post, &batches);
			peer_add(cases[i].label, &peer_libevent, peer_libevent.post, &batches);
		} else if (cases[i].kind == FOREIGN) {
			peer_add(cases[i].label, &peer_libuv, peer_libuv.post_foreign,
				 &long_batches);
			peer_add(cases[i].label, &peer_libevent, peer_libevent.post_foreign,
				 &long_batches);
		}
	}
	bench_run();
	bench_figure("in-worker post", rows[OWN_ROW], 0, "below 30");
	bench_ratio("own color, after / before 1M colors", rows[OWN_MANY_ROW], rows[OWN_ROW], 1,
		    BENCH_LOWER, "1");
	bench_ratio("fresh colors, after / before 1M colors", rows[FRESH_MANY_ROW], rows[FRESH_ROW],
		    1, BENCH_LOWER, "1");
	return bench_end();
}
