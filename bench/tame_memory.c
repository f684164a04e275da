/* tame_memory.c - what waits without a stack: a million closures, what they take and what it costs
 * to make them and to let them go on.
 *
 * By hand it is what a programmer of callbacks would allocate: two words of state, the function that
 * goes on and its place in the table of who waits. Memory is what the kernel says is resident,
 * page tables included.
 */
#include <stdlib.h>
#include <unistd.h>

#include <weft/weft.h>

#include "tame.h"

enum { MILLION = 1000000 };

struct state {
	weft_fn *go_on;
	int *sum, n;
};

static struct state **by_hand;
static long by_hand_count;
static int total;

static void go_on(void *arg)
{
	struct state *s = arg;

	*s->sum += s->n;
	free(s);
}

static void hand_wait_all(long count)
{
	by_hand = calloc((size_t)count, sizeof by_hand[0]);
	by_hand_count = by_hand != NULL ? count : 0;
	for (long i = 0; i < by_hand_count; i++) {
		by_hand[i] = malloc(sizeof *by_hand[i]);
		if (by_hand[i] == NULL)
			abort();
		*by_hand[i] = (struct state){ go_on, &total, 0 };
	}
}

static void hand_wake_all(void)
{
	for (long i = 0; i < by_hand_count; i++) {
		by_hand[i]->n = 1;
		weft_post(WEFT_MAIN, by_hand[i]->go_on, by_hand[i]);
	}
}

struct contender {
	void (*wait_all)(long count);
	void (*wake_all)(void);
};

struct job {
	const struct contender *c;
	double *values;
	uint64_t begun;
};

static int app(void *arg)
{
	struct job *job = arg;
	double before = bench_resident(getpid());
	uint64_t start = bench_now();

	job->c->wait_all(MILLION);
	job->values[0] = (double)(bench_now() - start) / MILLION;
	/* The table of pointers is the benchmark's. */
	job->values[2] = (bench_resident(getpid()) - before) / MILLION - sizeof(void *);
	job->begun = bench_now();
	job->c->wake_all();
	return 0;
}

static int measure(const void *contender, double *values)
{
	struct job job = { contender, values, 0 };
	weft_options opt = { .workers = 1, .stall_ms = -1 };
	int rc;

	bench_pin(0);
	rc = weft_run(app, &job, &opt); /* which ends when all have gone on */
	values[1] = (double)(bench_now() - job.begun) / MILLION;
	return rc;
}

static const struct bench_plan plan = {
	.name = "tame-memory",
	.work = "1,000,000 tamed functions wait for an event with a number, each in a closure of "
		"its\n"
		"own; then all events are triggered",
	.metrics = { { "to start one", "ns", BENCH_LOWER },
		     { "to let one go on", "ns", BENCH_LOWER },
		     { "memory", "B/closure", BENCH_LOWER } },
	.metric_count = 3,
	.repeats = 3,
};

int bench_tame_memory(void)
{
	const struct contender tame = { tame_bench.wait_all, tame_bench.wake_all };
	const struct contender hand = { hand_wait_all, hand_wake_all };
	struct bench_row *row = NULL;

	bench_begin(&plan);
	if (tame_missing == NULL)
		row = bench_add("tamed, twait { }", "weft", measure, &tame);
	else
		bench_add_missing("tamed, twait { }", "weft", tame_missing);
	bench_add("callbacks by hand", "weft", measure, &hand);
	bench_run();
	bench_figure("memory of a closure that waits", row, 2, "under 256");
	return bench_end();
}
