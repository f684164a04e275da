/* async_call.c - what it costs to call by async a function that does not wait (AC,
 * section 5.1).
 *
 * The calls stand in a tight loop, in one finish block, as in the paper. A plain call of
 * the same function, which is not inlined, is what they are compared with.
 */
#include <stddef.h>
#include <stdio.h>

#include <weft/scope.h>
#include <weft/weft.h>

#include "async_blocks.h"
#include "cxx.h"

#define ROUNDS 1000

static __attribute__((noinline)) int nothing(void *arg)
{
	__asm__ volatile("" : : "r"(arg));
	return 0;
}

struct sum {
	long x, y, i;
};

static __attribute__((noinline)) int add(void *arg)
{
	struct sum *s = arg;

	s->x += s->i;
	s->y ^= s->x;
	__asm__ volatile("" : : "r"(s) : "memory");
	return 0;
}

static int calls(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++)
		err |= nothing(NULL);
	return err;
}

static int calls_by_pointer(long rounds)
{
	int (*fn)(void *arg) = nothing;
	int err = 0;

	for (long i = 0; i < rounds; i++) {
		__asm__ volatile("" : "+r"(fn));
		err |= fn(NULL);
	}
	return err;
}

static int calls_adding(long rounds)
{
	struct sum s = { 0 };
	int err = 0;

	for (s.i = 0; s.i < rounds; s.i++)
		err |= add(&s);
	return err;
}

static int async_calls(long rounds)
{
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	for (long i = 0; i < rounds; i++)
		err |= weft_async_call(nothing, NULL);
	return weft_scope_end(&all) | err;
}

static int async_calls_adding(long rounds)
{
	struct sum s = { 0 };
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	for (s.i = 0; s.i < rounds; s.i++)
		err |= weft_async_call(add, &s);
	return weft_scope_end(&all) | err;
}

static int async_copies(long rounds)
{
	struct sum s = { 0 };
	weft_scope all;
	int err = 0;

	weft_scope_begin(&all);
	for (s.i = 0; s.i < rounds; s.i++)
		err |= weft_async_copy(add, &s, sizeof s);
	return weft_scope_end(&all) | err;
}

enum { CALL, CALL_POINTER, CALL_ADDING, ASYNC, ASYNC_ADDING, ASYNC_COPY, CASES };

enum { CXX_CALL, CXX_FUNCTION, CXX_EMPTY, CXX_ADDING, CXX_CASES };

static const struct cycles_case cases[CASES] = {
	[CALL] = { "call, empty", "C", calls, ROUNDS, 1 },
	[CALL_POINTER] = { "call by pointer, empty", "C", calls_by_pointer, ROUNDS, 1 },
	[CALL_ADDING] = { "call, x += i; y ^= x", "C", calls_adding, ROUNDS, 1 },
	[ASYNC] = { "weft_async_call, empty", "weft", async_calls, ROUNDS, 1 },
	[ASYNC_ADDING] = { "weft_async_call, x += i; y ^= x", "weft", async_calls_adding, ROUNDS,
			   1 },
	[ASYNC_COPY] = { "weft_async_copy, 24 bytes, the same", "weft", async_copies, ROUNDS, 1 },
};

static const struct bench_plan plan = {
	.name = "async-call",
	.work = "a function that does not wait, called in a loop, plainly and by async, in one\n"
		"finish block. Cycles are those of the core",
	.metrics = CYCLES_METRICS,
	.metric_count = CYCLES_METRIC_COUNT,
	.repeats = 5,
};

static void derive(const struct bench_row *async, const struct bench_row *call, const char *aim)
{
	char text[128];

	if (async == NULL)
		return;
	snprintf(text, sizeof text, "%s: %s, over the call", async->who, async->label);
	bench_difference(text, async, call, CYCLES_MEDIAN, aim);
}

int bench_async_call(void)
{
	struct bench_row *rows[CASES], *blocks[BLOCK_CASES], *cxx[CXX_CASES];

	bench_begin(&plan);
	for (int i = 0; i < CASES; i++)
		rows[i] = cycles_add(&cases[i]);
	for (int i = BLOCK_EMPTY; i <= BLOCK_OWN; i++)
		blocks[i] = async_block_add(i);
	cxx[CXX_CALL] = cxx_add("call, empty", "C++", "call");
	cxx[CXX_FUNCTION] = cxx_add("weft_async_call, empty", "weft, C++", "function");
	cxx[CXX_EMPTY] = cxx_add("weft_async { }", "weft, C++", "empty");
	cxx[CXX_ADDING] = cxx_add("weft_async { x += i; y ^= x; }", "weft, C++", "adding");
	cycles_add_paper("call, empty", "C", 8);
	cycles_add_paper("async, empty", "AC, compiler", 10);
	cycles_add_paper("async, empty", "AC, macros, lazy", 44);
	cycles_add_paper("async, empty", "AC, macros, eager", 120);
	bench_run();
	derive(rows[ASYNC], rows[CALL], "at most 15");
	derive(blocks[BLOCK_EMPTY], rows[CALL], "at most 15");
	derive(cxx[CXX_FUNCTION], cxx[CXX_CALL], "at most 15");
	derive(cxx[CXX_EMPTY], cxx[CXX_CALL], "at most 15");
	derive(rows[ASYNC_ADDING], rows[CALL_ADDING], "");
	derive(rows[ASYNC_COPY], rows[CALL_ADDING], "");
	derive(blocks[BLOCK_ADDING], rows[CALL_ADDING], "");
	derive(blocks[BLOCK_OWN], rows[CALL_ADDING], "");
	derive(cxx[CXX_ADDING], rows[CALL_ADDING], "");
	return bench_end();
}
