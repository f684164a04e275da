/* right or refused */
/* tfork of what the C library has as a macro or a builtin, and of variadic functions. */
#include "odd.h"

#include <ctype.h>
#include <stdio.h>

#include <weft/tame.h>

static tamed of_the_library(event(int) done)
{
	char out[8];
	int a, b, c;
	size_t d;

	twait {
		tfork(mkevent(a), toupper('a'));
		tfork(mkevent(b), atoi("5"));
		tfork(mkevent(c), snprintf(out, sizeof out, "%d", 123));
		tfork(mkevent(d), strlen("four"));
	}
	trigger(done, (a == 'A') + b * 10 + c * 100 + (int)d * 1000);
}
ODD(of_the_library, 1 + 50 + 300 + 4000)
