/* The size of __func__. */
#include "odd.h"
#include <weft/tame.h>

static tamed own_name_sizes(event(int) done)
{
	char buf[sizeof __func__];
	int n;
	twait { later(1, mkevent(n)); }
	buf[0] = 1;
	trigger(done, (int)sizeof buf);
}
ODD(own_name_sizes, 15)
