/* assert, that is left out. */
/* flags: -DNDEBUG */
#include "odd.h"

#include <assert.h>

#include <weft/tame.h>

#include "assertions.inc"
ODD(asserted, 1)

static tamed not_evaluated(event(int) done)
{
	int n = 1;

	twait {
		soon(mkevent());
	}
	assert(n++ == 100);
	trigger(done, n);
}
ODD(not_evaluated, 1)
