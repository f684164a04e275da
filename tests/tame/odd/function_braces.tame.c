/* Braces, brackets and heads of functions that come from macros and includes. */
#include "odd.h"

#include <weft/tame.h>

#define BEGIN {
#define END }
#define API static __attribute__((noinline))
#define DONE , event(int) done)
#define TAKES(...) (__VA_ARGS__
#define NAME(x) braces_##x
#define HEAD(name) static tamed name(event(int) done)

API tamed from_macros TAKES(int n) DONE
BEGIN
	twait BEGIN
		later(n + 1, mkevent(n));
	END
	trigger(done, n);
END

HEAD(NAME(head)) { int x; twait { from_macros(1, mkevent(x)); } trigger(done, x); }
ODD(braces_head, 2)

HEAD(include_in_arguments)
{
	int x = 3, got;

	twait {
		soon(mkevent()); later(
#include "arguments.inc"
			, mkevent(got));
	}
	trigger(done, got);
}
ODD(include_in_arguments, 7);

HEAD(directives_in_arguments)
{
	int x = 3, got;

	twait {
		later(x
#if 1
		      + 1
#else
		      + 100
#endif
		      ,
#define SLOT got
		      mkevent((SLOT))
#undef SLOT
		);
	}
	x = (
#ifdef SLOT
		0 *
#endif
			got);
	trigger(done, x);
}
ODD(directives_in_arguments, 4)
;

#define STATEMENT(x) x
HEAD(statement_over_functions)
STATEMENT({
	int got;

	twait {
		later(6, mkevent(got));
	}
	trigger(done, got);
})
ODD(statement_over_functions, 6)
