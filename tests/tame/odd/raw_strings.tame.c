/* right or refused */
/* Raw strings. */
/* only: gcc */
#include "odd.h"

#include <weft/tame.h>

static tamed raw_strings(event(int) done)
{
	const char *text = R"x(twait { "mkevent(x) } // )" /* )x";
	int got;

	twait {
		later((int)strlen(text), mkevent(got));
	}
	trigger(done, got);
}
ODD(raw_strings, 31)
