/* Text in strings that looks like digraphs once replaced. */
#include "odd.h"
#include <weft/tame.h>

static tamed hashes_in_strings(event(int) done)
{
	int n, ok;
	twait { later(1, mkevent(n)); }
	ok = "# # #"[1] == 0x20 && "# # #"[2] == 0x23;
	trigger(done, ok);
}
ODD(hashes_in_strings, 1)
