/* __LINE__, __FILE__ and __func__ say what they say in the original. */
#include "odd.h"

#include <weft/tame.h>

static int line_of_next = __LINE__ + 6;
static tamed line(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, __LINE__ - line_of_next);
}
ODD(line, 0)

static tamed file(event(int) done)
{
	const char *before = __FILE__;

	twait {
		soon(mkevent());
	}
	trigger(done, strcmp(before, __FILE__) == 0 && strstr(__FILE__, "place_macros.tame.c") != NULL);
}
ODD(file, 1)

static tamed levels(event(int) done)
{
	int got;

	twait {
		later(__INCLUDE_LEVEL__, mkevent(got));
	}
	trigger(done, got + __INCLUDE_LEVEL__ + (strstr(__BASE_FILE__, "place_macros") != NULL) * 10 +
			      (int)sizeof __DATE__ * 100);
}
ODD(levels, 10 + 1200)

static tamed function(event(int) done)
{
	const char *before = __func__;

	twait {
		soon(mkevent());
	}
	trigger(done, (strcmp(before, "function") == 0) + 10 * (strcmp(__func__, "function") == 0) +
			      100 * (strcmp(__FUNCTION__, "function") == 0) +
			      10000 * (int)sizeof __func__);
}
ODD(function, 90111)

static threaded int function_on_a_stack(void)
{
	twait {
		soon(mkevent());
	}
	return strcmp(__func__, "function_on_a_stack") == 0 ? (int)sizeof __func__ : 0;
}

static tamed function_of_a_thread(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), function_on_a_stack());
	}
	trigger(done, got);
}
ODD(function_of_a_thread, 20)

#define WHERE (struct odd_pair){ __LINE__, (int)sizeof __func__ }

static tamed in_arguments(event(int) done)
{
	struct odd_pair a = WHERE, b;

	twait {
		pair_later(&(struct odd_pair){ 0, __LINE__ -
			__LINE__ }, mkevent(a.b));
	}
	b = WHERE;
	trigger(done, (b.a - a.a) * 10 + (b.b == sizeof "in_arguments") - (a.b > 1 || a.b < -1) * 100);
}
ODD(in_arguments, 61)

#line 1000 "elsewhere.c"
static tamed line_directive(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, __LINE__ * 10 + (strcmp(__FILE__, "elsewhere.c") == 0));
}
#line 110 "tests/tame/odd/place_macros.tame.c"
ODD(line_directive, 10051)

static tamed line_inside(event(int) done)
{
	int a, b;

#line 2000
	a = __LINE__;
	twait {
		soon(mkevent());
	}
	b = __LINE__;
#line 125
	trigger(done, a + b);
}
ODD(line_inside, 4004)
