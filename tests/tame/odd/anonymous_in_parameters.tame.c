/* right or refused */
/* Types that are declared among parameters. */
/* flags: -Wno-error */
#include "odd.h"

#include <weft/tame.h>

static tamed takes_enum(enum { OFF, ON = 3 } mode, int sizes[ON], event(int) done)
{
	twait {
		later(mode + ON, mkevent(sizes[1]));
	}
	trigger(done, sizes[1] + OFF);
}

static tamed enum_among_parameters(event(int) done)
{
	int list[3], got;

	twait {
		takes_enum(2, list, mkevent(got));
	}
	trigger(done, got);
}
ODD(enum_among_parameters, 5)
