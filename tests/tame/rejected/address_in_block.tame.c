#include <weft/tame.h>

tamed g(int *p, event() e);
tamed f(int n)
{
	twait {
		for (int i = 0; i < n; i++)
			g(&i, mkevent()); /* warning:6: 'i' goes out of scope before the wait */
	}
}
