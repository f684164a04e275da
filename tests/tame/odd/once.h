/* once.h - a tamed function in a header that is included once. */
#pragma once

#include <weft/tame.h>

static inline tamed once(int n, event(int) done)
{
	int got;

	twait
	{
		later(n, mkevent(got));
	}
	trigger(done, got + 2);
}
