/* right or refused */
/* __COUNTER__ counts on, in functions that wait and behind them. */
#include "odd.h"

#include <weft/tame.h>

#define UNIQUE_(a, b) a##b
#define UNIQUE__(a, b) UNIQUE_(a, b)
#define UNIQUE UNIQUE__(unique_, __COUNTER__)
enum { COUNTED_BEFORE = __COUNTER__ };

static tamed counter(event(int) done)
{
	int UNIQUE = 1, UNIQUE = 2, first = __COUNTER__, second;

	twait {
		soon(mkevent());
	}
	second = __COUNTER__;
	trigger(done, second - first);
}
ODD(counter, 1)

enum { COUNTED_BEHIND = __COUNTER__ };
static tamed counter_goes_on(event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, COUNTED_BEHIND - COUNTED_BEFORE);
}
ODD(counter_goes_on, 5)
