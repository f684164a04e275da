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
	/* Counted by each worker, on a line of its own: work that came from rounds started
	 * elsewhere, and events B, all and those that had to fetch their data. */
	struct {
		uint64_t stolen_cycles __attribute__((aligned(64)));
		uint64_t b, b_away;
	} by[MELY_WORKERS_MAX];
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

void mely_data_of(int worker)
{
	int here = weft_worker_current();

	t.by[here].b++;
	t.by[here].b_away += here != worker;
}

void mely_event_done(uint64_t cycles)
{
	int worker = weft_worker_current();

	if (!starts_on(worker))
		t.by[worker].stolen_cycles += cycles;
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

/* A setting under test, the argument of measurements. */
struct setting {
	const struct mely_test *test;
	const char *steal;
	int workers;
};

static void tell(double *values)
{
	double events = (double)t.rounds * t.starts * t.test->events;
	uint64_t steals = 0, stolen = 0, b = 0, b_away = 0;

	for (int w = 0; w < t.stats_count && w < MELY_WORKERS_MAX; w++) {
		steals += t.stats[w].steals;
		stolen += t.by[w].stolen_cycles;
		b += t.by[w].b;
		b_away += t.by[w].b_away;
	}
	values[MELY_RATE] = events / ((double)(t.end - t.begin) / 1e9) / 1e3;
	values[MELY_STOLEN] = steals > 0 ? (double)stolen / (double)steals : NAN;
	values[MELY_STEALS] = (double)steals / (double)t.rounds;
	values[MELY_COST] = (double)t.all.steal_cost_ns * bench_ghz();
	values[MELY_AWAY] = b > 0 ? 100 * (double)b_away / (double)b : NAN;
}

static int measure(const void *arg, double *values)
{
	const struct setting *s = arg;
	weft_options opt = { .workers = s->workers, .steal = s->steal, .stall_ms = -1 };
	int err;

	t.test = s->test;
	t.limit = (uint64_t)(bench_seconds(0.8) * 1e9);
	err = weft_run(app, NULL, &opt);
	if (err < 0)
		return err;
	if (atomic_load(&t.error) < 0)
		return atomic_load(&t.error);
	if (t.end == 0)
		return bench_fail("the rounds stopped after %llu", (unsigned long long)t.rounds);
	tell(values);
	return 0;
}

int mely_bench(const struct bench_plan *plan, const struct mely_test *test,
	       const struct bench_paper *paper, const char *aim)
{
	static const char *const steals[] = { "off", "base", "locality", "time", "penalty", "all" };
	static struct setting settings[BENCH_COUNT(steals)];
	struct bench_row *rows[BENCH_COUNT(steals)];
	int cpus = bench_cpus();
	char label[64];

	bench_begin(plan);
	for (int i = 0; i < BENCH_COUNT(steals); i++) {
		settings[i] = (struct setting){ test, steals[i], cpus };
		snprintf(label, sizeof label, "%d cores, stealing %s", cpus, steals[i]);
		rows[i] = bench_add(label, "weft", measure, &settings[i]);
	}
	bench_add_papers(paper);
	bench_run();
	for (int i = 1; i < BENCH_COUNT(steals); i++) {
		char wanted[64];

		snprintf(label, sizeof label, "speed-up of %s over off", steals[i]);
		snprintf(wanted, sizeof wanted, "ideal %d%s%s", cpus, aim[0] != '\0' ? ", " : "",
			 aim);
		bench_ratio(label, rows[i], rows[0], 0, BENCH_HIGHER,
			    i == BENCH_COUNT(steals) - 1 ? wanted : "");
	}
	return bench_end();
}
