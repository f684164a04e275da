#include <weft/tame.h>

tamed f(void)
{
	int x = 1;

	twait {
		trigger(mkevent());
	}
#ifdef OTHER /* warning:1: of '#if' in a function that waits only the active branch is translated */
	x = 2;
#endif
	(void)x;
}
