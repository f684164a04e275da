/* right or refused */
/* A threaded function that returns a struct without a name. */
#include "odd.h"

#include <weft/tame.h>

static threaded struct {
	int x, y;
} returns_anonymous(void)
{
	__typeof__(returns_anonymous()) pair = { 1, 2 };

	twait {
		soon(mkevent());
	}
	return pair;
}

static threaded int calls(void)
{
	return returns_anonymous().y;
}

static tamed returns_without_name(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), calls());
	}
	trigger(done, got);
}
ODD(returns_without_name, 2)
