/* right or refused */
/* Macros of the user's that are named like words of weft/tame.h, defined behind it: his words mean
 * what he says. */
#include "odd.h"

#include <weft/tame.h>

#undef trigger
#define trigger(e, v) weft_trigger(e, (v) + 1)
#undef ton
#define ton 1000
#define timeout(x) (x)
#undef rv_cancel
#define rv_cancel 7

static tamed uses_words(event(int) done)
{
	int got;

	twait {
		later(timeout(ton), mkevent(got));
	}
	trigger(done, got + rv_cancel);
}
ODD(uses_words, 1008)
