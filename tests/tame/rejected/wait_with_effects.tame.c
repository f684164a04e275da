#include <weft/tame.h>

rendezvous(int) *next(void);
tamed f(void)
{
	int i;

	twait(*next(), i); /* error:8: '\*next()' has side effects */
}
