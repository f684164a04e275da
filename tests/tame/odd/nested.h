/* nested.h - a header whose headers have tamed functions. */
#ifndef NESTED_H
#define NESTED_H

#include "nested_inner.h"

static tamed nested_outer(int n, event(int) done)
{
	int got;

	twait
	{
		nested_inner(n + 2, mkevent(got));
	}
	trigger(done, got + 1);
}

#endif
