/* Slots of all kinds. */
#include "odd.h"

#include <weft/tame.h>

struct tree {
	struct odd_pair pair;
	int list[3];
	struct tree *next;
};

static int global;
static int *place(int *p)
{
	return p;
}

#define NEXT(t) (t)->next->list
#define AT(list, i) (list)[i]

static tamed places(event(int) done)
{
	struct tree a = { .list = { 0 } }, b = { .next = &a }, *p = &b;
	int x = 0, i = 1, list[3] = { 0 }, (*rows)[3] = &list, **pp = &(int *){ &x };
	static int fixed;

	twait {
		later(1, mkevent(p->pair.a));
		later(2, mkevent(NEXT(p)[i]));
		later(3, mkevent(AT(list, i + 1)));
		later(4, mkevent(*place(&list[0])));
		later(5, mkevent(**pp));
		later(6, mkevent((*rows)[1]));
		later(7, mkevent(global));
		later(8, mkevent(fixed));
		later(9, mkevent(*(i ? &b.list[2] : &b.list[1])));
		i = 0;
	}
	trigger(done, b.pair.a + a.list[1] * 10 + list[2] * 100 + list[0] * 1000 + x * 10000 +
			      list[1] * 100000 + global * 1000000 + fixed * 10000000 +
			      b.list[2] * 100000000);
}
ODD(places, 987654321)

static tamed evaluated_once(event(int) done)
{
	int list[4] = { 0 }, i = 0, *p = list;

	twait {
		later(1, mkevent(list[i++]));
		later(2, mkevent(*++p));
		later(3, mkevent(p[i++]));
	}
	trigger(done, list[0] + list[1] * 10 + list[2] * 100 + i * 1000 + (int)(p - list) * 10000);
}
ODD(evaluated_once, 321 + 2000 + 10000)

static void give_all(event(int, struct odd_pair, const char *, double) e)
{
	trigger(e, 1, (struct odd_pair){ 2, 3 }, "four", 5.5);
}

static tamed many_values(event(int) done)
{
	struct {
		int i;
		struct odd_pair p[2];
		const char *s;
		union {
			double d;
			int i2;
		};
	} s;

	twait {
		give_all(mkevent(s.i, s.p[1], s.s, s.d));
	}
	trigger(done, s.i + s.p[1].b * 10 + (int)strlen(s.s) * 100 + (int)(s.d * 2) * 1000);
}
ODD(many_values, 1 + 30 + 400 + 11000)

static tamed in_conditions(int n, event(int) done)
{
	int a = 0, b = 0;

	twait {
		n > 1 ? later(1, mkevent(a)) : later(2, mkevent(b));
		(void)(n > 5 && (later(7, mkevent(a)), 1));
		for (int i = 0; i < 1; later(5, mkevent(b)), i++)
			if (n)
				continue;
		switch (n)
		case 3:
			later(8, mkevent(n));
	}
	trigger(done, a + b * 10 + n * 100);
}

static tamed conditions(event(int) done)
{
	int x, y;

	twait {
		in_conditions(3, mkevent(x));
		in_conditions(0, mkevent(y));
	}
	trigger(done, x + y * 1000);
}
ODD(conditions, 851 + 50000)

static event(int) kept[3];
static tamed stored(event(int) done)
{
	int x[3], sum = 0;
	event(int) mine, *p = &mine;
	struct {
		event(int) e;
		event() none;
	} s;

	twait {
		kept[0] = mkevent(x[0]);
		*p = mkevent(x[1]);
		s = (__typeof__(s)){ .e = mkevent(x[2]), mkevent() };
		later(1, kept[0]);
		later(2, mine);
		trigger(s.e, 3);
		trigger(s.none);
	}
	for (int i = 0; i < 3; i++)
		sum = sum * 10 + x[i];
	trigger(done, sum);
}
ODD(stored, 123)
