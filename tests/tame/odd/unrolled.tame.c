/* Pragmas in front of loops. */
/* flags: -Wno-error */
#include "odd.h"

#include <weft/tame.h>

static tamed unrolled(event(int) done)
{
	int sum = 0, got;

#pragma GCC unroll 2
	for (int i = 0; i < 4; i++) {
		twait {
			later(i, mkevent(got));
		}
		sum += got;
	}
#pragma GCC unroll 4
	for (int i = 0; i < 3; i++)
		sum++;
	trigger(done, sum);
}
ODD(unrolled, 9)
