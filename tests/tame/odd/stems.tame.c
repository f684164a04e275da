/* Functions whose names are made from others. */
#include "odd.h"
#include <weft/tame.h>

int f__x(void); int f__x(void) { return 1; }
static tamed f(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, n); }
static tamed f_2(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, n); }
ODD(f, 1)
ODD(f_2, 1)
