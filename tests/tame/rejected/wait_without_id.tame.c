#include <weft/tame.h>

tamed f(void)
{
	rendezvous() r;
	int i;

	trigger(mkevent(r));
	twait(r, i); /* error:11: rendezvous 'r' carries no event IDs */
}
