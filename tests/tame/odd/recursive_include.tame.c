/* right or refused: A file that includes itself, as other systems do for templates. */
#ifndef RECURSIVE_TYPE
#include "odd.h"

#include <weft/tame.h>

#define RECURSIVE_JOIN(a, b) a##_##b
#define RECURSIVE_NAME(a, b) RECURSIVE_JOIN(a, b)
#define RECURSIVE_TYPE int
#include "recursive_include.tame.c"
#undef RECURSIVE_TYPE
#define RECURSIVE_TYPE long
#include "recursive_include.tame.c"

static tamed recursive_include(event(int) done)
{
	int a;
	long b;

	twait {
		size_of_int(mkevent(a));
		size_of_long(mkevent(b));
	}
	trigger(done, a * 10 + (int)b);
}
ODD(recursive_include, 48)
#else
static tamed RECURSIVE_NAME(size_of, RECURSIVE_TYPE)(event(RECURSIVE_TYPE) done)
{
	int got;

	twait {
		later((int)sizeof(RECURSIVE_TYPE), mkevent(got));
	}
	trigger(done, (RECURSIVE_TYPE)got);
}
#endif
