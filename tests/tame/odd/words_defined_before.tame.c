/* right or refused */
/* Macros of the user's that are named like words of weft/tame.h, defined before it. */
#include "odd.h"

#define twait(...) 5
#define timeout 30
#define trigger weft_trigger
#define tamed_by 7

#include <weft/tame.h>

static tamed uses_words(event(int) done)
{
	int got;

	twait {
		later(timeout, mkevent(got));
	}
	trigger(done, got + tamed_by);
}
ODD(uses_words, 37)
