/* What only a stack can keep lives across the waits of threaded functions. */
/* flags: -Wno-vla */
#include "odd.h"

#include <alloca.h>
#include <stdarg.h>

#include <weft/tame.h>

static int cleaned;

static void clean(int *x)
{
	cleaned += *x;
}

static threaded int variable_sizes(int n, int rows[n][n])
{
	int list[n], (*row)[n] = &rows[1], *on_stack = alloca((size_t)n * sizeof *on_stack), got;
	__attribute__((cleanup(clean))) int x = 5;
	_Alignas(64) int aligned = 6;

	list[n - 1] = (*row)[1];
	on_stack[0] = 7;
	twait {
		sum_later(list + n - 1, 1, mkevent(got));
		soon(mkevent());
	}
	twait {
		later(8, mkevent(x));
	}
	return got + on_stack[0] * 10 + aligned * 100 + (int)sizeof list * 1000;
}

static threaded int variadic(int count, ...)
{
	va_list args;
	int sum = 0;

	va_start(args, count);
	while (count-- > 0) {
		int got;

		twait {
			later(va_arg(args, int), mkevent(got));
		}
		sum = sum * 10 + got;
	}
	va_end(args);
	return sum;
}

static threaded int jumps(int n)
{
	static const void *const places[] = { &&a, &&b, &&end };
	const void *next = places[0];

	goto *next;
a:
	twait {
		soon(mkevent());
	}
	n += 1;
	next = places[1];
	goto *next;
b:
	twait {
		soon(mkevent());
	}
	n += 10;
	goto *places[2];
end:
	return n;
}

static threaded int thread(void)
{
	int rows[2][2] = { { 1, 2 }, { 3, 4 } }, a = variable_sizes(2, rows);

	return a + (variadic(3, 1, 2, 3) == 123) * 100000 + (jumps(1) == 12) * 1000000 +
	       cleaned * 10000000;
}

static tamed on_a_stack(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), thread());
	}
	trigger(done, got);
}
ODD(on_a_stack, 4 + 70 + 600 + 8000 + 100000 + 1000000 + 80000000)
