#include <weft/tame.h>

void end(int *p);
#define ENDS __attribute__((cleanup(end)))
tamed f(void)
{
	ENDS int x = 1; /* error:11: variable 'x' lives across a wait, but has a cleanup function */

	twait {
		trigger(mkevent());
	}
}
