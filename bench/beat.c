/* beat.c - a thread that must run every 2 ms, while others compute.
 *
 * Two workers. So many threads, each in its own color, compute for 500 ms without a wait.
 * They are started by one thread, or are all in a sleep that ends at the same moment, so
 * that the kernel brings them. The beat is a thread that sleeps for 2 ms, again and again.
 */
#include <stdatomic.h>

#include <weft/weft.h>

#include "bench.h"

#define COMPUTE_NS ((uint64_t)500000000)
#define BEAT_NS ((uint64_t)2000000)
#define BEATS_MAX 100000
#define STATS_MAX 200

struct beat_case {
	const char *label;
	const char *io;
	int threads;
	bool woken; /* by the kernel, all at the same time */
};

static struct {
	const struct beat_case *work;
	weft_waitgroup computing;
	_Atomic bool over;
	uint64_t starts; /* when those that are woken are */
	uint64_t gap[BEATS_MAX];
	int beats;
	int kernel_threads;
} t;

static int compute(void *unused)
{
	uint64_t until;

	(void)unused;
	if (t.work->woken)
		weft_sleep_until(t.starts);
	until = bench_now() + COMPUTE_NS;
	while (bench_now() < until)
		continue;
	weft_waitgroup_done(&t.computing);
	return 0;
}

static int beat(void *unused)
{
	uint64_t last = bench_now(), now;

	(void)unused;
	while (!atomic_load(&t.over) && t.beats < BEATS_MAX) {
		weft_sleep(BEAT_NS);
		now = bench_now();
		t.gap[t.beats++] = now - last;
		last = now;
	}
	return 0;
}

static int app(void *unused)
{
	weft_worker_stats workers[STATS_MAX];
	weft_thread_attr attr = { .on = true, .color = weft_color_new() };
	weft_thread *beats;
	int rc = weft_thread_start(&beats, &attr, beat, NULL);

	(void)unused;
	if (rc < 0)
		return rc;
	weft_sleep(50000000);
	t.starts = weft_now() + 50000000;
	weft_waitgroup_add(&t.computing, t.work->threads);
	for (int i = 0; i < t.work->threads; i++) {
		rc = weft_go_on(weft_color_new(), compute, NULL);
		if (rc < 0)
			return rc;
	}
	weft_waitgroup_wait(&t.computing);
	t.kernel_threads = weft_stats(NULL, workers, STATS_MAX);
	weft_sleep(20000000);
	atomic_store(&t.over, true);
	return weft_join(beats, NULL);
}

static void ignore_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)kind;
	(void)text;
	(void)unused;
}

static int measure(const void *arg, double *values)
{
	weft_options opt = { .workers = 2 };
	uint64_t worst = 0, late = 0, began = bench_now();
	int rc;

	t.work = arg;
	opt.io = t.work->io;
	weft_on_report(ignore_report, NULL);
	rc = weft_run(app, NULL, &opt);
	if (rc < 0)
		return rc;
	for (int i = 0; i < t.beats; i++) {
		worst = t.gap[i] > worst ? t.gap[i] : worst;
		late += t.gap[i] > 5 * BEAT_NS;
	}
	values[0] = (double)worst / 1e6;
	values[1] = (double)late;
	values[2] = (double)(bench_now() - began) / 1e6;
	values[3] = t.kernel_threads;
	return 0;
}

static const struct beat_case cases[] = {
	{ "6 started, uring", "uring", 6, false },   { "12 started, uring", "uring", 12, false },
	{ "24 started, uring", "uring", 24, false }, { "6 started, epoll", "epoll", 6, false },
	{ "12 started, epoll", "epoll", 12, false }, { "24 started, epoll", "epoll", 24, false },
	{ "6 woken, uring", "uring", 6, true },      { "24 woken, uring", "uring", 24, true },
	{ "6 woken, epoll", "epoll", 6, true },      { "24 woken, epoll", "epoll", 24, true },
};

static const struct bench_plan plan = {
	.name = "beat",
	.work = "a thread that sleeps for 2 ms, again and again, on 2 workers, while so many "
		"threads "
		"compute for 500 ms each",
	.metrics = { { "worst beat", "ms", BENCH_LOWER },
		     { "over 10 ms", "beats", BENCH_LOWER },
		     { "in all", "ms", BENCH_LOWER },
		     { "kernel threads", "count", BENCH_LOWER } },
	.metric_count = 4,
	.repeats = 3,
};

int bench_beat(void)
{
	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		bench_add(cases[i].label, "weft", measure, &cases[i]);
	bench_run();
	return bench_end();
}
