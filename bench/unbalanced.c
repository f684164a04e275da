/* unbalanced.c - Mely's test of base and time-left stealing (tables III and IV).
 *
 * 50,000 events of as many colors are posted on the first worker: 98% take 100
 * cycles, the others 10,000 to 50,000. A thief that takes short ones loses.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mely.h"

#define EVENTS 50000
#define FIRST_COLOR ((weft_color)1000)

static weft_event *events;

static void short_run(void *arg)
{
	(void)arg;
	bench_work(100);
	mely_event_done(100);
}

static void long_run(void *arg)
{
	uint64_t cycles = (uint64_t)(uintptr_t)arg;

	bench_work(cycles);
	mely_event_done(cycles);
}

static int prepare(int workers)
{
	uint64_t seed = 1;

	(void)workers;
	events = calloc(EVENTS, sizeof *events);
	if (events == NULL)
		return -ENOMEM;
	for (int i = 0; i < EVENTS; i++) {
		uintptr_t cycles = 10000 + bench_random(&seed) % 40001;

		/* Every 50th, so that the long ones are spread over the queue. */
		weft_event_init(&events[i], FIRST_COLOR + (weft_color)i,
				i % 50 == 0 ? long_run : short_run, (void *)cycles);
	}
	return 0;
}

static void round_post(int start)
{
	(void)start;
	for (int i = 0; i < EVENTS; i++)
		mely_post(&events[i]);
}

static const struct mely_test test = { .round = round_post, .events = EVENTS, .prepare = prepare };

static const struct bench_paper paper[] = {
	{ "8 cores, stealing off", "Libasync-smp", { 1310, NAN, NAN, NAN } },
	{ "8 cores, stealing", "Libasync-smp", { 122, 484, NAN, 28329 } },
	{ "8 cores, stealing off", "Mely", { 1265, NAN, NAN, NAN } },
	{ "8 cores, stealing base", "Mely", { 1195, 445, NAN, 2261 } },
	{ "8 cores, stealing time", "Mely", { 2042, 49987, NAN, NAN } },
	{ 0 },
};

static const struct bench_plan plan = {
	.name = "unbalanced",
	.work = "rounds of 50,000 events of as many colors on the first worker,\n"
		"98% of 100 cycles, 2% of 10,000 to 50,000 cycles",
	.metrics = MELY_METRICS,
	.metric_count = MELY_COST + 1,
	.repeats = 9,
};

int bench_unbalanced(void)
{
	return mely_bench(&plan, &test, paper, "at least 90% of it");
}
