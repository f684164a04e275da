#include <weft/tame.h>

tamed f(rendezvous(int) r) /* error:25: rendezvous 'r' is passed by value: pass a pointer to it */
{
	int i;

	twait(*(rendezvous(int) *)r, i);
}
