/* A constant of the function's own where libclang does not show it. */
#include "odd.h"
#include <weft/tame.h>

enum { SIZE = 1 };

tamed attributes(event(int) done)
{
	enum { SIZE = 16 };
	int n;

	twait {
		later(1, mkevent(n));
	}
	{
		_Alignas(SIZE) char c = 0; /* error:12: weft-tame does not understand this use of 'SIZE' */

		n += c;
	}
	trigger(done, n);
}
