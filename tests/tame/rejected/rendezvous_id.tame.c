#include <weft/tame.h>

tamed g(event() e);
tamed f(void)
{
	rendezvous(int) r;
	const int id = 0;

	g(mkevent(r)); /* error:4: mkevent needs an event ID, as 'r' is a rendezvous with IDs: 'mkevent(r, id)' */
	g(mkevent(r, 1));
	twait(r, id); /* error:11: 'id' is not something to assign an event ID to */
}
