/* Several declarators in one declaration, of functions too, and odd ones. */
/* flags: -std=gnu2x -Wno-strict-prototypes -Wno-c2x-extensions -Wno-deprecated-non-prototype */
#include "odd.h"

#include <weft/tame.h>

static tamed first(int n, event(int) done), second(int, event(int));
static int variable, function(int x), *pointer = &variable;

static tamed first(int first, event(int) done)
{
	twait {
		later(first, mkevent(first));
	}
	trigger(done, first);
}

static tamed second(int, event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, 2);
}

static int function(int x)
{
	return x + *pointer;
}

static tamed no_prototype();
static tamed no_prototype()
{
	twait {
		soon(mkevent());
	}
	variable = 3;
};

static tamed lists(event(int) done)
{
	int a = 1, *p = &a, **pp = &p, list[2] = { 1, 2 }, (*row)[2] = &list, f(int), (*g)(int) = function;
	struct odd_pair x = { 3, 4 }, *q = &x, xs[2] = { x, { 5, 6 } }, nothing(void);
	rendezvous(int) r[2], s, *t = &s;
	event(int) e, *es = &e, ee[2];
	int b, c;

	twait {
		e = mkevent(b);
		ee[1] = mkevent(c);
		later((*row)[1], *es);
		first(**pp, ee[1]);
		no_prototype();
	}
	later(1, mkevent(r[1], 7, b));
	later(2, mkevent(*t, 8, c));
	twait(*t, a);
	twait(r[1], xs[0].a);
	trigger(done, a + b * 10 + c * 100 + xs[0].a * 1000 + q->b * 10000 + xs[1].b * 100000 +
			      g(1) * 1000000);
}
ODD(lists, 8 + 10 + 200 + 7000 + 40000 + 600000 + 4000000)

static tamed functions(event(int) done)
{
	int a, b;

	twait {
		first(1, mkevent(a));
		second(1, mkevent(b));
	}
	trigger(done, a + b * 10);
}
ODD(functions, 21)

typedef int number, *numbers, list_of[3], maker(void);

static tamed by_typedef(list_of parameter, maker *m, event(number) done)
{
	typedef number own, owns[2], *own_pointer;
	own x = 1, y[2] = { 2, 3 };
	owns z = { 4, 5 };
	own_pointer p = z, q = &x;
	numbers n = parameter;

	twait {
		later(n[2], mkevent(p[1]));
	}
	trigger(done, *q + y[1] * 10 + z[1] * 100 + (m == NULL) * 1000);
}

static tamed by_typedefs(event(int) done)
{
	list_of list = { 7, 8, 9 };
	int got;

	twait {
		by_typedef(list, NULL, mkevent(got));
	}
	trigger(done, got);
}
ODD(by_typedefs, 1931)
