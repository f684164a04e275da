// cxx.cc - async and finish in C++; weft-bench runs it as a child.
//
// usage: weft-bench-cxx WHAT
// Prints the figures that bench/cycles.h describes, on one line.
#include <cstdio>
#include <cstring>

#include <weft/weft.h>

extern "C" {
#include "../cycles.h"
}

// So that the compiler leaves a block where it is, and does what is in it each time.
#define HERE __asm__ volatile("" : : : "memory")

// What the blocks are compared with, in the same language and by the same compiler.
static __attribute__((noinline)) int nothing(void *arg)
{
	__asm__ volatile("" : : "r"(arg));
	return 0;
}

static int calls(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds; i++)
		err |= nothing(nullptr);
	return err;
}

static int function(long rounds)
{
	int err = 0, result = 0;

	weft_finish(all, &result)
	{
		for (long i = 0; i < rounds; i++)
			err |= weft_async_call(nothing, nullptr);
	}
	return result | err;
}

static int empty(long rounds)
{
	int err = 0;

	weft_finish(all, &err)
	{
		for (long i = 0; i < rounds; i++) {
			weft_async
			{
				HERE;
			};
		}
	}
	return err;
}

static int adding(long rounds)
{
	long x = 0, y = 0;
	int err = 0;

	weft_finish(all, &err)
	{
		for (long i = 0; i < rounds; i++) {
			weft_async
			{
				x += i;
				y ^= x;
				HERE;
			};
		}
	}
	return err;
}

static int finish_async(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds && err == 0; i++) {
		weft_finish(one, &err)
		{
			weft_async
			{
				HERE;
			};
		}
	}
	return err;
}

static int finish_yield(long rounds)
{
	int err = 0;

	for (long i = 0; i < rounds && err == 0; i++) {
		weft_finish(one, &err)
		{
			weft_async
			{
				weft_yield();
			};
		}
	}
	return err;
}

static const struct cycles_case cases[] = {
	{ "call", "C++", calls, 1000, 1 },
	{ "function", "weft", function, 1000, 1 },
	{ "empty", "weft", empty, 1000, 1 },
	{ "adding", "weft", adding, 1000, 1 },
	{ "finish-async", "weft", finish_async, 1000, 1 },
	{ "finish-yield", "weft", finish_yield, 1000, 1 },
};

int main(int argc, char **argv)
{
	for (const struct cycles_case &c : cases) {
		double values[CYCLES_METRIC_COUNT];

		if (argc != 2 || std::strcmp(argv[1], c.label) != 0)
			continue;
		if (cycles_measure(&c, values) < 0)
			return 1;
		std::printf("%g %g %g\n", values[CYCLES_NS], values[CYCLES_MEDIAN],
			    values[CYCLES_BEST]);
		return 0;
	}
	std::fputs("usage: weft-bench-cxx WHAT\n", stderr);
	return 2;
}
