/* right or refused */
/* Macros named like words of C: what is generated must not count as what the user wrote. */
#include "odd.h"

#include <weft/tame.h>

static int ifs, returns;

#define if(...) if (ifs++, (__VA_ARGS__))
#define private static
#undef bool
#define bool int
#define unless(c) if (!(c))

private tamed counted(event(int) done)
{
	bool got = 0;
	rendezvous(int) r;

	for (int i = 0; i < 3; i++) {
		twait {
			later(i, mkevent(got));
		}
		if (got == 2)
			returns++;
	}
	soon(mkevent(r, 5));
	twait(r, got);
	unless (got) {
		(void)done;
		return;
	}
	trigger(done, ifs + returns * 10);
}
ODD(counted, 14)
