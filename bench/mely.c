/* mely.c - rounds of events under each setting of stealing. */
#include "mely.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
	const struct mely_test *test;
	int workers, starts;
	_Atomic int left __attribute__((aligned(64)));
	weft_event next __attribute__((aligned(64))); /* in color 1, on worker 0 */
	weft_event start[MELY_WORKERS_MAX];           /* each pinned to its worker */
	uint64_t begin, end, limit;
	uint64_t rounds;
	weft_stats_all all;
	weft_worker_stats stats[MELY_WORKERS_MAX];
	int stats_count;
	_Atomic int error;
	struct {
		/* Work that a round started elsewhere; a line for each worker. */
		_Atomic uint64_t cycles __attribute__((aligned(64)));
	} away[MELY_WORKERS_MAX];
} t;

static void fail(int error)
{
	atomic_store(&t.error, error);
	weft_stop();
}

void mely_post(weft_event *ev)
{
	int result = weft_event_post(ev);

	if (result < 0 && result != -ESHUTDOWN)
		fail(result);
}

/* A worker that no round starts on has nothing but what it stole. */
static bool starts_on(int worker)
{
	int every = t.test->start_every;

	return every > 0 ? worker % every == 0 : worker == 0;
}

void mely_event_done(uint64_t cycles)
{
	int worker = weft_worker_current();

	if (!starts_on(worker) && worker < MELY_WORKERS_MAX) {
		uint64_t sum = atomic_load_explicit(&t.away[worker].cycles, memory_order_relaxed);

		atomic_store_explicit(&t.away[worker].cycles, sum + cycles, memory_order_relaxed);
	}
	if (atomic_fetch_sub_explicit(&t.left, 1, memory_order_acq_rel) == 1)
		mely_post(&t.next);
}

static void start_run(void *arg)
{
	t.test->round((int)(intptr_t)arg);
}

static void next_run(void *arg)
{
	uint64_t now = bench_now();

	(void)arg;
	if (now - t.begin >= t.limit) {
		t.end = now;
		t.stats_count = weft_stats(&t.all, t.stats, MELY_WORKERS_MAX);
		weft_stop();
		return;
	}
	t.rounds++;
	atomic_store(&t.left, t.starts * t.test->events);
	for (int w = 0; w < t.workers; w++)
		if (starts_on(w))
			mely_post(&t.start[w]);
}

static int app(void *arg)
{
	int result = 0;

	(void)arg;
	t.workers = weft_workers();
	if (t.workers > MELY_WORKERS_MAX)
		return bench_fail("too many workers");
	weft_event_init(&t.next, 1, next_run, NULL);
	result = weft_color_pin(1, 0);
	for (int w = 0; w < t.workers && result == 0; w++) {
		weft_event_init(&t.start[w], 2 + (weft_color)w, start_run, (void *)(intptr_t)w);
		t.starts += starts_on(w);
		result = weft_color_pin(2 + (weft_color)w, w);
	}
	if (result == 0 && t.test->prepare != NULL)
		result = t.test->prepare(t.workers);
	t.begin = bench_now();
	return result < 0 ? result : weft_event_post(&t.next);
}

int mely_run(const struct mely_test *test, const struct mely_setting *setting,
	     struct mely_result *result)
{
	weft_options opt = { .workers = setting->workers, .steal = setting->steal, .stall_ms = -1 };
	uint64_t steals = 0, away = 0;
	double events;
	int err;

	t.test = test;
	t.limit = (uint64_t)(bench_seconds(0.8) * 1e9);
	err = weft_run(app, NULL, &opt);
	if (err < 0)
		return err;
	if (atomic_load(&t.error) < 0)
		return atomic_load(&t.error);
	if (t.end == 0)
		return bench_fail("the rounds stopped after %llu", (unsigned long long)t.rounds);
	for (int w = 0; w < t.stats_count && w < MELY_WORKERS_MAX; w++) {
		steals += t.stats[w].steals;
		away += atomic_load(&t.away[w].cycles);
	}
	events = (double)t.rounds * t.starts * test->events;
	result->kevents_per_s = events / ((double)(t.end - t.begin) / 1e9) / 1e3;
	result->steals_per_round = (double)steals / (double)t.rounds;
	result->stolen_cycles = steals > 0 ? (double)away / (double)steals : NAN;
	result->steal_cost_cycles = (double)t.all.steal_cost_ns * bench_ghz();
	return 0;
}

int mely_bench(const struct bench_plan *plan, bench_measure *measure,
	       const struct bench_paper *paper, const char *aim)
{
	static struct mely_setting settings[] = {
		{ "off", 0 },  { "base", 0 },    { "locality", 0 },
		{ "time", 0 }, { "penalty", 0 }, { "all", 0 },
	};
	struct bench_row *rows[BENCH_COUNT(settings)];
	int cpus = bench_cpus();
	char label[64];

	bench_begin(plan);
	for (int i = 0; i < BENCH_COUNT(settings); i++) {
		settings[i].workers = cpus;
		snprintf(label, sizeof label, "%d cores, stealing %s", cpus, settings[i].steal);
		rows[i] = bench_add(label, "weft", measure, &settings[i]);
	}
	bench_add_papers(paper);
	bench_run();
	for (int i = 1; i < BENCH_COUNT(settings); i++) {
		char wanted[64];

		snprintf(label, sizeof label, "speed-up of %s over off", settings[i].steal);
		snprintf(wanted, sizeof wanted, "ideal %d%s%s", cpus, aim[0] != '\0' ? ", " : "",
			 aim);
		bench_derive(label, bench_value(rows[i], 0) / bench_value(rows[0], 0), "x",
			     BENCH_HIGHER, i == BENCH_COUNT(settings) - 1 ? wanted : "");
	}
	return bench_end();
}
