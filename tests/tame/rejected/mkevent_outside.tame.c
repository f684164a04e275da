#include <weft/tame.h>

tamed g(event() e);
tamed f(void)
{
	g(mkevent()); /* error:4: mkevent without a rendezvous outside a twait block */
}
