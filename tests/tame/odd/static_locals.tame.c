/* Static locals: in blocks, of one name, that depend on each other and on sizes. */
#include "odd.h"

#include <weft/tame.h>

static int calls = 100;

static tamed counts(event(int) done)
{
	static int calls, *const pointer = &calls, list[sizeof calls] = { 1, 2, [3] = 3 };
	static struct {
		int n;
		const char *text;
	} s = { 5, "text" }, *const p = &s;
	static const struct odd_pair table[] = { { 1, 2 }, { 3, 4 } };
	static int (*function)(const char *);

	calls++;
	twait {
		soon(mkevent());
	}
	{
		static int calls = 10;

		++*pointer;
		twait {
			later(calls + 1, mkevent(calls));
		}
		p->n += calls;
	}
	trigger(done, calls + s.n * 10 + list[3] * 1000 + table[1].b * 10000 +
			      (function == NULL && s.text[0] == 't') * 100000);
}

static tamed static_locals(event(int) done)
{
	int a, b;

	twait {
		counts(mkevent(a));
	}
	twait {
		counts(mkevent(b));
	}
	trigger(done, a + (b - a) * 1000000 + calls - 100);
}
ODD(static_locals, 2 + 160 + 3000 + 40000 + 100000 + 122 * 1000000)
