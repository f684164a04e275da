#include <weft/tame.h>

tamed g(event() e);
#define EVENT mkevent()
tamed f(void)
{
	twait {
		g(EVENT); /* error:5: 'mkevent' in the body of the macro 'EVENT' */
	}
}
