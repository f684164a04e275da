#include <weft/tame.h>

tamed f(int n, ...) /* error:7: tamed function 'f' is variadic */
{
	twait {
		trigger(mkevent());
	}
	(void)n;
}
