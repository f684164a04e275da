/* Pragmas of a function about warnings hold behind it. */
#include "odd.h"
#include <weft/tame.h>

static tamed own_diagnostics(event(int) done)
{
#pragma GCC diagnostic ignored "-Wunused-variable"
	int n; twait { later(1, mkevent(n)); } trigger(done, n);
}
static inline int after4(void) { int unused; return 1; }
ODD(own_diagnostics, 1)
int own_diagnosticsu(void); int own_diagnosticsu(void) { return after4(); }
