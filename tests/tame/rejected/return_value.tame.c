#include <weft/tame.h>

tamed f(event() e)
{
	twait {
		trigger(mkevent());
	}
	trigger(e);
	return 3; /* error:2: void function 'f' should not return a value */
}
