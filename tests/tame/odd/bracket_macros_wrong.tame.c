/* A macro that opens a bracket which the source closes: marks get among its arguments. */
#include "odd.h"
#include <weft/tame.h>

#define LAST(a, b) b
#define OPEN LAST(
static int v = 1;
OPEN static int w; , ) /* error:: weft-tame cannot follow the macros here */
OPEN static tamed before(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, n); } ; int after = 1; ,
static tamed inside(event(int) done)
{
	int n;

	twait {
		later(1, mkevent(n));
	}
	trigger(done, n + v);
}
ODD(inside, 2) )
