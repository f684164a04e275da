/* tame_call.c - what a tamed call costs that does not wait (Tame, figure 8).
 *
 * wrap() of libasync made an object of a function and its arguments: here it is memory with a
 * pointer and two words, called and freed.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tame.h"

#define ROUNDS 1000

static __attribute__((noinline)) int nothing(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

static int calls(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++)
		err |= nothing(0);
	return err;
}

static __attribute__((noinline)) int with_memory(void)
{
	int *p = malloc(sizeof *p);

	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
	return 0;
}

static int calls_with_memory(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++)
		err |= with_memory();
	return err;
}

struct wrapped {
	int (*fn)(int a);
	int a;
	void *b;
};

static __attribute__((noinline)) struct wrapped *wrap(int (*fn)(int a), int a, void *b)
{
	struct wrapped *w = malloc(sizeof *w);

	if (w == NULL)
		abort();
	*w = (struct wrapped){ fn, a, b };
	return w;
}

static int wraps(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		struct wrapped *w = wrap(nothing, 0, &err);

		err |= w->fn(w->a);
		free(w);
	}
	return err;
}

static int system_calls(long rounds)
{
	for (long i = 0; i < rounds; i++)
		syscall(SYS_getppid);
	return 0;
}

enum { CALL, MEMORY, WRAP, SYSTEM, NULLFN, SATISFIED, CASES };

static const struct bench_plan plan = {
	.name = "tame-call",
	.work = "functions that do not wait, called in a loop: plainly, with malloc and free of "
		"an\n"
		"int, and tamed (nullfn, with a closure). Cycles are those of the core",
	.metrics = CYCLES_METRICS,
	.metric_count = CYCLES_METRIC_COUNT,
	.repeats = 5,
};

int bench_tame_call(void)
{
	const struct cycles_case cases[CASES] = {
		[CALL] = { "call", "C", calls, ROUNDS, 1 },
		[MEMORY] = { "call, with memory for an int", "C", calls_with_memory, ROUNDS, 1 },
		[WRAP] = { "wrap, and call", "C", wraps, ROUNDS, 1 },
		[SYSTEM] = { "getppid()", "C", system_calls, 100, 1 },
		[NULLFN] = { "tamed call, nullfn()", "weft", tame_bench.nullfn, ROUNDS, 1 },
		[SATISFIED] = { "twait { }, triggered inside", "weft", tame_bench.satisfied, ROUNDS,
				1 },
	};
	struct bench_row *rows[CASES];

	bench_begin(&plan);
	for (int i = 0; i < CASES; i++)
		rows[i] = i < NULLFN ? cycles_add(&cases[i]) : tame_add(&cases[i]);
	cycles_add_paper("call", "C++", 63);
	cycles_add_paper("call, with memory for an int", "C++", 196);
	cycles_add_paper("wrap()", "libasync", 224);
	cycles_add_paper("gettimeofday()", "C++", 2660);
	cycles_add_paper("tamed call, nullfn()", "Tame", 455);
	bench_run();
	bench_ratio("a tamed call, in calls with malloc", rows[NULLFN], rows[MEMORY], CYCLES_MEDIAN,
		    BENCH_LOWER, "at most 0.6; paper 2.3");
	bench_ratio("a tamed call, in wraps", rows[NULLFN], rows[WRAP], CYCLES_MEDIAN, BENCH_LOWER,
		    "paper 2.0");
	return bench_end();
}
