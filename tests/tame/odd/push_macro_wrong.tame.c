/* Macros that are put aside inside of a function: not every preprocessor tells of that. */
#include <weft/tame.h>

#define SIZE 3

tamed f(event(int) done)
{
	int x;

#pragma push_macro("SIZE") /* error:1: '#pragma push_macro' in a function that waits */
#undef SIZE
#define SIZE 9
	twait {
		trigger(mkevent(x), SIZE);
	}
#pragma pop_macro("SIZE") /* error:1: '#pragma pop_macro' in a function that waits */
	trigger(done, x);
}
