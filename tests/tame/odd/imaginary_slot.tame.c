/* right or refused */
/* A part of a complex number is a place. */
#include "odd.h"

#include <weft/tame.h>

static tamed imaginary_slot(event(int) done)
{
	_Complex int w = 3 + 4i;

	twait {
		later(5, mkevent(__real__ w));
	}
	trigger(done, __real__ w + __imag__ w * 10);
}
ODD(imaginary_slot, 45)
