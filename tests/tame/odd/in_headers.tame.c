/* Tamed functions and waits in headers that are included: plain ones, guarded, nested, twice. */
#include "odd.h"

#include <weft/tame.h>

#include "guarded.h"
#include "guarded.h"
#include "once.h"
#include "once.h"
#include "nested.h"

static tamed from_headers(event(int) done)
{
	int a, b, c, d;

	twait {
		guarded(1, mkevent(a));
		once(2, mkevent(b));
		nested_outer(3, mkevent(c));
		nested_inner(4, mkevent(d));
	}
	trigger(done, a + b * 10 + c * 100 + d * 1000 + GUARDED * 10000);
}
ODD(from_headers, 2 + 40 + 1600 + 12000 + 50000)

#define NAME(x) x##_first
#define ADD 1
#include "twice.h"
#undef NAME
#undef ADD
#define NAME(x) x##_second
#define ADD 2
#include "twice.h"

static tamed included_twice(event(int) done)
{
	int a, b;

	twait {
		twice_first(5, mkevent(a));
		twice_second(5, mkevent(b));
	}
	trigger(done, a * 10 + b);
}
ODD(included_twice, 67)

static int line = __LINE__;
#include "line.tame.h"
static tamed line_behind_includes(event(int) done)
{
	int got;

	twait {
		line_of_header(mkevent(got));
	}
	trigger(done, __LINE__ - line + got * 100);
}
ODD(line_behind_includes, 409)

static tamed code_from_a_header(event(int) done)
{
	int sum = 0, n = 3;

#include "code.inc"
	n++;
#include "code.inc"
	trigger(done, sum);
}
ODD(code_from_a_header, 7)

static tamed waits_from_a_header(event(int) done)
{
	int got = 0;

	twait {
#include "events.inc"
	}
	trigger(done, got);
}
ODD(waits_from_a_header, 12)

#define HEADER "macro.h"
#include HEADER
#ifdef __has_include
#if __has_include("macro.h") && !__has_include("not_there.h")
static tamed by_a_macros_name(event(int) done)
{
	int got;

	twait {
		from_macro_header(mkevent(got));
	}
	trigger(done, got);
}
#endif
#endif
ODD(by_a_macros_name, 9)

static tamed
#include "signature.inc"
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n + 1);
}

static tamed signature_from_a_header(event(int) done)
{
	from_signature(4, done);
}
ODD(signature_from_a_header, 5)

#include "whole.inc"
ODD(whole_function, 77)
