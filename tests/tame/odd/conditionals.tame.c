/* #if around parts of functions that wait: signatures, braces, declarations, statements. */
/* flags: -DA -UB */
#include "odd.h"

#include <weft/tame.h>

#ifdef A
static tamed f(int a, event(int) done)
{
#else
static tamed f(long a, event(int) done)
{
#endif
	int got;

#ifdef B
	twait {
		later(a + 100, mkevent(got));
	}
#else
	twait {
		later(a + 1, mkevent(got));
	}
#endif
	trigger(done, got);
}

#ifndef A
static tamed g(
#else
static inline tamed g(int unused,
#endif
#if defined(B)
	long b,
#elif defined(A)
	int b,
#endif
	event(int) done)
#ifdef A
{
	twait {
#else
{
	if (0) {
#endif
#if 0
		this is no C at all: ( {
#endif
		later(b, mkevent(b));
	}
	if (b)
#ifdef B
		twait {
			soon(mkevent());
		}
	else
#endif
		b++;
	trigger(done, b);
#ifdef A
}
#else
}
#endif

static tamed whole_functions(event(int) done)
{
	int a, b;

	twait {
		f(1, mkevent(a));
#ifdef A
		g(0, 3, mkevent(b));
#else
		g(3, mkevent(b));
#endif
	}
	trigger(done, a * 10 + b);
}
ODD(whole_functions, 24)

static tamed parts(event(int) done)
{
#ifdef B
	long x = 1;
#else
	int x = 2;
#endif
	int y
#ifdef A
		= 3;
#else
		= 4;
#endif

	for (int i = 0; i <
#ifdef A
	     2
#else
	     3
#endif
	     ; i++)
		twait {
#ifdef A
			later(x + y, mkevent(x));
#else
			soon(mkevent());
#endif
		}
	switch (x) {
#ifdef A
	case 8:
		twait { later(y, mkevent(y)); }
		trigger(done, 100);
		break;
#endif
	default:
		trigger(done, x);
	}
}
ODD(parts, 100)

static tamed else_if(event(int) done)
{
	int x = 1;

	twait {
		soon(mkevent());
	}
	if (x == 2)
		x = 3;
#ifdef A
	else if (x == 1)
		twait {
			later(4, mkevent(x));
		}
#else
	else
		x = 5;
#endif
	trigger(done, x);
}
ODD(else_if, 4)
