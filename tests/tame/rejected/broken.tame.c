#include <weft/tame.h>

tamed g(event(int) e);
tamed broken(event(int) e)
{
	rendezvous() r; /* warning:15: events of rendezvous 'r' are never waited for or cancelled */
	int x = 0;

	g(mkevent(r, x));
	trigger(e, x);
}
