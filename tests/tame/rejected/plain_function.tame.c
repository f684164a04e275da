#include <weft/tame.h>

void f(void)
{
	twait { /* error:2: 'twait' in 'f', which is neither 'tamed' nor 'threaded' */
		trigger(mkevent()); /* error:11: 'mkevent' in 'f', which is neither 'tamed' nor 'threaded' */
	}
}
