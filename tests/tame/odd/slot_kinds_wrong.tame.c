/* What cannot be assigned to is no slot. */
#include "odd.h"

#include <weft/tame.h>

struct fixed {
	const int x;
	int y;
};
void give_fixed(event(struct fixed) e);

tamed slots(event(int) done)
{
	struct fixed f = { 1, 2 };
	int x;

	twait {
		give_fixed(mkevent(f)); /* error:: .* */
		later(1, mkevent(x = 2)); /* error:: trigger slot 'x = 2' is not something to assign to */
		later(1, mkevent((int)x)); /* error:: trigger slot '(int)x' is not something to assign to */
	}
	trigger(done, x);
}
