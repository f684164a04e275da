/* Statements of all kinds, with waits in and around them. */
/* flags: -Wno-pedantic -Wno-implicit-fallthrough -Wno-misleading-indentation -Wno-unevaluated-expression */
#include "odd.h"

#include <weft/tame.h>

static tamed switch_ranges(event(int) done)
{
	int sum = 0;

	for (int i = 0; i < 30; i += 5) {
		switch (i) {
		case 0 ... 4:
			twait {
				later(1, mkevent(sum));
			}
			break;
		case 5 ... 9: {
			int k = i;

			twait {
				soon(mkevent());
			}
			sum += k;
		}
		case 10:
			sum += 100;
			break;
		case 15 ... 19:;
			enum { IN_SWITCH = 1000 };
			twait {
				soon(mkevent());
			}
			sum += IN_SWITCH;
		default:
			sum += 10000;
		}
	}
	trigger(done, sum);
}
ODD(switch_ranges, 1 + 5 + 100 + 100 + 1000 + 30000)

static tamed loops(event(int) done)
{
	int n = 0;

	for (int i = 0, k = 3; i < k; i++, k--)
		for (struct odd_pair p = { i, k }, *q = &p; q; q = NULL)
			do
				twait {
					later(n + p.b, mkevent(n));
				}
			while (0);
	for (;;)
		if (n > 100)
			break;
		else
			while (1) {
				twait {
					soon(mkevent());
				}
				if (n++ % 2)
					continue;
				n *= 10;
				break;
			}
	trigger(done, n);
}
ODD(loops, 710)

static tamed expressions(event(int) done)
{
	int x = 1, y = 2, *p = &x, got;

	twait {
		later(({
			      int x = y;

			      x += *p;
			      x * 10;
		      }),
		      mkevent(got));
	}
	y = x + 4, x += y;
	trigger(done, got + (x ?: 5) * 100 + (p == &x && *p == x ? y : 0) * 1000 +
			      __builtin_choose_expr(sizeof x == 4, 1, got) * 10000 +
			      _Generic(x, int: ({ int z = y; z; }), default: 0) * 100000);
}
ODD(expressions, 30 + 600 + 5000 + 10000 + 500000)

static tamed generic(event(int) done)
{
	int i = 1, got;
	const char *s = "text";
	double d = 0.5;

#define KIND(x) \
	_Generic((x), int: 1, char *: 2, const char *: 3, double: 4, float: 5, default: 6)
#define LATER(x, e) _Generic((x), int: later, const char *: length_later)(x, e)
	twait {
		LATER(s, mkevent(got));
	}
	twait {
		LATER(i + got, mkevent(i));
	}
	trigger(done, KIND(i) + KIND(s) * 10 + KIND(d) * 100 + KIND((float)d) * 1000 +
			      KIND(&i) * 10000 + i * 100000);
}
ODD(generic, 1 + 30 + 400 + 5000 + 60000 + 500000)

static tamed empty_ones(event(int) done)
{
	;
	{
	}
	twait {
	}
	twait {
		;
	}
	if (1)
		;
	else {
	}
	for (int i = 0; i < 2; i++)
		;
	trigger(done, 1);
	;
}
ODD(empty_ones, 1)

static tamed labels_everywhere(event(int) done)
{
	int n = 0;

a:
b:
	twait {
		soon(mkevent());
	}
	if (n++ < 2)
		goto a;
	else if (n < 5)
	c:
		goto b;
	{
	d:
		n++;
		twait {
			later(n, mkevent(n));
		}
		if (n < 10)
			goto d;
	}
	switch (n)
	case 10:
		twait {
			soon(mkevent());
		}
	if (n == 100)
		goto c;
	trigger(done, n);
}
ODD(labels_everywhere, 10)

static tamed into_a_loop(event(int) done)
{
	int n = 0, i = 5;

	goto inside;
	for (i = 0; i < 3; i++) {
		n += 100;
	inside:
		twait {
			soon(mkevent());
		}
		n++;
	}
	trigger(done, n + i);
}
ODD(into_a_loop, 1 + 6)

static tamed duff(event(int) done)
{
	int n = 7, sum = 0, times = (n + 3) / 4;

	switch (n % 4) {
	case 0:
		do {
			sum += 1;
	case 3:
			twait {
				soon(mkevent());
			}
			sum += 10;
	case 2:
			sum += 100;
	case 1:
			twait {
				later(sum + 1000, mkevent(sum));
			}
		} while (--times > 0);
	}
	trigger(done, sum);
}
ODD(duff, 1 + 20 + 200 + 2000)

static tamed assembler(event(int) done)
{
	int x = 3, y = 4, z;
	register int r = 5;

	twait {
		soon(mkevent());
	}
	__asm__ volatile("" : "+r"(x) : : "memory");
	__asm__("" : [out] "=r"(z) : [in] "0"(y));
	asm("" : "+m"(y), "+r"(r));
	asm goto("" : : "r"(z) : : out);
	x += 10;
out:
	trigger(done, x + y * 100 + z * 1000 + r * 10000);
}
ODD(assembler, 13 + 400 + 4000 + 50000)

static tamed unevaluated(event(int) done)
{
	int n = 1, list[2];

	twait {
		later((int)sizeof(n++) + (int)sizeof list + (int)_Alignof(int), mkevent(list[sizeof(n) - 4]));
	}
	trigger(done, n + list[0] * 10 + (int)sizeof(struct { int a; __typeof__(int) b; }) * 1000 +
			      (int)__builtin_constant_p(n) * 0);
}
ODD(unevaluated, 1 + 160 + 8000)

static tamed comma(event(int) done)
{
	int a = (1, 2), b, got;

	for (a = 1, b = 2; a < 3; a++, b++)
		twait {
			later((a, b), mkevent(got)), soon(mkevent());
		}
	trigger(done, got * 10 + (a, b));
}
ODD(comma, 34)
