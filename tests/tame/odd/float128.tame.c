/* right or refused */
/* A type that only gcc knows. */
/* only: gcc */
#include "odd.h"

#include <weft/tame.h>

static tamed float128(_Float128 parameter, event(int) done)
{
	_Float128 q = parameter + 1;

	twait {
		soon(mkevent());
	}
	trigger(done, (int)(q * 2));
}

static tamed of_gcc(event(int) done)
{
	float128(2.5, done);
}
ODD(of_gcc, 7)
