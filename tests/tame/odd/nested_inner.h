/* nested_inner.h - what nested.h includes. */
#ifndef NESTED_INNER_H
#define NESTED_INNER_H

#include "guarded.h"
#include "once.h"

#define NESTED_TIMES 3

static tamed nested_inner(int n, event(int) done)
{
	int got, result;

	twait
	{
		once(n, mkevent(got));
	}
	result = NESTED_TIMES * n;
	trigger(done, n == 4 ? result : result + got - 7);
}

#endif
