/* right or refused */
/* An event with a value of a type that only one function knows. */
#include "odd.h"

#include <weft/tame.h>

static tamed event_of_a_local_type(event(int) done)
{
	struct own {
		int x;
	} value = { 1 };
	event(struct own) e;

	twait {
		e = mkevent(value);
		trigger(e, (struct own){ 5 });
		soon(mkevent());
	}
	trigger(done, value.x);
}
ODD(event_of_a_local_type, 5)
