#include <weft/tame.h>

tamed g(event(int) e);
struct bits {
	int b : 3;
};
tamed f(struct bits *s)
{
	twait {
		g(mkevent(s->b)); /* error:5: .*bit-field */
	}
}
