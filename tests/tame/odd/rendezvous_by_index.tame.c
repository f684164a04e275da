/* The rendezvous that is waited for is chosen once. */
#include "odd.h"
#include <weft/tame.h>

static tamed rendezvous_by_index(event(int) done)
{
	rendezvous() r[2];
	int i = 0;
	later(1, mkevent(r[0], i));
	twait(r[i]);
	trigger(done, i);
	rv_cancel(r[1]);
}
ODD(rendezvous_by_index, 1)
