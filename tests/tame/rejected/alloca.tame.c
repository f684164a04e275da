#include <weft/tame.h>

#include <alloca.h>

tamed f(int n)
{
	char *p = alloca((size_t)n); /* error:12: memory of 'alloca' does not live across a wait */

	twait {
		trigger(mkevent());
	}
	*p = 1;
}
