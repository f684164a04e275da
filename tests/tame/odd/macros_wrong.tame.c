/* What is wrong in a macro is told at the line where the macro is called. */
#include "odd.h"

#include <weft/tame.h>

#define LEAVE_IF(c) \
	if (c) \
		return
#define STOP break
#define NEXT continue
#define OUT(label) goto label
#define EV(x) mkevent(x)
#define AWAIT(e) \
	twait { \
		e; \
	}
#define VALUE_OF(e) \
	({ \
		int x; \
		twait { \
			e; \
		} \
		x; \
	})
#define GIVE(e, v) trigger(e, v)
#define WAIT_FOR(r) twait(r)
#define RESULT(x) return x

tamed leaves(int n, event(int) done)
{
	for (;;) {
		twait {
			later(n, mkevent(n));
			LEAVE_IF(n); /* error:: 'return' leaves a twait block while its events are outstanding */
			if (n == 1)
				STOP; /* error:: 'break' leaves a twait block while its events are outstanding */
			else if (n == 2)
				NEXT; /* error:: 'continue' leaves a twait block while its events are outstanding */
			OUT(end); /* error:: 'goto' leaves a twait block while its events are outstanding */
		}
	}
end:
	GIVE(done, n);
}

tamed makes(int n, event(int) done)
{
	later(n, EV(n)); /* error:: mkevent without a rendezvous outside a twait block */
	AWAIT(later(n, EV(n + 1))) /* error:: trigger slot 'n + 1' is not something to assign to */
	n = VALUE_OF(later(3, EV(n))); /* error:: 'twait' inside a statement expression */
	WAIT_FOR(n); /* error:: 'n' is not a rendezvous */
	GIVE(done, n);
}

void plain(int n)
{
	AWAIT(later(n, EV(n))) /* error:: .* in 'plain', which is neither 'tamed' nor 'threaded' */
}
