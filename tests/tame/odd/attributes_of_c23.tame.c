/* Attributes of C23. */
/* flags: -std=gnu2x -Wno-deprecated-declarations -Wno-attributes -Wno-unknown-attributes -Wno-ignored-attributes */
#include "odd.h"

#include <weft/tame.h>

[[gnu::noinline]] static tamed in_front([[maybe_unused]] int n, event(int) done)
{
	[[maybe_unused]] int unused, got [[maybe_unused]] = 1'0'0;

	twait {
		later(n, mkevent(got));
	}
	switch (got) {
	case 3:
		got++;
		[[fallthrough]];
	case 4:
		twait {
			later(got + 1, mkevent(got));
		}
		break;
	}
	trigger(done, got);
}

[[deprecated]] [[gnu::cold]] static tamed other [[gnu::noinline]] (event(int) done [[maybe_unused]])
{
	struct [[maybe_unused]] own {
		[[maybe_unused]] int x;
	} s [[maybe_unused]] = { 2 };
	enum { A [[maybe_unused]] = 3 };

	twait {
		later(s.x, mkevent(s.x));
	}
	[[maybe_unused]] label: (void)s;
	trigger(done, s.x + A);
}

static tamed of_c23(event(int) done)
{
	int a, b;

	twait {
		in_front(3, mkevent(a));
		other(mkevent(b));
	}
	trigger(done, a * 10 + b);
}
ODD(of_c23, 55)
