#include <weft/tame.h>

tamed g(event(int) e);
tamed f(void)
{
	const int n = 1;

	twait {
		g(mkevent(n)); /* error:13: trigger slot 'n' is const */
	}
}
