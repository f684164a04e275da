/* What stands in the words of weft/tame.h is evaluated once. */
#include "odd.h"

#include <weft/tame.h>

static int calls;

static int called(int n)
{
	calls++;
	return n;
}

static int *place(int *p)
{
	calls++;
	return p;
}

static tamed triggers(event(int) done)
{
	int x[4] = { 0 }, i = 0, k = 0;
	event(int) events[3], *p = events;

	calls = 0;
	twait {
		for (int j = 0; j < 3; j++)
			*p++ = mkevent(*place(&x[j]));
		p = events;
		trigger(*p++, called(1));
		trigger(events[++i], k += 2);
		trigger((i++, p[1]), ++k);
	}
	trigger(done, x[0] + x[1] * 10 + x[2] * 100 + i * 1000 + k * 10000 + calls * 100000 +
			      (int)(p - events) * 1000000);
}
ODD(triggers, 1 + 20 + 300 + 2000 + 30000 + 400000 + 1000000)

static tamed rendezvous_of_arrays(event(int) done)
{
	rendezvous(int) r[3];
	int x[3] = { 0 }, ids[3] = { 0 }, i = 0, k = 0;

	later(5, mkevent(r[0], called(1), x[i++]));
	later(6, mkevent(r[1], called(2), x[i++]));
	later(7, mkevent(r[2], i++, x[2]));
	twait(r[0], ids[k]);
	k++;
	twait(r[1], ids[k]);
	k++;
	twait(r[2], ids[k]);
	trigger(done, x[0] + x[1] * 10 + x[2] * 100 + ids[0] * 1000 + ids[1] * 10000 + ids[2] * 100000 +
			      i * 1000000);
}
ODD(rendezvous_of_arrays, 5 + 60 + 700 + 1000 + 20000 + 200000 + 3000000)

static int add(int x, int y)
{
	return x + y;
}

static int (*chosen(int n))(int, int)
{
	calls += n;
	return add;
}

static tamed forks(event(int) done)
{
	int x[2], i = 0, n = 3;
	event(int) e[2], *p = e;

	calls = 0;
	twait {
		e[0] = mkevent(x[0]);
		e[1] = mkevent(x[1]);
		tfork(*p++, add(n++, 1));
		tfork(p[i++], chosen(10)(n++, 5));
		i += 10;
	}
	trigger(done, x[0] + x[1] * 10 + i * 100 + n * 10000 + calls * 100000);
}
ODD(forks, 4 + 90 + 1100 + 50000 + 1000000)

static tamed counts(int n, event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, n);
}

static tamed (*counting(void))(int, event(int))
{
	calls++;
	return counts;
}

static tamed colors(event(int) done)
{
	weft_color list[2] = { weft_color_new(), weft_color_new() };
	int i = 0, n = 0, a, b;

	calls = 0;
	twait {
		ton(list[i++], counts, ++n, mkevent(a));
		ton(list[i++], counting(), ++n, mkevent(b));
	}
	trigger(done, a + b * 10 + i * 100 + (calls >= 1) * 1000);
}
ODD(colors, 1 + 20 + 200 + 1000)
