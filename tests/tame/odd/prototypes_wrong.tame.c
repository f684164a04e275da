/* A function that is declared together with variables. */
#include "odd.h"
#include <weft/tame.h>

tamed prototypes(event(int) done)
{
	double x = 1, half(double); /* error:9: 'x' is declared together with the function 'half' */
	int n;

	twait {
		later(1, mkevent(n));
	}
	trigger(done, (int)(x + half(4)));
}
