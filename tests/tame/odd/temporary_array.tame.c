/* right or refused */
/* The array in a struct that a function returns is gone when the expression ends; an event that
 * comes later would read what is no more. */
#include "odd.h"

#include <weft/tame.h>

struct box {
	int x[3];
};

static struct box box(int n)
{
	return (struct box){ { n, n, n } };
}

static tamed kept_by_an_event(event(int) done)
{
	int got;

	twait {
		sum_later(box(3).x, 3, mkevent(got));
	}
	trigger(done, got);
}
ODD(kept_by_an_event, 9)
