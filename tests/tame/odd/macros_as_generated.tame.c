/* Macros of the user's whose names generated code might have too. */
#include "odd.h"

#include <weft/tame.h>

#define c 1
#define h 2
#define e 3
#define tame_c 4
#define tame_p 5
#define s1 6
#define v1 7
#define id 8
#define e1 9
#define t 10
#define self 11
#define arg 12
#define deliver 13
#define counter 14
#define slots 15
#define from 16
#define tame_e1 17
#define value 18
#define data 19
#define result 20
#define tame_L1 21
#define site 22
#define where_ 23
#define tame_j 24

static tamed objects(int x, event(int) done)
{
	rendezvous(int) r;
	int i, y = 0;

	later(x, mkevent(r, c + h, y));
	twait(r, i);
	for (int k = 0; k < 2; k++)
		twait {
			later(e + tame_c + tame_p + s1, mkevent(x));
			soon(mkevent());
		}
	trigger(done, i + y * 10 + x * 100 + (v1 + id + e1 + t + self + arg + deliver + counter +
					      slots + from + tame_e1 + value + data + result +
					      tame_L1 + site + where_ + tame_j) * 10000);
}

static threaded int on_a_stack(int x)
{
	twait {
		later(x + c, mkevent(x));
	}
	return x;
}

static tamed objects_are_replaced(event(int) done)
{
	int x, y;

	twait {
		objects(5, mkevent(x));
		tfork(mkevent(y), on_a_stack(7));
	}
	trigger(done, x + y * 10000000);
}
ODD(objects_are_replaced, 3 + 50 + 1800 + 2790000 + 80000000)

#define trigger_ no_such_thing
#define color_ no_such_thing
#define state_ no_such_thing

static tamed functions_and_members(event(int) done)
{
	rendezvous(struct odd_pair) r;
	struct odd_pair p;
	int x;

	twait {
		later(4, mkevent(x));
	}
	later(3, mkevent(r, ((struct odd_pair){ x, 0 }), x));
	twait(r, p);
	trigger(done, x * 10 + p.a);
}
ODD(functions_and_members, 34)
