/* Attributes wherever they may stand. */
/* flags: -Wno-attributes -Wno-unknown-attributes -Wno-ignored-attributes */
#include "odd.h"

#include <weft/tame.h>

#define UNUSED __attribute__((unused))
#define NOINLINE __attribute__((__noinline__))

__attribute__((noinline)) static tamed in_front(int n, event(int) done)
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n);
}

static __attribute__((noinline, unused)) tamed in_the_middle(int n __attribute__((unused)), event(int) done)
{
	twait {
		later(n + 1, mkevent(n));
	}
	trigger(done, n);
}

static tamed __attribute__((cold)) NOINLINE behind_tamed(UNUSED int n, UNUSED event(int) done)
{
	twait {
		later(n + 2, mkevent(n));
	}
	trigger(done, n);
}

static tamed declared_with(int n, event(int) done) __attribute__((nonnull(2))) UNUSED;
static tamed declared_with(int n, event(int) done)
{
	twait {
		later(n + 3, mkevent(n));
	}
	trigger(done, n);
}

__extension__ static threaded __attribute__((warn_unused_result)) int of_threads(int n)
{
	int got;

	twait {
		later(n, mkevent(got));
	}
	return got;
}

static tamed variables(event(int) done)
{
	int a UNUSED = 1, b __attribute__((unused)) = 2, __attribute__((unused)) c;
	UNUSED int d, e;
	__attribute__((unused)) struct odd_pair __attribute__((unused)) p UNUSED = { 3, 4 };
	int *__attribute__((unused)) q = &a;
	struct __attribute__((packed)) {
		char c;
		int i __attribute__((aligned(2)));
	} s = { 1, 2 };

	twait {
		in_front(1, mkevent(c));
		in_the_middle(1, mkevent(d));
		behind_tamed(1, mkevent(e));
		declared_with(1, mkevent(b));
	}
	if (__builtin_expect(c == 1, 1))
	label: UNUSED
		twait {
			tfork(mkevent(*q), of_threads(7));
		}
	switch (s.i) {
	case 2:
		p.a = 5;
		__attribute__((fallthrough));
	case 3:
		twait {
			soon(mkevent());
		}
		break;
	default:
		goto label;
	}
	trigger(done, a + b * 10 + c * 100 + d * 1000 + e * 10000 + p.a * 100000 + (int)sizeof s * 1000000);
}
ODD(variables, 7 + 40 + 100 + 2000 + 30000 + 500000 + 6000000)
