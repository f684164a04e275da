/* tame_wait.c - what a wait of a tamed function costs (Tame, figure 9).
 *
 * benchfn starts something that ends at once, waits for it and does so again. In the paper that
 * is a timer of 0, and most of the time goes to the loop around select; so here it is also
 * done with the least that ends later: an event that is posted. Written by hand that is a
 * callback that is told, and posts its next step: two hops a round, as with a twait block.
 * (A timer of weft/time.h would wait for the next tick of its wheel.)
 */
#include <pthread.h>
#include <stdlib.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "tame.h"

#define ROUNDS 1000

/* By hand. */
struct by_hand {
	long left;
	weft_wait wait;
};

static void next_step(void *arg);

static void told(void *arg)
{
	weft_post(WEFT_MAIN, next_step, arg);
}

static void next_step(void *arg)
{
	struct by_hand *b = arg;

	if (b->left-- > 0)
		weft_post(WEFT_MAIN, told, b);
	else
		weft_schedule(&b->wait);
}

static void one_hop(void *arg)
{
	struct by_hand *b = arg;

	if (b->left-- > 0)
		weft_post(WEFT_MAIN, one_hop, b);
	else
		weft_schedule(&b->wait);
}

static int by_hand(weft_fn *first, long rounds)
{
	struct by_hand b = { .left = rounds, .wait = WEFT_WAIT_INIT("benchfn", NULL) };

	first(&b);
	return weft_suspend(&b.wait);
}

static int hops(long rounds)
{
	return by_hand(one_hop, rounds);
}

static int callbacks(long rounds)
{
	return by_hand(next_step, rounds);
}

/* With threads. */
static int noop(void *unused)
{
	(void)unused;
	return 0;
}

static int threads(long rounds)
{
	int rc = 0;

	for (long i = 0; i < rounds && rc == 0; i++) {
		weft_thread *t;

		rc = weft_thread_start(&t, NULL, noop, NULL);
		if (rc == 0)
			rc = weft_join(t, NULL);
	}
	return rc;
}

static void *noop_kernel(void *unused)
{
	return unused;
}

static int kernel_threads(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, noop_kernel, NULL) != 0)
			return bench_fail("pthread_create");
		pthread_join(t, NULL);
	}
	return 0;
}

enum {
	HOP,
	CALLBACKS,
	TWAIT,
	RENDEZVOUS,
	CHILD,
	TIMER_TWAIT,
	TIMER_RENDEZVOUS,
	THREADS,
	FORK_THREAD,
	KERNEL_THREADS,
	FORK_OFFLOAD,
	CASES
};

static const struct bench_plan plan = {
	.name = "tame-wait",
	.work = "benchfn: starts something that ends at once, waits for it, again and again.\n"
		"Cycles are those of the core",
	.metrics = CYCLES_METRICS,
	.metric_count = CYCLES_METRIC_COUNT,
	.repeats = 5,
};

int bench_tame_wait(void)
{
	const struct cycles_case cases[CASES] = {
		[HOP] = { "one hop, by hand", "weft", hops, ROUNDS, 1 },
		[CALLBACKS] = { "benchfn, callbacks by hand", "weft", callbacks, ROUNDS, 1 },
		[TWAIT] = { "benchfn, twait { }", "weft", tame_bench.benchfn, ROUNDS, 1 },
		[RENDEZVOUS] = { "benchfn, twait(r)", "weft", tame_bench.benchfn_rendezvous, ROUNDS,
				 1 },
		[CHILD] = { "tamed call that waits, twait { }", "weft", tame_bench.child, ROUNDS,
			    1 },
		[TIMER_TWAIT] = { "timer of 0, twait { }", "weft", tame_bench.timer, 100, 1 },
		[TIMER_RENDEZVOUS] = { "timer of 0, twait(r)", "weft", tame_bench.timer_rendezvous,
				       100, 1 },
		[THREADS] = { "benchfn_thr", "weft", threads, ROUNDS, 1 },
		[FORK_THREAD] = { "benchfn_tame_thr, threaded", "weft", tame_bench.fork_thread,
				  ROUNDS, 1 },
		[KERNEL_THREADS] = { "benchfn_thr", "NPTL", kernel_threads, 10, 1 },
		[FORK_OFFLOAD] = { "benchfn_tame_thr, blocking", "weft", tame_bench.fork_offload,
				   10, 1 },
	};
	struct bench_row *rows[CASES];

	bench_begin(&plan);
	for (int i = 0; i < CASES; i++) {
		bool tame = i == TWAIT || i == RENDEZVOUS || i == CHILD || i == TIMER_TWAIT ||
			    i == TIMER_RENDEZVOUS || i == FORK_THREAD || i == FORK_OFFLOAD;

		rows[i] = tame ? tame_add(&cases[i]) : cycles_add(&cases[i]);
	}
	cycles_add_paper("benchfn without Tame", "libasync", 5251);
	cycles_add_paper("benchfn, twait { }", "Tame", 5331);
	cycles_add_paper("benchfn, twait(r)", "Tame", 5642);
	cycles_add_paper("benchfn_thr", "GNU Pth", 37540);
	cycles_add_paper("benchfn_thr", "NPTL", 28803);
	cycles_add_paper("benchfn_thr", "Capriccio", 7892);
	cycles_add_paper("benchfn_tame_thr", "Tame", 64957);
	bench_run();
	bench_difference("a step of twait { }, over the same by hand", rows[TWAIT], rows[CALLBACKS],
			 CYCLES_NS, "at most 5");
	bench_difference("a step of twait(r), over the same by hand", rows[RENDEZVOUS],
			 rows[CALLBACKS], CYCLES_NS, "");
	return bench_end();
}
