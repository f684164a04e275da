/* Parameters that are declared behind the brackets. */
#include "odd.h"

#include <weft/tame.h>

tamed old(n, done) /* error:7: the parameters of 'old' are declared behind the brackets */
	int n;
	event(int) done;
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n);
}
