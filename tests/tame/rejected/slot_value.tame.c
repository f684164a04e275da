#include <weft/tame.h>

tamed g(event(int) e);
tamed f(int n)
{
	twait {
		g(mkevent(n + 1)); /* error:13: trigger slot 'n + 1' is not something to assign to */
	}
}
