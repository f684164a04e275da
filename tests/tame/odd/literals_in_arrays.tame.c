/* Addresses inside of compound literals. */
#include "odd.h"
#include <weft/tame.h>

static tamed literals_in_arrays(event(int) done)
{
	int *p = (int[2][2]){ { 1, 2 }, { 3, 4 } }[1];
	int n; twait { later(1, mkevent(n)); }
	trigger(done, p[1]);
}
ODD(literals_in_arrays, 4)
static tamed literals_in_arraysb(event(int) done)
{
	struct odd_pair *p = &(__extension__ (struct odd_pair){ 3, 4 });
	int n; twait { later(1, mkevent(n)); }
	trigger(done, p->b);
}
ODD(literals_in_arraysb, 4)
static tamed literals_in_arraysc(event(int) done)
{
	struct odd_pair *p = &_Generic(0, default: (struct odd_pair){ 3, 4 });
	int n; twait { later(1, mkevent(n)); }
	trigger(done, p->b);
}
ODD(literals_in_arraysc, 4)
static tamed literals_in_arraysd(event(int) done)
{
	struct odd_pair *p = &__builtin_choose_expr(1, (struct odd_pair){ 3, 4 }, 0);
	int n; twait { later(1, mkevent(n)); }
	trigger(done, p->b);
}
ODD(literals_in_arraysd, 4)
static tamed literals_in_arrayse(event(int) done)
{
	void *v = &(struct { int a, b; }){ 3, 4 };
	int n; twait { later(1, mkevent(n)); }
	trigger(done, ((int *)v)[1]);
}
ODD(literals_in_arrayse, 4)
