/* A file that does not end with a line. */
#include "odd.h"

#include <weft/tame.h>

static tamed last(event(int) done);
ODD(last, 4)
static tamed last(event(int) done)
{
	int got;

	twait {
		later(4, mkevent(got));
	}
	trigger(done, got);
}