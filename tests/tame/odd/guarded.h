/* guarded.h - tamed functions in a header with a guard. */
#ifndef GUARDED_H
#define GUARDED_H

#include "odd.h"

#include <weft/tame.h>

#define GUARDED 5

static tamed guarded(int n, event(int) done)
{
	int got;

	twait
	{
		later(n, mkevent(got));
	}
	trigger(done, got + 1);
}

#endif
