/* Structs that functions return are used in the expression they stand in. */
#include "odd.h"

#include <weft/tame.h>

struct box {
	int x[3];
	char text[8];
};

static struct box box(int n)
{
	return (struct box){ { n, n + 1, n + 2 }, "five" };
}

static int sum(const int *x, int count)
{
	return count == 0 ? 0 : x[0] + sum(x + 1, count - 1);
}

static tamed arrays_in_a_call(event(int) done)
{
	int n = 1, got;

	twait {
		later(sum(box(n).x, 3) + (int)strlen(box(n).text), mkevent(got));
	}
	trigger(done, got + sum(box(n).x, 2) * 100);
}
ODD(arrays_in_a_call, 310)

static tamed members(event(int) done)
{
	int n = 4, got;
	const struct box b = box(n);

	twait {
		later(box(n).x[1], mkevent(got));
	}
	trigger(done, got * 100 + b.x[2] * 10 + box(n - 4).x[0]);
}
ODD(members, 560)

struct holds_literal {
	const int *p;
};

static struct holds_literal holds(const int *p)
{
	return (struct holds_literal){ p };
}

static tamed pointers_in_one(event(int) done)
{
	int got, list[] = { 1, 2 };

	twait {
		sum_later(holds(list).p, 2, mkevent(got));
	}
	trigger(done, got + holds((int[]){ 10, 20 }).p[1]);
}
ODD(pointers_in_one, 23)
