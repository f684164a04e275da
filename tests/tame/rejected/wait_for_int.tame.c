#include <weft/tame.h>

tamed f(int n)
{
	twait(n); /* error:8: 'n' is not a rendezvous */
}
