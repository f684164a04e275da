#include <weft/tame.h>

tamed f(int n)
{
	twait {
		trigger(mkevent());
		if (n)
			return; /* error:4: 'return' leaves a twait block while its events are outstanding */
	}
}
