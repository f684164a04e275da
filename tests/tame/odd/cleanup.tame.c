/* right or refused */
/* A variable with a cleanup function, that lives across no wait, or across one. */
#include "odd.h"

#include <weft/tame.h>

static int cleaned;

static void clean(int *x)
{
	cleaned += *x;
}

static tamed cleans_across(event(int) done)
{
	{
		__attribute__((cleanup(clean))) int x = 5;

		twait {
			later(7, mkevent(x));
		}
	}
	trigger(done, cleaned);
}
ODD(cleans_across, 7)
