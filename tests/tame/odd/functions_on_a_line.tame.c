/* Several functions of one macro. */
#include "odd.h"
#include <weft/tame.h>

/* a function whose head has an include; two tamed by one macro with plain between */
#define TWO(a, b, c) static tamed a(event(int) done) { int n; twait { later(1, mkevent(n)); } trigger(done, n); } static int c(int x) { int y = 2; return x + y; } static tamed b(event(int) done) { int n; twait { later(c(1), mkevent(n)); } trigger(done, n); }
TWO(functions_on_a_linea, functions_on_a_lineb, functions_on_a_linec)
ODD(functions_on_a_linea, 1)
ODD(functions_on_a_lineb, 3)
TWO(functions_on_a_lined, functions_on_a_linee, functions_on_a_linef)
static int functions_on_a_lineg(void) { return 3; }
ODD(functions_on_a_linee, 3)
int functions_on_a_lineu(void); int functions_on_a_lineu(void) { return functions_on_a_lineg() + functions_on_a_linec(1) + functions_on_a_linef(2); }
