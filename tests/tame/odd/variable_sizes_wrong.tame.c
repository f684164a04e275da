/* What lives across a wait has a constant size. */
#include "odd.h"

#include <weft/tame.h>

tamed pointer(int n, int *list, event(int) done)
{
	int (*rows)[n] = (int(*)[n])list; /* error:: .*'rows'.* */

	twait {
		soon(mkevent());
	}
	trigger(done, rows[1][1]);
}

tamed array(int n, event(int) done)
{
	int list[n]; /* error:6: variable 'list' lives across a wait, but its size is not constant */

	list[0] = 1;
	twait {
		sum_later(list, n, mkevent(n));
	}
	trigger(done, n);
}

#define BUFFER(name, size) char name[size]
tamed by_macro(int n, event(int) done)
{
	BUFFER(buffer, n); /* error:: variable 'buffer' lives across a wait, but its size is not constant */

	buffer[0] = 1;
	twait {
		soon(mkevent());
	}
	trigger(done, buffer[0]);
}
