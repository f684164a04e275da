/* Words that are not used as they are meant. */
#include "odd.h"

#include <weft/tame.h>

tamed without_arguments(event(int) done)
{
	int x;

	twait; /* error:: .* */
	trigger(done, x);
}

tamed too_many(event(int) done)
{
	rendezvous(int) r;
	int x, y;

	later(3, mkevent(r, 1, x));
	twait(r, x, y); /* error:: .* */
	trigger(done, x);
}
