/* A macro that pop_macro has brought back is not expanded twice. */
#include "odd.h"
#include <weft/tame.h>

static int count; static int twicec(int n) { return n; }
#define twicec(n) (count++, twicec(n))
#pragma push_macro("twicec")
#undef twicec
#pragma pop_macro("twicec")
static tamed pushed_macros(event(int) done)
{
	int n;
	twait { later(twicec(1), mkevent(n)); }
	trigger(done, count);
}
ODD(pushed_macros, 1)
