/* Directives inside of bodies: #define, #undef, #include, #pragma, #line, #error that is not reached. */
/* flags: -Wno-unknown-pragmas */
#include "odd.h"

#include <weft/tame.h>

static tamed defines(event(int) done)
{
#define SIZE 4
#define ADD(x) ((x) + SIZE)
	int list[SIZE] = { 1 }, x = 2;

	twait {
#define VALUE (x + 1)
		later(VALUE, mkevent(list[SIZE - 1]));
#undef VALUE
	}
#define VALUE (x + 10)
	trigger(done, ADD(x) + VALUE * 10 + list[SIZE - 1] * 1000);
}
ODD(defines, 6 + 120 + 3000)

/* What was defined in the body is defined behind it. */
enum { BEHIND = SIZE, ADDED = ADD(1) };
static int x = 7;
static tamed uses_what_was_defined(event(int) done)
{
	int list[SIZE];

	twait {
		later(VALUE, mkevent(list[0]));
	}
	trigger(done, BEHIND + ADDED * 10 + list[0] * 100 + (int)sizeof list * 10000);
}
ODD(uses_what_was_defined, 4 + 50 + 1700 + 160000)

static tamed redefines(event(int) done)
{
	int a, b, c;

#undef SIZE
#define SIZE 1
	a = SIZE;
	twait {
		later(SIZE, mkevent(b));
#undef SIZE
#define SIZE 2
	}
	c = SIZE;
#ifdef SIZE
#undef SIZE
#define SIZE 3
#else
#error not reached
#endif
	a += 9;
	trigger(done, a + b * 100 + c * 1000 + SIZE * 10000);
}
ODD(redefines, 10 + 100 + 2000 + 30000)

static int size_behind = SIZE;

static tamed pragmas(event(int) done)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
	unsigned u = 3;
	int i = -1;
	int less = i < u;
#pragma GCC diagnostic pop

	twait {
#pragma something unknown
		soon(mkevent());
	}
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-compare\"")
	less += (i < u) * 10;
	_Pragma("GCC diagnostic pop")
	trigger(done, less + size_behind);
}
ODD(pragmas, 3)

static tamed unused_branches(event(int) done)
{
	int n = 1;

#if 0
	twait { this is not C
#elif SIZE == 3 && defined(BEHIND)
	n = 100;
#else
	n = 2;
#endif
	twait {
		later(n + 1, mkevent(n));
	}
#ifdef __STDC__ /* a comment, over
two lines */
	n++;
#endif /* { */
#	if	1	// {
	n++;
#	endif
#
	trigger(done, n);
}
ODD(unused_branches, 5)

#define LOOP(n) _Pragma("GCC diagnostic push") for (int i = 0; i < (n); i++) _Pragma("GCC diagnostic pop")

static tamed pragma_in_a_macro(event(int) done)
{
	int sum = 0;

	LOOP(3)
		twait {
			later(sum + i, mkevent(sum));
		}
	trigger(done, sum);
}
ODD(pragma_in_a_macro, 3)
