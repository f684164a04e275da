/* Wrong types in macros are told at the line where the macro is called. */
#include "odd.h"

#include <weft/tame.h>

#define GIVE(e, v) trigger(e, v)
#define ASK(f, x) f(3, mkevent(x))
#define RESULT(x) return x

tamed types(struct odd_pair p, event(int) done)
{
	char c;

	twait {
		ASK(later, c); /* error:: incompatible pointer types passing 'event(char)' to parameter of type 'event(int)' */
		ASK(later, p); /* error:: incompatible pointer types passing 'event(struct odd_pair)' to parameter of type 'event(int)' */
	}
	GIVE(done, p); /* error:: passing 'struct odd_pair' to parameter of incompatible type 'int' */
	GIVE(p, 3); /* error:: what is triggered is not an event */
	RESULT(4); /* error:: tamed function 'types' returns no value */
}
