#include <weft/tame.h>

tamed f(event() e)
{
	twait {
		trigger(mkevent());
	}
	trigger(e);
	return 3; /* error:2: tamed function 'f' returns no value: trigger an event */
}
