/* Types without a name among parameters. */
#include "odd.h"

#include <weft/tame.h>

typedef struct {
	int x;
} point;
typedef enum { RED = 1, GREEN } color;
typedef union {
	int i;
	char c;
} either;
typedef int (*binary)(int, int);
typedef struct {
	struct {
		int deep;
	} inner[2];
} outer;

static int add(int x, int y)
{
	return x + y;
}

static tamed by_typedef(point p, color c, const either *e, binary f, outer o, point list[2], event(int) done)
{
	point copy = p;

	twait {
		later(p.x + 1, mkevent(copy.x));
		later(o.inner[1].deep, mkevent(list[1].x));
	}
	trigger(done, copy.x + (int)c * 10 + e->i * 100 + f(1, 2) * 1000 + o.inner[1].deep * 10000 +
			      list[1].x * 100000);
}

static tamed types_without_a_name(event(int) done)
{
	point list[2] = { { 0 } };
	either e = { 4 };
	outer o = { { [1] = { 5 } } };
	int got;

	twait {
		by_typedef((point){ 1 }, GREEN, &e, add, o, list, mkevent(got));
	}
	trigger(done, got);
}
ODD(types_without_a_name, 2 + 20 + 400 + 3000 + 50000 + 500000)
