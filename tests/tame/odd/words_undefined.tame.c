/* right or refused */
/* Words that are undefined are names. */
#include "odd.h"

#include <weft/tame.h>

static tamed before(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, 1);
}
ODD(before, 1)

#undef event
#undef trigger
#undef twait
#undef rendezvous

static int twait(int event)
{
	int trigger = event, rendezvous = 2;

	return trigger + rendezvous;
}

static tamed behind(WEFT_EVENT(int) done)
{
	weft_trigger(done, twait(3));
}
ODD(behind, 5)
