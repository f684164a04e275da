/* Labels: with the names of variables, jumps past initialisers. */
#include "odd.h"

#include <weft/tame.h>

static tamed past_initialisers(event(int) done)
{
	int n = 0, sum = 0;

	goto n;
	{
		int x = 5;

	n:
		x = n;
		twait {
			soon(mkevent());
		}
		sum += x;
		if (n++ < 2) {
			int x = 10;

			twait {
				later(x, mkevent(x));
			}
			sum += x;
			goto n;
		}
	}
	switch (n) {
		int x;
		int y[2];

	case 3:
		x = 7;
		y[1] = 8;
		twait {
			soon(mkevent());
		}
		sum += x * 100 + y[1] * 1000;
	}
	trigger(done, sum);
}
ODD(past_initialisers, 0 + 1 + 2 + 20 + 700 + 8000)
