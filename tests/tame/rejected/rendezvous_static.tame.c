#include <weft/tame.h>

rendezvous() everywhere; /* error:14: 'everywhere' holds a rendezvous: it must be a variable of */

struct pair {
	rendezvous(int) r;
};
static struct pair pairs[2]; /* error:20: 'pairs' holds a rendezvous: it must be a variable of */

void plain(void)
{
	rendezvous() r; /* error:15: 'r' holds a rendezvous: it must be a variable of a 'tamed' or */

	(void)r;
}

tamed f(event() done)
{
	static rendezvous() r; /* error:22: 'r' holds a rendezvous: .* function, and not static */

	trigger(mkevent(r));
	twait(r);
	trigger(done);
}
