/* stall.c - what the others do while one worker is blocked in a system call.
 *
 * Chains of events, each a color that posts itself again after 10 us of work,
 * run on all workers. Then a handler sleeps for a second.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "bench.h"

#define CHAINS 16
#define LONG 100e6 /* ns of silence that a user would notice */
#define FIRST_COLOR ((weft_color)1000)
#define BLOCKER ((weft_color)1)

struct stall_case {
	const char *label;
	int workers, stall_ms;
};

struct chain {
	weft_event event;
	_Atomic uint64_t run;
	_Atomic uint64_t silence; /* longest time between two events */
	uint64_t last;
} __attribute__((aligned(64)));

static struct {
	struct chain chains[CHAINS];
	weft_event blocker;
	pthread_t thread;
	double before, during, silence;
	int went_on; /* chains that were never silent for long */
	uint64_t work;
	_Atomic int reports;
	_Atomic bool blocked;
} t;

static void chain_run(void *arg)
{
	struct chain *c = arg;
	uint64_t now;

	bench_work(t.work);
	now = bench_now();
	if (c->last != 0 && now - c->last > atomic_load_explicit(&c->silence, memory_order_relaxed))
		atomic_store_explicit(&c->silence, now - c->last, memory_order_relaxed);
	c->last = now;
	atomic_fetch_add_explicit(&c->run, 1, memory_order_relaxed);
	weft_event_post(&c->event);
}

static void block(void *arg)
{
	struct timespec second = { .tv_sec = 1 };

	(void)arg;
	atomic_store(&t.blocked, true);
	nanosleep(&second, NULL);
}

static uint64_t all_run(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < CHAINS; i++)
		sum += atomic_load_explicit(&t.chains[i].run, memory_order_relaxed);
	return sum;
}

/* Events in a second, over so many milliseconds. */
static double rate_over(int ms)
{
	uint64_t run = all_run(), start = bench_now();

	usleep((useconds_t)ms * 1000);
	return (double)(all_run() - run) / ((double)(bench_now() - start) / 1e9);
}

/* How long the chain that waited most had to wait, and how many did not. */
static void read_silence(void)
{
	for (int i = 0; i < CHAINS; i++) {
		double silence = (double)atomic_load(&t.chains[i].silence);

		t.silence = silence > t.silence ? silence : t.silence;
		t.went_on += silence < LONG;
	}
}

static void *watcher(void *arg)
{
	(void)arg;
	usleep(50000);
	t.before = rate_over(400);
	for (int i = 0; i < CHAINS; i++)
		atomic_store(&t.chains[i].silence, 0);
	weft_event_post(&t.blocker);
	while (!atomic_load(&t.blocked))
		usleep(1000);
	t.during = rate_over(950);
	/* Past the end, so that a chain that was stopped has run again. */
	usleep(150000);
	read_silence();
	weft_stop();
	return NULL;
}

static void count_report(enum weft_report_kind kind, const char *text, void *arg)
{
	(void)text;
	(void)arg;
	if (kind == WEFT_REPORT_STALL)
		atomic_fetch_add(&t.reports, 1);
}

static int app(void *arg)
{
	int result = weft_hold();

	(void)arg;
	weft_event_init(&t.blocker, BLOCKER, block, NULL);
	for (int i = 0; i < CHAINS && result == 0; i++) {
		weft_event_init(&t.chains[i].event, FIRST_COLOR + (weft_color)i, chain_run,
				&t.chains[i]);
		result = weft_event_post(&t.chains[i].event);
	}
	return result < 0 ? result : -pthread_create(&t.thread, NULL, watcher, NULL);
}

static int measure(const void *arg, double *values)
{
	const struct stall_case *c = arg;
	weft_options opt = { .workers = c->workers, .stall_ms = c->stall_ms };
	int result;

	t.work = (uint64_t)(10000 * bench_ghz());
	weft_on_report(count_report, NULL);
	result = weft_run(app, NULL, &opt);
	if (result < 0)
		return result;
	pthread_join(t.thread, NULL);
	values[0] = t.before / 1e3;
	values[1] = t.during / 1e3;
	values[2] = t.during / t.before * 100;
	values[3] = t.silence / 1e6;
	values[4] = t.went_on;
	values[5] = atomic_load(&t.reports);
	return 0;
}

static const struct stall_case cases[] = {
	{ "1 worker, stuck after 10 ms", 1, 10 },
	{ "1 worker, nobody looks", 1, -1 },
	{ "2 workers, stuck after 10 ms", 2, 10 },
	{ "2 workers, nobody looks", 2, -1 },
};

static const struct bench_plan plan = {
	.name = "stall",
	.work = "16 colors of 10 us events on all workers, while one handler sleeps for 1 s",
	.metrics = { { "before", "Kevents/s", BENCH_HIGHER },
		     { "while blocked", "Kevents/s", BENCH_HIGHER },
		     { "goes on", "%", BENCH_HIGHER },
		     { "longest silence", "ms", BENCH_LOWER },
		     { "colors that go on", "of 16", BENCH_HIGHER },
		     { "stall reports", "count", BENCH_HIGHER } },
	.metric_count = 6,
	.repeats = 3,
};

int bench_stall(void)
{
	bench_begin(&plan);
	for (int i = 0; i < BENCH_COUNT(cases); i++)
		bench_add(cases[i].label, "weft", measure, &cases[i]);
	bench_run();
	return bench_end();
}
