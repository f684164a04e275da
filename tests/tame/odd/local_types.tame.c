/* Types of a function's own, used on both sides of a wait. */
/* flags: -Wno-psabi */
#include "odd.h"

#include <weft/tame.h>

static tamed redefined_in_scopes(event(int) done)
{
	int sum = 0;

	for (int i = 0; i < 2; i++) {
		struct item {
			int x;
		} one = { i };

		twait {
			later(one.x + 1, mkevent(one.x));
		}
		sum += one.x;
		{
			struct item {
				struct item *next;
				long y[2];
			} two = { .y = { 10, 20 } }, *p = &two;
			union item_or { struct item i; char c; } u = { two };

			twait {
				soon(mkevent());
			}
			sum += (int)p->y[1] + (int)(sizeof(struct item) / 8) * 100 + (int)u.i.y[0];
		}
	}
	trigger(done, sum);
}
ODD(redefined_in_scopes, 3 + 60 + 600)

static tamed enum_sizes(event(int) done)
{
	enum { SIZE = 3, MORE = SIZE + 1, LAST = MORE * 2 };
	int list[SIZE] = { [SIZE - 1] = LAST };
	struct {
		int x[MORE];
	} s = { { MORE } };

	twait {
		sum_later(list, SIZE, mkevent(s.x[SIZE]));
	}
	trigger(done, s.x[0] + s.x[SIZE] * 10 + (int)sizeof list * 100 + (int)sizeof s * 10000);
}
ODD(enum_sizes, 4 + 80 + 1200 + 160000)

static tamed forward_declared(event(int) done)
{
	struct b;
	struct a {
		struct b *b;
	} a;
	struct b {
		struct a *a;
		int x;
	} b = { &a, 6 };

	a.b = &b;
	twait {
		soon(mkevent());
	}
	trigger(done, a.b->a->b->x);
}
ODD(forward_declared, 6)

static tamed typedef_chain(event(int) done)
{
	typedef struct node *link;
	struct node {
		link next;
		int x;
	};
	typedef struct node node, nodes[2];
	nodes list = { { .x = 1 }, { .next = &list[0], .x = 2 } };
	typedef int (*compare)(const node *, const node *);
	compare f = NULL;

	twait {
		soon(mkevent());
	}
	for (link l = &list[1]; l; l = l->next) {
		twait {
			later(l->x * 10, mkevent(l->x));
		}
	}
	trigger(done, list[0].x + list[1].x * 10 + (f == NULL));
}
ODD(typedef_chain, 211)

static tamed attributes(event(int) done)
{
	struct __attribute__((packed)) tight {
		char c;
		int i;
	} s = { 1, 2 };
	struct loose {
		char c;
		int i;
	} __attribute__((aligned(16))) t = { 3, 4 };
	typedef int four __attribute__((vector_size(16)));
	four v = { 1, 2, 3, 4 };

	twait {
		soon(mkevent());
	}
	trigger(done, (int)sizeof s + (int)sizeof t * 10 + s.i * 1000 + t.i * 10000 + v[2] * 100000);
}
ODD(attributes, 5 + 160 + 2000 + 40000 + 300000)

static tamed in_expressions(event(int) done)
{
	int n = (int)sizeof(struct hidden { int x[3]; }), got;
	struct hidden h = { { 1, 2, 3 } };

	twait {
		sum_later(h.x, 3, mkevent(got));
	}
	for (struct odd_pair p = { 0, 5 }; p.a < 2; p.a++)
		twait {
			later(p.b + got, mkevent(got));
		}
	trigger(done, n + got * 100);
}
ODD(in_expressions, 12 + 1600)

static tamed named_by_a_rendezvous(event(int) done)
{
	struct name {
		char c;
		int i;
	} id;
	enum which { A = 4, B } which;
	rendezvous(struct name) r;
	rendezvous(enum which) q;
	int x;

	later(3, mkevent(r, ((struct name){ 'a', 7 }), x));
	soon(mkevent(q, B));
	twait(r, id);
	twait(q, which);
	trigger(done, x + id.i * 10 + (id.c == 'a') * 100 + (int)which * 1000);
}
ODD(named_by_a_rendezvous, 3 + 70 + 100 + 5000)
