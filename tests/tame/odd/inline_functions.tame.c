/* extern inline and plain inline tamed functions. */
#include "odd.h"

#include <weft/tame.h>

inline tamed odd_plain_inline(int n, event(int) done)
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n);
}
extern tamed odd_plain_inline(int n, event(int) done);

extern inline tamed odd_extern_inline(int n, event(int) done)
{
	twait {
		later(n + 1, mkevent(n));
	}
	trigger(done, n);
}

static inline __attribute__((always_inline)) tamed always(int n, event(int) done)
{
	trigger(done, n);
}

static tamed inlines(event(int) done)
{
	int a, b, c;

	twait {
		odd_plain_inline(1, mkevent(a));
		odd_extern_inline(1, mkevent(b));
		always(3, mkevent(c));
	}
	trigger(done, a + b * 10 + c * 100);
}
ODD(inlines, 321)
