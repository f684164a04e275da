/* mkevent in initialisers, conditions and lists. */
#include "odd.h"

#include <weft/tame.h>

static tamed initialisers(event(int) done)
{
	int x[5], sum = 0;

	twait {
		event(int) e = mkevent(x[0]), list[] = { mkevent(x[1]), mkevent(x[2]) }, *p = list;
		struct {
			int n;
			event(int) e;
		} s = { 4, .e = mkevent(x[3]) };

		for (event(int) f = mkevent(x[4]); f; f = NULL)
			later(5, f);
		later(1, e);
		later(2, *p++);
		later(3, *p);
		later(s.n, s.e);
	}
	for (int i = 0; i < 5; i++)
		sum = sum * 10 + x[i];
	trigger(done, sum);
}
ODD(initialisers, 12345)

static tamed chooses(int n, event(int) done)
{
	int x = 0, y = 0;

	twait {
		later(n, n > 1 ? mkevent(x) : mkevent(y));
		later(n + 1, (soon(mkevent()), mkevent(n)));
		if (n > 5 && (later(1, mkevent(x)), n < 10))
			later(2, mkevent(y));
	}
	trigger(done, x + y * 10 + n * 100);
}

static tamed conditions(event(int) done)
{
	int a, b, c;

	twait {
		chooses(1, mkevent(a));
		chooses(2, mkevent(b));
		chooses(6, mkevent(c));
	}
	trigger(done, a + b * 1000 + c * 1000000);
}
ODD(conditions, 210 + 302000 + 721000000)

#define X(x, y) twait { later(x * y, mkevent(got)); } sum = sum * 100 + got;
static tamed waits_of_a_list(event(int) done)
{
	int sum = 0, got;

#include "pairs.inc"
#undef X
#define X(x, y) later(x + y, mkevent(of_##x));
	int of_1, of_3;

	twait {
#include "pairs.inc"
	}
	trigger(done, sum + of_1 * 10000 + of_3 * 100000);
}
ODD(waits_of_a_list, 212 + 30000 + 700000)

static int choose(event(int) e, int n)
{
	later(n, e);
	return n;
}

static tamed in_conditions(event(int) done)
{
	int x = 0, y = 0, z = 0, n = 0;

	twait {
		if (choose(mkevent(x), 1) == 1)
			n += 1;
		switch (choose(mkevent(y), 2)) {
		case 2:
			n += 10;
		}
		for (int i = choose(mkevent(z), 3); i > 0; i--)
			n += 100;
		n++;
		n += choose((soon(mkevent()), mkevent(x)), 4) > 3 ? 1000 : 2000;
	}
	trigger(done, x + y * 10 + z * 100 + n * 1000);
}
ODD(in_conditions, 4 + 20 + 300 + 1312000)
