/* right or refused */
/* #pragma pack inside of a body. */
#include "odd.h"

#include <weft/tame.h>

static tamed packed(event(int) done)
{
#pragma pack(push, 1)
	struct own {
		char c;
		int i;
	} s = { 1, 2 };
#pragma pack(pop)
	struct not_packed {
		char c;
		int i;
	} t = { 3, 4 };

	twait {
		soon(mkevent());
	}
	trigger(done, (int)sizeof(struct own) + (int)sizeof t * 10 + s.i * 100 + t.i * 1000);
}
ODD(packed, 5 + 80 + 200 + 4000)
