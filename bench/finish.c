/* finish.c - what a finish block costs, empty, with a body that does not wait and with one
 * that does (AC, section 5.1).
 *
 * Threads that are started and joined do the same work, and are there to compare with:
 * others have those too.
 */
#include <stddef.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "async_blocks.h"
#include "cxx.h"
#include "threads.h"

static __attribute__((noinline)) int nothing(void *arg)
{
	__asm__ volatile("" : : "r"(arg));
	return 0;
}

static int yield_once(void *arg)
{
	(void)arg;
	return weft_yield();
}

static int finish_empty(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		weft_scope s;

		weft_scope_begin(&s);
		err |= weft_scope_end(&s);
	}
	return err;
}

static int finish_nested(long rounds)
{
	weft_scope around;
	int err;

	weft_scope_begin(&around);
	err = finish_empty(rounds);
	return weft_scope_end(&around) | err;
}

/* Inlined with a function that is known: what a user's loop would be. */
static inline __attribute__((always_inline)) int finish_with(long rounds, weft_thread_fn *fn)
{
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		weft_scope s;

		weft_scope_begin(&s);
		err |= weft_async_call(fn, NULL);
		err |= weft_scope_end(&s);
	}
	return err;
}

static int finish_async(long rounds)
{
	return finish_with(rounds, nothing);
}

static int finish_async_yield(long rounds)
{
	return finish_with(rounds, yield_once);
}

static int start_and_join(long rounds, weft_thread_fn *fn)
{
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		weft_thread *thread;

		err = weft_thread_start(&thread, NULL, fn, NULL);
		if (err < 0)
			return err;
		err |= weft_join(thread, NULL);
	}
	return err;
}

static int thread_empty(long rounds)
{
	return start_and_join(rounds, nothing);
}

static int thread_yield(long rounds)
{
	return start_and_join(rounds, yield_once);
}

enum { EMPTY, NESTED, ASYNC, YIELD, THREAD, THREAD_YIELD, CASES };

static const struct cycles_case cases[CASES] = {
	[EMPTY] = { "finish { }", "weft", finish_empty, 1000, 1 },
	[NESTED] = { "finish { finish { } }, the inner", "weft", finish_nested, 1000, 1 },
	[ASYNC] = { "finish { async { } }", "weft", finish_async, 1000, 1 },
	[YIELD] = { "finish { async { yield } }", "weft", finish_async_yield, 1000, 1 },
	[THREAD] = { "start a thread, join it", "weft", thread_empty, 1000, 1 },
	[THREAD_YIELD] = { "start a thread that yields, join it", "weft", thread_yield, 1000, 1 },
};

static const struct thread_case threads = {
	"start a thread, join it",
	{ .threads = 1, .rounds = 20000, .cores = 1 },
	{ &peer_st, &peer_fiber, &peer_go, &peer_nptl },
};

static const struct bench_plan plan = {
	.name = "finish",
	.work = "finish blocks, each begun and ended before the next. Cycles are those of the\n"
		"core. Other threads: as in `spawn`, by CPU time",
	.metrics = CYCLES_METRICS,
	.metric_count = CYCLES_METRIC_COUNT,
	.repeats = 5,
};

int bench_finish(void)
{
	struct bench_row *rows[CASES], *blocks[BLOCK_CASES], *peers[THREAD_PEERS] = { 0 };

	bench_begin(&plan);
	for (int i = 0; i < CASES; i++)
		rows[i] = cycles_add(&cases[i]);
	for (int i = BLOCK_FINISH; i <= BLOCK_FINISH_YIELD; i++)
		blocks[i] = async_block_add(i);
	cxx_add("weft_finish { weft_async { } }", "weft, C++", "finish-async");
	cxx_add("weft_finish { weft_async { yield } }", "weft, C++", "finish-yield");
	thread_case_add(&threads, offsetof(struct thread_peer, spawn), peers);
	cycles_add_paper(cases[YIELD].label, "AC, compiler", 245);
	cycles_add_paper(cases[YIELD].label, "AC, macros, lazy", 269);
	cycles_add_paper(cases[YIELD].label, "AC, macros, eager", 247);
	bench_run();
	bench_figure(cases[YIELD].label, rows[YIELD], CYCLES_MEDIAN, "at most 130");
	bench_figure(async_blocks[BLOCK_FINISH_YIELD].label, blocks[BLOCK_FINISH_YIELD],
		     CYCLES_MEDIAN, "at most 130");
	bench_ratio("async that yields: times as fast as a thread that does", rows[THREAD_YIELD],
		    rows[YIELD], CYCLES_MEDIAN, BENCH_HIGHER, "above 1");
	return bench_end();
}
