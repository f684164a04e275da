/* right or refused */
/* A struct that is declared among parameters, in the definition. */
/* flags: -Wno-error */
#include "odd.h"

#include <weft/tame.h>

static tamed takes_struct(
	struct {
		int x, y;
	} *p,
	event(int) done)
{
	twait {
		later(p->x + 1, mkevent(p->y));
	}
	trigger(done, p->y);
}

static tamed struct_among_parameters(event(int) done)
{
	struct odd_pair p = { 1, 2 };
	void *q = &p;

	twait {
		takes_struct(q, mkevent(p.a));
	}
	trigger(done, p.a * 10 + p.b);
}
ODD(struct_among_parameters, 22)
