/* Slots of types that are none for events, or of others. */
#include "odd.h"

#include <weft/tame.h>

void give_list(event(int *) e);

tamed slots(event(int) done)
{
	int list[3], x;

	twait {
		give_list(mkevent(list)); /* error:13: incompatible pointer types passing .* to parameter of type 'event(int \*)' */
		later(1, mkevent((char)x)); /* error:12: incompatible pointer types passing 'event(char)' to parameter of type 'event(int)' */
		soon(mkevent((void)x)); /* error:8: .* */
	}
	trigger(done, x);
}
