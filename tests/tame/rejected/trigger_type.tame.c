#include <weft/tame.h>

struct address {
	int x;
};
tamed f(event(int) e)
{
	struct address a = { 1 };

	trigger(e, a); /* error:13: passing 'struct address' to parameter of incompatible type 'int' */
}
