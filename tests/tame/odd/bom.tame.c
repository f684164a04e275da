/* A file that begins with a byte order mark. */
#include "odd.h"

#include <weft/tame.h>

static tamed bom(event(int) done)
{
	int got;

	twait {
		later(__LINE__, mkevent(got));
	}
	trigger(done, got);
}
ODD(bom, 11)
