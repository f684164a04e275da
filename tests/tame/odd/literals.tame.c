/* Compound literals live as long as the block around them, so through its waits. */
#include "odd.h"

#include <weft/tame.h>

static tamed array_for_an_event(event(int) done)
{
	int got;

	twait {
		sum_later((int[]){ 1, 2, 3 }, 3, mkevent(got));
	}
	trigger(done, got);
}
ODD(array_for_an_event, 6)

static tamed struct_for_an_event(event(int) done)
{
	int got, n = 3;

	twait {
		pair_later(&(struct odd_pair){ .b = n + 1, .a = n }, mkevent(got));
		n = 9;
	}
	trigger(done, got + n);
}
ODD(struct_for_an_event, 43)

static tamed scalar_for_an_event(event(int) done)
{
	int got, sum = 0;

	for (int i = 0; i < 4; i++) {
		twait {
			sum_later(&(int){ i }, 1, mkevent(got));
		}
		sum = 10 * sum + got;
	}
	trigger(done, sum);
}
ODD(scalar_for_an_event, 123)

static tamed text_for_an_event(event(int) done)
{
	int got;

	twait {
		length_later((char[]){ "four" }, mkevent(got));
	}
	trigger(done, got);
}
ODD(text_for_an_event, 4)

static tamed pointer_kept(event(int) done)
{
	int *p = (int[]){ 1, 2, 3 };

	twait {
		soon(mkevent());
	}
	p[1] += 5;
	twait {
		soon(mkevent());
	}
	trigger(done, p[0] * 100 + p[1] * 10 + p[2]);
}
ODD(pointer_kept, 173)

struct list {
	int value;
	const struct list *next;
};

static int list_sum(const struct list *l)
{
	return l == NULL ? 0 : l->value + 10 * list_sum(l->next);
}

static tamed literals_in_a_literal(event(int) done)
{
	const struct list *l = &(struct list){ 1, &(struct list){ 2, &(struct list){ 3, NULL } } };
	struct list own = { 4, &(const struct list){ 5, NULL } };

	twait {
		soon(mkevent());
	}
	trigger(done, list_sum(l) + 1000 * list_sum(&own));
}
ODD(literals_in_a_literal, 321 + 54000)

static tamed one_of_two(int n, event(int) done)
{
	const int *p = n > 1 ? (int[]){ 1, n } : (int[]){ 3, n, 4 };
	int got;

	twait {
		sum_later(p, 2, mkevent(got));
	}
	trigger(done, got + p[0]);
}

static tamed of_both_branches(event(int) done)
{
	int a, b;

	twait {
		one_of_two(1, mkevent(a));
		one_of_two(2, mkevent(b));
	}
	trigger(done, a * 10 + b);
}
ODD(of_both_branches, 74)

static tamed again_by_goto(event(int) done)
{
	int n = 0, got, sum = 0;
	int *p;

again:
	p = (int[]){ n, 1 };
	twait {
		sum_later(p, 2, mkevent(got));
	}
	sum = sum * 10 + got;
	p[0] = 100;
	if (++n < 3)
		goto again;
	trigger(done, sum + p[0]);
}
ODD(again_by_goto, 223)

static tamed initialised_anew(event(int) done)
{
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		struct odd_pair *p = &(struct odd_pair){ .a = i };

		twait {
			soon(mkevent());
		}
		sum += p->a + p->b;
		p->b = 50;
	}
	trigger(done, sum);
}
ODD(initialised_anew, 3)

struct asks {
	event(int) e;
	int value;
};

static void ask(const struct asks *a)
{
	later(a->value, a->e);
}

static tamed event_in_a_literal(event(int) done)
{
	int got;

	twait {
		ask(&(struct asks){ mkevent(got), 8 });
	}
	trigger(done, got);
}
ODD(event_in_a_literal, 8)

#define ARRAY(...) (int[]){ __VA_ARGS__ }, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)
#define PAIR(x, y) (&(struct odd_pair){ (x), (y) })

static tamed made_by_a_macro(event(int) done)
{
	int n = 4, got, other;

	twait {
		sum_later(ARRAY(n, 2 * n, 3), mkevent(got));
		pair_later(PAIR(n, n + 1), mkevent(other));
	}
	trigger(done, got * 100 + other);
}
ODD(made_by_a_macro, 1545)

static tamed qualified(event(int) done)
{
	const int n = 2;
	const int *p = (const int[2]){ n, n };
	volatile int *q = &(volatile int){ n };

	twait {
		soon(mkevent());
	}
	trigger(done, p[0] + p[1] + *q);
}
ODD(qualified, 6)

static tamed of_a_local_type(event(int) done)
{
	struct own {
		int x[2];
	} *p = &(struct own){ .x[1] = 7 };
	int got;

	twait {
		sum_later((&(struct own){ { 1, 2 } })->x, 2, mkevent(got));
	}
	trigger(done, got * 10 + p->x[0] + p->x[1]);
}
ODD(of_a_local_type, 37)

static tamed two_in_a_block(event(int) done)
{
	int a, b, c;

	twait {
		sum_later((int[]){ 1, 2 }, 2, mkevent(a));
		sum_later((int[]){ 3, 4 }, 2, mkevent(b));
		twait {
			sum_later((int[]){ 5, 6 }, 2, mkevent(c));
		}
	}
	trigger(done, a * 1000 + b * 100 + c);
}
ODD(two_in_a_block, 3711)

static tamed of_a_rendezvous(event(int) done)
{
	rendezvous(int) r;
	int a = 0, b = 0, id, ids = 0;

	sum_later((int[]){ 1, 2 }, 2, mkevent(r, 1, a));
	sum_later((int[]){ 3, 4 }, 2, mkevent(r, 2, b));
	twait(r, id);
	ids += id;
	twait(r, id);
	trigger(done, a * 100 + b * 10 + ids + id - id);
}
ODD(of_a_rendezvous, 371)

static tamed by_value(event(int) done)
{
	int sum = 0;
	struct odd_pair p;

	p = (struct odd_pair){ 1, 2 };
	for (int k = 0; k < (int[]){ 1, 3 }[1]; k++)
		twait {
			later((struct odd_pair){ k, 2 }.a, mkevent(sum));
		}
	trigger(done, sum + p.a * 10 + (struct odd_pair){ 7, 8 }.b * 100);
}
ODD(by_value, 812)

static threaded int on_a_stack(int n)
{
	int got, *p = (int[]){ n, n };

	twait {
		sum_later((int[]){ n, 2 }, 2, mkevent(got));
	}
	return got + p[0] + p[1];
}

static tamed on_a_thread(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), on_a_stack(5));
	}
	trigger(done, got);
}
ODD(on_a_thread, 17)
