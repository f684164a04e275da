#include <weft/tame.h>

#define DOUBLE (2 * n)
tamed f(int n, event(int) e)
{
	twait {
		trigger(mkevent());
	}
	trigger(e, DOUBLE); /* error:13: the body of the macro 'DOUBLE' names 'n', which lives across a wait */
}
