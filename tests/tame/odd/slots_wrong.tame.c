/* Slots that are no places, by macros too. */
#include "odd.h"

#include <weft/tame.h>

#define CONSTANT 5
#define SUM(x, y) ((x) + (y))

tamed slots(const int n, event(int) done)
{
	const struct odd_pair p = { 1, 2 };
	enum { ONE = 1 };
	int x = 1;

	twait {
		later(2, mkevent(CONSTANT)); /* error:: trigger slot .* is not something to assign to */
		later(3, mkevent(SUM(x, n))); /* error:: trigger slot .* is not something to assign to */
		later(4, mkevent(p.a)); /* error:: trigger slot 'p.a' is const */
		later(5, mkevent(ONE)); /* error:: trigger slot 'ONE' is not something to assign to */
		later(6, mkevent(n)); /* error:: trigger slot 'n' is const */
	}
	trigger(done, x);
}
