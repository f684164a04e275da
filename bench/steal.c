/* steal.c - what it costs to steal a color, by the number of events queued.
 *
 * The first worker queues N colors of one event each and stays busy; another one
 * steals them. The events do nothing but are said to be long, so that each is
 * worth the trip. Two figures: what the runtime itself measured, and what can be
 * seen from outside, the time on the thief from the end of one event to the
 * start of the next: the steal, the turn, and giving the color back.
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "bench.h"

#define GAPS 20000
#define FIRST_COLOR ((weft_color)1000)
/* Events used in turn, however few are queued at a time: else a short queue
 * would look cheaper only because its memory is warm. */
#define EVENTS 50000
/* Steals awaited in a round, at most: the queue must stay about as long. */
#define QUOTA 500
/* A thief that took nothing for so long will not come. */
#define PATIENCE (200 * WEFT_MS)

static struct {
	int queued;
	int next; /* event to post */
	weft_event *events;
	weft_event round;
	_Atomic int left __attribute__((aligned(64))); /* of this round */
	_Atomic int stolen __attribute__((aligned(64)));
	/* Of the thief alone. */
	uint64_t last_end __attribute__((aligned(64)));
	int gap_count;
	uint32_t gaps[GAPS];
	/* Of the first worker. */
	uint64_t begin __attribute__((aligned(64)));
	uint64_t steals, cost_ns;
	int error;
} t;

static void fail(int error)
{
	t.error = t.error != 0 ? t.error : error;
	weft_stop();
}

static void stolen_event(void)
{
	uint64_t now = bench_ticks();

	if (t.last_end != 0 && t.gap_count < GAPS)
		t.gaps[t.gap_count++] = (uint32_t)(now - t.last_end);
	atomic_fetch_add_explicit(&t.stolen, 1, memory_order_relaxed);
}

static void event_run(void *arg)
{
	bool thief = weft_worker_current() != 0;

	(void)arg;
	if (thief) {
		stolen_event();
		/* Before the count goes down: after it, the next round may begin. */
		t.last_end = bench_ticks();
	}
	if (atomic_fetch_sub_explicit(&t.left, 1, memory_order_acq_rel) == 1) {
		int result = weft_event_post(&t.round);

		if (result < 0)
			fail(result);
	}
}

static void finish(void)
{
	weft_worker_stats workers[2];
	weft_stats_all all;

	if (weft_stats(&all, workers, 2) == 2) {
		t.steals = workers[1].steals;
		t.cost_ns = all.steal_cost_ns;
	}
	weft_stop();
}

/* Stays busy while the thief steals, and looks seldom, so as not to slow it. */
static void await_thief(int quota)
{
	uint64_t start = bench_now();

	while (atomic_load_explicit(&t.stolen, memory_order_relaxed) < quota) {
		bench_work(5000);
		if (bench_now() - start > PATIENCE) {
			fail(-ETIMEDOUT);
			return;
		}
	}
}

static void round_run(void *arg)
{
	(void)arg;
	if (t.gap_count >= GAPS || bench_now() - t.begin > (uint64_t)(bench_seconds(0.5) * 1e9)) {
		finish();
		return;
	}
	/* The gap between rounds is no steal. Nothing is queued: the thief idles. */
	t.last_end = 0;
	atomic_store(&t.stolen, 0);
	atomic_store(&t.left, t.queued);
	for (int i = 0; i < t.queued; i++) {
		int result = weft_event_post(&t.events[t.next]);

		t.next = (t.next + 1) % EVENTS;
		if (result < 0) {
			fail(result);
			return;
		}
	}
	await_thief(t.queued < QUOTA ? t.queued : QUOTA);
}

static int app(void *arg)
{
	(void)arg;
	for (int i = 0; i < EVENTS; i++)
		weft_event_init(&t.events[i], FIRST_COLOR + (weft_color)i, event_run, NULL);
	weft_event_init(&t.round, 1, round_run, NULL);
	weft_color_pin(1, 0);
	weft_handler_time(event_run, 100 * WEFT_US);
	t.begin = bench_now();
	return weft_event_post(&t.round);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .workers = 2, .stall_ms = -1 };
	double cycles = bench_tick_ns() * bench_ghz();
	int result;

	t.queued = *(const int *)arg;
	t.events = calloc(EVENTS, sizeof *t.events);
	if (t.events == NULL)
		return -ENOMEM;
	result = weft_run(app, NULL, &opt);
	if (result < 0)
		return result;
	if (t.error == -ETIMEDOUT)
		return bench_fail("the second worker stole nothing");
	if (t.error < 0 || t.gap_count == 0)
		return bench_fail("error %d, %d steals seen", t.error, t.gap_count);
	qsort(t.gaps, (size_t)t.gap_count, sizeof t.gaps[0], compare);
	values[0] = (double)t.cost_ns * bench_ghz();
	values[1] = t.gaps[t.gap_count / 2] * cycles;
	values[2] = t.gaps[(size_t)t.gap_count * 9 / 10] * cycles;
	values[3] = (double)t.steals;
	return 0;
}

static const struct bench_plan plan = {
	.name = "steal",
	.work = "a busy worker has N colors of one event queued, another one steals them;\n"
		"'steal cost' is the runtime's own measure, 'event to event' is seen on the\n"
		"thief from outside: the steal and everything else between two events",
	.metrics = { { "steal cost", "cycles", BENCH_LOWER },
		     { "event to event", "cycles", BENCH_LOWER },
		     { "90th percentile", "cycles", BENCH_LOWER },
		     { "steals", "count", BENCH_HIGHER } },
	.metric_count = 4,
	.repeats = 3,
};

int bench_steal(void)
{
	static const int queued[] = { 10, 100, 1000, 10000, 50000 };
	static const double smp[] = { 28329, NAN, NAN, NAN }, mely[] = { 2261, NAN, NAN, NAN };
	struct bench_row *rows[BENCH_COUNT(queued)] = { 0 };
	char label[64];
	int last = BENCH_COUNT(queued) - 1;

	bench_begin(&plan);
	for (int i = 0; i <= last; i++) {
		snprintf(label, sizeof label, "%d events queued", queued[i]);
		if (bench_cpus() < 2)
			bench_add_missing(label, "weft", "needs two CPUs");
		else
			rows[i] = bench_add(label, "weft", measure, &queued[i]);
	}
	bench_add_paper("50000 events queued", "Libasync-smp", smp);
	bench_add_paper("50000 events queued", "Mely", mely);
	bench_run();
	bench_figure("steal cost, 50000 queued", rows[last], 0, "below 1000");
	bench_ratio("event to event, 50000 / 10 queued", rows[last], rows[0], 1, BENCH_LOWER,
		    "flat: 1");
	return bench_end();
}
