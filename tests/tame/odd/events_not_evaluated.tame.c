/* right or refused */
/* mkevent where nothing is evaluated. */
#include "odd.h"

#include <weft/tame.h>

static tamed only_types(event(int) done)
{
	int x = 1, got;

	twait {
		__typeof__(mkevent(got)) e = mkevent(got);

		later(x + (int)sizeof(mkevent(x)), e);
	}
	trigger(done, got + _Generic(done, __typeof__(mkevent(x)): 10, default: 20));
}
ODD(only_types, 19)
