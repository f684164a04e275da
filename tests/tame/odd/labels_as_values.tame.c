/* right or refused */
/* Labels as values: if the address of a label is kept across a wait it must be of the same code. */
#include "odd.h"

#include <weft/tame.h>

static tamed labels_as_values(event(int) done)
{
	static const void *const places[] = { &&first, &&second, &&end };
	const void *next = places[0];
	int n = 0, i = 0;

	goto *next;
first:
	twait {
		soon(mkevent());
	}
	n += 1;
	goto *places[++i];
second:
	n += 10;
	twait {
		soon(mkevent());
	}
	next = &&third;
	goto *next;
third:
	n += 100;
	goto *places[2];
end:
	twait {
		later(n, mkevent(i));
	}
	trigger(done, i);
}
ODD(labels_as_values, 111)
