/* right or refused */
/* Functions that return what has no value. */
/* flags: -Wno-pedantic */
#include "odd.h"

#include <weft/tame.h>

static tamed returns(int n, event(int) done)
{
	twait {
		later(n, mkevent(n));
	}
	if (n == 1)
		return later(10, done);
	if (n == 2)
		return (void)trigger(done, 20);
	return trigger(done, n);
}

static tamed calls(int n, event(int) done)
{
	return returns(n, done);
}

static tamed without_a_value(event(int) done)
{
	int a, b, c;

	twait {
		calls(1, mkevent(a));
		calls(2, mkevent(b));
		calls(3, mkevent(c));
	}
	trigger(done, a + b + c);
}
ODD(without_a_value, 33)
