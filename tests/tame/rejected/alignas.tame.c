#include <weft/tame.h>

tamed f(void)
{
	_Alignas(64) int x = 1; /* error:19: variable 'x' lives across a wait, but is aligned in a way of its own */

	twait {
		trigger(mkevent());
	}
}
