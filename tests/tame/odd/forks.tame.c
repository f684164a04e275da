/* tfork and ton, of functions in many forms. */
#include "odd.h"

#include <ctype.h>

#include <weft/tame.h>

static int add(int x, int y)
{
	return x + y;
}

static void put(int *where, int x)
{
	*where = x;
}

static struct odd_pair pair(int a, short b)
{
	return (struct odd_pair){ a, b };
}

static const char *text(void)
{
	return "text";
}

static int sum_of(struct odd_pair p, const int list[2], double d)
{
	return p.a + p.b + list[0] + list[1] + (int)d;
}

struct methods {
	int (*add)(int, int);
};

#define ADD(x) add(x, 1)
#define ADD_TO(f, ...) (f)(__VA_ARGS__)
#define FORK(x, ...) tfork(mkevent(x), __VA_ARGS__)

static tamed functions(event(int) done)
{
	int a, b = 0, c, d, e, f, g, list[2] = { 1, 2 };
	struct odd_pair p;
	const char *s;
	struct methods m = { add }, *q = &m;
	int (*pointer)(int, int) = add, (*table[2])(int, int) = { add, add };

	twait {
		tfork(mkevent(a), ADD(2));
		tfork(mkevent(), put(&b, 4));
		tfork(mkevent(c), q->add(2, 3));
		tfork(mkevent(d), (*pointer)(3, 3));
		FORK(e, table[1](3, 4));
		FORK(p, pair(8, 9));
		FORK(s, text());
		tfork(mkevent(f), sum_of((struct odd_pair){ 1, 2 }, list, 0.5));
		FORK(g, ADD_TO(add, 1, 1));
	}
	trigger(done, a + b * 10 + c * 100 + d * 1000 + e * 10000 + p.a * 100000 + p.b * 1000000 +
			      (int)strlen(s) * 10000000 + f * 100000000 + g - 2);
}
ODD(functions, 649876543 + 0)

static tamed adds(int x, short y, event(int) done)
{
	twait {
		later(x + y, mkevent(x));
	}
	trigger(done, x);
}

#define COLOR(x) (weft_color)(x)
#define ARGUMENTS 5, 6

static tamed colors(event(int) done)
{
	int a, b, c;
	tamed (*f)(int, short, event(int)) = adds;

	twait {
		ton(weft_color_new(), adds, 1, 2, mkevent(a));
		ton(COLOR(weft_color_current()), f, 3, 4, mkevent(b));
		ton(weft_color_new(), (*f), ARGUMENTS, mkevent(c));
	}
	trigger(done, a + b * 10 + c * 100);
}
ODD(colors, 3 + 70 + 1100)

static tamed refuses(int err, event(int) done)
{
	trefused (error) {
		int err = error;

		trigger(done, err);
	}
	twait {
		later(err, mkevent(err));
	}
	trigger(done, err);
}

static tamed refusals(event(int) done)
{
	trefused (got) {
		trigger(done, got);
		return;
	}
	int got;

	twait {
		refuses(3, mkevent(got));
	}
	trigger(done, got);
}
ODD(refusals, 3)
