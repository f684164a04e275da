/* The same by a member that changes meanwhile. */
#include "odd.h"
#include <weft/tame.h>

struct box { int which; };
static tamed set(struct box *b, event() e) { int n; twait { later(1, mkevent(n)); } b->which = n; trigger(e); }
static tamed rendezvous_by_member(event(int) done)
{
	rendezvous(int) r[2];
	struct box b = { 0 };
	int id;
	soon(mkevent(r[1], 9));
	int n; twait { later(1, mkevent(n)); }
	set(&b, mkevent(r[0], 5));
	twait(r[b.which], id);
	trigger(done, id);
	rv_cancel(r[0]);
	rv_cancel(r[1]);
}
ODD(rendezvous_by_member, 5)
