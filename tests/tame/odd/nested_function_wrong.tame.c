/* Functions in functions. */
#include "odd.h"

#include <weft/tame.h>

tamed outer(event(int) done)
{
	int inner(int n)
	{ /* error:2: function definition is not allowed here */
		return n + 1;
	}

	trigger(done, 3);
}
