/* What a parameter points to has a constant size. */
#include "odd.h"

#include <weft/tame.h>

tamed parameter(int n, int a[n][n], event(int) done) /* error:28: the size of what parameter 'a' points to is not constant */
{
	twait {
		soon(mkevent());
	}
	trigger(done, a[1][1]);
}
