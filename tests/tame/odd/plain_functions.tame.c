/* Functions that do not wait, between functions that do: in macros, on their lines, in headers. */
#include "odd.h"

#include <weft/tame.h>

#define RETURNS(name, n) \
	static int name(void) \
	{ \
		return n; \
	}
#define ADDS(name) static inline int name(int x) { return x + 1; } static int name##_twice(int x) { return name(name(x)); }

static tamed first(event(int) done)
{
	int got;

	twait {
		later(1, mkevent(got));
	}
	trigger(done, got);
} RETURNS(two, 2) static int three(void) { return 3; }
RETURNS(four, 4)
static int five(void) { return 5; } static tamed second(event(int) done)
{
	int got;

	twait {
		later(five(), mkevent(got));
	}
	trigger(done, got + two() * 10 + three() * 100 + four() * 1000);
}
ADDS(add)
#include "plain_function.inc"
static tamed third(event(int) done)
{
	int got;

	twait {
		later(add_twice(from_include()), mkevent(got));
	}
	trigger(done, got);
}
RETURNS(six, 6) RETURNS(seven, 7)

static tamed plain_functions(event(int) done)
{
	int a, b, c;

	twait {
		first(mkevent(a));
		second(mkevent(b));
		third(mkevent(c));
	}
	trigger(done, a + b * 10 + c * 100000 + (six() + seven() == 13) * 10000000);
}
ODD(plain_functions, 1 + 43250 + 1000000 + 10000000)
RETURNS(behind_all, 8) int odd_behind_all(void); int odd_behind_all(void) { return behind_all(); }
