#include <weft/tame.h>

#define NOTHING(x) (void)0
tamed g(event() e);
tamed f(void)
{
	twait {
		NOTHING(g(mkevent())); /* error:13: 'mkevent' is an argument of a macro that does not use it */
		g(mkevent());
	}
}
