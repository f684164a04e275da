/* What is constant cannot be changed, across a wait or not. */
#include "odd.h"

#include <weft/tame.h>

tamed writes(const int parameter, event(int) done)
{
	const int local = 1;
	const struct odd_pair p = { 1, 2 };

	twait {
		soon(mkevent());
	}
	local = 2; /* error:8: cannot assign to variable 'local' with const-qualified type */
	parameter++; /* error:11: cannot assign to variable 'parameter' with const-qualified type */
	p.a = 3; /* error:6: cannot assign to variable 'p' with const-qualified type */
	trigger(done, local);
}
