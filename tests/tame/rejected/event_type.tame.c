#include <weft/tame.h>

struct address {
	int x;
};
tamed g(event(struct address) e);
tamed f(void)
{
	int x;

	twait {
		g(mkevent(x)); /* error:5: incompatible pointer types passing 'event(int)' to parameter of type 'event(struct address)' */
	}
}
