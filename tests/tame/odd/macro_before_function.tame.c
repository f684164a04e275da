/* A plain function behind a tamed one that a macro made. */
#include "odd.h"
#include <weft/tame.h>

#define DEF(name) static tamed name(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, n); }
DEF(macro_before_function)
static int g(void) { int x = 3; return x; }
static int h(void) { int x = 3; return x + g(); }
ODD(macro_before_function, 1)
int use(void); int use(void) { return h(); }
