#include <weft/tame.h>

tamed f(n) /* error:7: the parameters of 'f' are declared behind the brackets */
	int n;
{
	(void)n;
}
