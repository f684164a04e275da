/* Names that hide others: typedefs, enumerators, tags, functions, locals in locals. */
#include "odd.h"

#include <weft/tame.h>

typedef int number;
typedef struct {
	int x;
} point;
enum { ONE = 1, TWO = 2 };
static int got = 100;

static tamed typedefs(event(int) done)
{
	number first = 1;
	int number = 2;

	twait {
		later(number, mkevent(first));
	}
	{
		typedef long number;
		number x = 3;
		point point = { 4 };

		twait {
			later((int)sizeof(number), mkevent(point.x));
		}
		first += (int)x * 10 + point.x * 100;
	}
	trigger(done, first + number * 10000);
}
ODD(typedefs, 2 + 30 + 800 + 20000)

static tamed enumerators(event(int) done)
{
	int ONE = 10, sum;
	enum { TWO = 20, THREE = 3 } e = THREE;

	twait {
		later(TWO, mkevent(sum));
	}
	sum += ONE;
	{
		enum { ONE = 7, TWO = 8 };
		const int THREE = ONE;

		twait {
			later(ONE + TWO, mkevent(sum));
		}
		sum += THREE * 100;
	}
	trigger(done, sum + (int)e * 1000 + ONE * 10000);
}
ODD(enumerators, 15 + 700 + 3000 + 100000)

static tamed tags(event(int) done)
{
	struct odd_pair outer = { 1, 2 };
	struct odd_pair {
		int only;
	} inner = { 3 };
	union list {
		int i;
	} list = { 4 };

	twait {
		soon(mkevent());
	}
	{
		struct list {
			char c[3];
		};
		struct list list = { "ab" };
		enum odd_pair_kind { odd_pair = 5 } kind = odd_pair;

		twait {
			soon(mkevent());
		}
		inner.only += (int)sizeof list * 10 + (int)kind * 100 + (list.c[1] == 'b') * 1000;
	}
	trigger(done, inner.only + outer.b * 10000 + list.i * 100000 + (int)sizeof(struct odd_pair) * 1000000);
}
ODD(tags, 3 + 30 + 500 + 1000 + 20000 + 400000 + 4000000)

static tamed functions(event(int) done)
{
	int soon_ = 1, got = 2, strlen = 3;
	void (*soon)(WEFT_EVENT() e) = NULL;

	twait {
		later(got, mkevent(strlen));
	}
	trigger(done, got + strlen * 10 + (soon == NULL) * 100 + soon_ * 1000);
}
ODD(functions, 2 + 20 + 100 + 1000)

static tamed deep(event(int) done)
{
	int x = 1, sum = 0;

	{
		int x = 2;

		{
			int x = 3, *p = &x;

			for (int x = 4; x < 6; x++) {
				int y = x;

				twait {
					int x = 7;

					later(x * 10, mkevent(sum));
					soon(mkevent());
					x++;
				}
				sum += y;
			}
			sum += *p * 1000 + x * 10000;
		}
		sum += x * 100000;
	}
	trigger(done, sum + x * 1000000);
}
ODD(deep, 75 + 3000 + 30000 + 200000 + 1000000)

static tamed globals(event(int) done)
{
	int sum = got;

	twait {
		soon(mkevent());
	}
	sum += got;
	{
		int got = 1;

		{
			extern int odd_shadowed;

			sum += odd_shadowed + got;
		}
		twait {
			later(got + 1, mkevent(got));
		}
		sum += got;
	}
	trigger(done, sum + got);
}
int odd_shadowed = 1000;
ODD(globals, 300 + 1001 + 2)

static tamed parameter_of(int x, int (*f)(int x), event(int) done)
{
	int prototype(int x, int y);
	struct {
		int x;
		int (*f)(int x);
	} s = { .x = x, .f = f };

	twait {
		soon(mkevent());
	}
	trigger(done, s.x + s.f(x) * 10 + prototype(x, 1) * 100);
}

int prototype(int x, int y);
int prototype(int x, int y)
{
	return x + y;
}

static int negative(int x)
{
	return -x;
}

static tamed prototypes(event(int) done)
{
	parameter_of(4, negative, done);
}
ODD(prototypes, 4 - 40 + 500)

static tamed same_scope_names(event(int) done)
{
	struct x {
		int x;
	} x = { 5 };

	goto x;
x:
	twait {
		later(((struct x){ x.x }).x, mkevent(x.x));
	}
	for (int i = 0, x = 3; i < 1; i++)
		twait {
			soon(mkevent());
			done = (x == 3) ? done : NULL;
		}
	trigger(done, x.x);
}
ODD(same_scope_names, 5)
