#include <weft/tame.h>

#define TRY(x) \
	if ((x) < 0) \
	return
tamed f(int n)
{
	twait {
		trigger(mkevent());
	}
	TRY(n); /* error:2: 'return' in the body of the macro 'TRY' */
}
