#include <weft/tame.h>

tamed g(event(int) e);
tamed f(void)
{
	twait {
		g(mkevent(x)); /* error:13: use of undeclared identifier 'x' */
	}
}
