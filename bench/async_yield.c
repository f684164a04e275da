/* async_yield.c - what it costs when an async body waits: it yields, so it is ready again
 * at once (AC, section 5.1, "yield").
 *
 * A body that waits keeps the stack that it was started on, and the caller goes on; when
 * it ends the stack is a spare one again. The more bodies wait at a time, the more
 * stacks, queue and caches are in play.
 */
#include <stdbool.h>
#include <stddef.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "cycles.h"
#include "threads.h"

static int yield_once(void *arg)
{
	(void)arg;
	return weft_yield();
}

/* Each body is at its end before the next one is started. */
static int one_at_a_time(long rounds)
{
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	for (long i = 0; i < rounds; i++) {
		err |= weft_async_call(yield_once, NULL);
		err |= weft_yield();
	}
	return weft_scope_end(&all) | err;
}

/* `count` bodies wait before the first goes on. */
static int outstanding(long rounds, int count)
{
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		weft_scope all;

		weft_scope_begin(&all);
		for (int k = 0; k < count; k++)
			err |= weft_async_call(yield_once, NULL);
		err |= weft_scope_end(&all);
	}
	return err;
}

static int outstanding_10(long rounds)
{
	return outstanding(rounds, 10);
}

static int outstanding_100(long rounds)
{
	return outstanding(rounds, 100);
}

static int outstanding_1000(long rounds)
{
	return outstanding(rounds, 1000);
}

/* Bodies that yield as long as the finish block does. */
static int yield_on(void *arg)
{
	const bool *stop = arg;
	int err = 0;

	while (!*stop)
		err |= weft_yield();
	return err;
}

static int yield_among(long rounds, int bodies)
{
	bool stop = false;
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	for (int i = 0; i < bodies; i++)
		err |= weft_async_call(yield_on, &stop);
	for (long i = 0; i < rounds; i++)
		err |= weft_yield();
	stop = true;
	return weft_scope_end(&all) | err;
}

static int ping_pong(long rounds)
{
	return yield_among(rounds, 1);
}

static int among_100(long rounds)
{
	return yield_among(rounds, 99);
}

enum { ONE, TEN, HUNDRED, THOUSAND, PING_PONG, AMONG, CASES };

static const struct cycles_case cases[CASES] = {
	[ONE] = { "async { yield }, 1 at a time", "weft", one_at_a_time, 1000, 1 },
	[TEN] = { "async { yield }, 10 at a time", "weft", outstanding_10, 50, 10 },
	[HUNDRED] = { "async { yield }, 100 at a time", "weft", outstanding_100, 5, 100 },
	[THOUSAND] = { "async { yield }, 1,000 at a time", "weft", outstanding_1000, 1, 1000 },
	[PING_PONG] = { "yield between body and block", "weft", ping_pong, 1000, 2 },
	[AMONG] = { "yield among block and 99 bodies", "weft", among_100, 20, 100 },
};

/* The same between two threads, which others have too. */
static const struct thread_case threads = {
	"yield between 2 threads",
	{ .threads = 2, .rounds = 500000, .cores = 1 },
	{ &peer_weft, &peer_st, &peer_fiber, &peer_go, &peer_nptl },
};

static const struct bench_plan plan = {
	.name = "async-yield",
	.work = "async bodies that yield; a body started, suspended, resumed and ended, or one\n"
		"yield. Cycles are those of the core. Other threads: as in `switch`",
	.metrics = CYCLES_METRICS,
	.metric_count = CYCLES_METRIC_COUNT,
	.repeats = 5,
};

int bench_async_yield(void)
{
	struct bench_row *rows[CASES], *peers[THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < CASES; i++)
		rows[i] = cycles_add(&cases[i]);
	thread_case_add(&threads, offsetof(struct thread_peer, yield), peers);
	cycles_add_paper("async { yield }", "AC, compiler", 245);
	cycles_add_paper("async { yield }", "AC, macros, lazy", 269);
	cycles_add_paper("async { yield }", "AC, macros, eager", 247);
	bench_run();
	bench_figure(cases[ONE].label, rows[ONE], CYCLES_MEDIAN, "below 245, the paper's");
	bench_ratio("100 at a time / 1 at a time", rows[HUNDRED], rows[ONE], CYCLES_MEDIAN,
		    BENCH_LOWER, "");
	return bench_end();
}
