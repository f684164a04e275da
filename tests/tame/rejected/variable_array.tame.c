#include <weft/tame.h>

tamed f(int n)
{
	char buffer[n]; /* error:7: variable 'buffer' lives across a wait, but its size is not constant */

	buffer[0] = 1;
	twait {
		trigger(mkevent());
	}
}
