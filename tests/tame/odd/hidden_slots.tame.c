/* Slots behind pointers into variables of inner blocks. */
#include "odd.h"
#include <weft/tame.h>

static tamed hidden_slots(event(int) done)
{
	int bad = 0;
	twait {
		{ int a[1]; later(1, mkevent(*a)); }
		{ int b = 7; twait { soon(mkevent()); } bad = b; }
	}
	trigger(done, bad);
}
ODD(hidden_slots, 7)
static tamed hidden_slotsb(event(int) done)
{
	int bad = 0;
	twait {
		{ int a[1]; later(1, mkevent(a[0])); }
		{ int b = 7; twait { soon(mkevent()); } bad = b; }
	}
	trigger(done, bad);
}
ODD(hidden_slotsb, 7)
