/* right or refused */
/* Locals named like functions and types of Weft that generated code needs. */
#include "odd.h"

#include <weft/tame.h>

static tamed weft(event(int) done)
{
	int weft_tame_enter = 1, weft_tame_leave = 2, weft_tame_trigger = 3, weft_tame_begins = 4;
	int weft_tame_begin_elsewhere = 5, weft_tame_closure = 6, weft_tame_next = 7, id = 0;
	rendezvous(int) weft_tame_rendezvous;

	soon(mkevent(weft_tame_rendezvous, 8));
	twait(weft_tame_rendezvous, id);
	trigger(done, weft_tame_enter + weft_tame_leave + weft_tame_trigger + weft_tame_begins +
			      weft_tame_begin_elsewhere + weft_tame_closure + weft_tame_next + id);
}
ODD(weft, 36)
