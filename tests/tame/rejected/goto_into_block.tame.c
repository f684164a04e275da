#include <weft/tame.h>

tamed f(void)
{
	goto in; /* error:2: 'goto' jumps into a twait block */
	twait {
	in:
		trigger(mkevent());
	}
}
