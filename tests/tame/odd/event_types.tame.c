/* Types of events wherever a type may stand. */
#include "odd.h"

#include <weft/tame.h>

typedef event(int) int_event;
typedef event() plain_event;
#define EVENT_OF(...) event(__VA_ARGS__)
#define TYPE EVENT_OF(int)

struct waiters {
	int_event list[2];
	EVENT_OF(struct odd_pair, int) both;
	event(event(int)) of_an_event;
};

static int_event kept;

static event(int) keep(event(int) e)
{
	kept = e;
	return e;
}

static int_event *find(struct waiters *w, int i)
{
	return &w->list[i];
}

static tamed by_typedef(int_event a, plain_event b, TYPE c, const event(int) d, event(int) *e, int_event f[2],
			event(int) done)
{
	int_event own = a, *p = e, list[] = { c, d };

	twait {
		soon(mkevent());
	}
	trigger(own, 1);
	trigger(b);
	trigger(list[0], 2);
	trigger(d, 3);
	trigger(*p, 4);
	trigger(f[1], 5);
	trigger((f[0]), 6);
	trigger(done, 7);
}

static tamed types(event(int) done)
{
	int x[7], sum = 0;
	int_event e, f[2];

	twait {
		e = mkevent(x[3]);
		f[0] = mkevent(x[5]);
		f[1] = mkevent(x[4]);
		by_typedef(mkevent(x[0]), mkevent(), mkevent(x[1]), mkevent(x[2]), &e, f, mkevent(x[6]));
	}
	for (int i = 0; i < 7; i++)
		sum = sum * 10 + x[i];
	trigger(done, sum);
}
ODD(types, 1234567)

static void give_event(event(event(int)) e, event(int) value)
{
	trigger(e, value);
}

static tamed events_as_values(event(int) done)
{
	struct waiters w = { .list = { NULL } };
	struct odd_pair p;
	int x, y, z = 0;
	event(int) got;

	twait {
		w.list[1] = mkevent(x);
		w.both = mkevent(p, y);
		w.of_an_event = mkevent(got);
		give_event(w.of_an_event, keep(*find(&w, 1)));
		trigger(w.both, (struct odd_pair){ 2, 3 }, 4);
		trigger(kept == w.list[1] ? kept : NULL, 5);
	}
	z += _Generic(got, event(int): 1, event(): 2, default: 3);
	z += _Generic(w.both, event(int): 10, event(struct odd_pair, int): 20, default: 30);
	trigger(done, x + y * 10 + p.b * 100 + z * 1000 + (got == kept) * 100000);
}
ODD(events_as_values, 5 + 40 + 300 + 21000 + 100000)

static tamed (*chosen(int n))(int, event(int));
static tamed one(int n, event(int) e)
{
	trigger(e, n + 1);
}
static tamed (*chosen(int n))(int, event(int))
{
	return n ? one : NULL;
}

static tamed returned_functions(event(int) done)
{
	int got;

	twait {
		chosen(1)(4, mkevent(got));
	}
	trigger(done, got);
}
ODD(returned_functions, 5)

static tamed small_values(event(char, bool, float, short, unsigned char) e)
{
	trigger(e, 'a', 5, 1, 70000 - 65536, 255);
}

static tamed values_are_converted(event(int) done)
{
	char c;
	bool b;
	float f;
	short s;
	unsigned char u;

	twait {
		small_values(mkevent(c, b, f, s, u));
	}
	trigger(done, (c == 'a') + b * 10 + (int)f * 100 + (s == 4464) * 1000 + (u == 255) * 10000);
}
ODD(values_are_converted, 11111)
