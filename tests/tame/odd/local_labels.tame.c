/* right or refused */
/* Labels of blocks. */
#include "odd.h"

#include <weft/tame.h>

static tamed of_blocks(event(int) done)
{
	int n = 0;

	for (int i = 0; i < 2; i++) {
		__label__ out, again;

	again:
		twait {
			later(n + 1, mkevent(n));
		}
		if (n == 1)
			goto again;
		if (n < 5)
			goto out;
		n = 100;
	out:;
	}
	{
		__label__ out;

		if (n == 3)
			goto out;
		n = 1000;
	out:
		n++;
	}
	trigger(done, n);
}
ODD(of_blocks, 4)
