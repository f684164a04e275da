/* Flags that change what types are. */
/* flags: -funsigned-char -fshort-enums */
#include "odd.h"

#include <weft/tame.h>

enum small { SMALL };

static tamed unsigned_char(event(int) done)
{
	char c = (char)-1, list[sizeof(enum small)] = { 1 };
	enum small small = SMALL;
	int got;

	twait {
		later(c, mkevent(got));
	}
	trigger(done, got + (int)sizeof list * 1000 + (int)sizeof small * 10000);
}
ODD(unsigned_char, 255 + 1000 + 10000)
