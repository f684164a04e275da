/* right or refused: a macro that opens a bracket for the source: what is behind it is an argument of another macro. */
#include "odd.h"
#include <weft/tame.h>

#define LAST(a, b) b
#define OPEN LAST(

OPEN static int unused; ,
static tamed inside(event(int) done)
{
	int n;

	twait {
		later(1, mkevent(n));
	}
	trigger(done, n);
} )
