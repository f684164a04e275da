/* What gcc and clang add to C: old designators, empty types, casts to unions, $ in names and more. */
/* flags: -Wno-gnu-designator -Wno-gnu-empty-struct -Wno-pedantic -Wno-missing-braces -Wno-missing-field-initializers */
#include "odd.h"

#include <weft/tame.h>

union number {
	int i;
	char *p;
};
typedef union {
	int *to_int;
	const char *text;
} either __attribute__((transparent_union));

static tamed designators(event(int) done)
{
	struct odd_pair p = { b: 1, a: 2 }, list[3] = { [1] { 3, 4 }, [2].b = 5 };
	int n[5] = { [1] 1, [3] 3 };

	twait {
		soon(mkevent());
	}
	trigger(done, p.a + p.b * 10 + list[1].b * 100 + list[2].b * 1000 + n[3] * 10000 + n[1] * 100000);
}
ODD(designators, 2 + 10 + 400 + 5000 + 30000 + 100000)

static tamed empty_types(event(int) done)
{
	struct {
	} empty;
	struct {
		int n;
		int none[0];
	} s = { 3 };
	int zero[0], *p = zero;

	twait {
		soon(mkevent());
	}
	trigger(done, (int)sizeof empty + (int)sizeof zero + s.n + (p == zero) * 10 + (s.none == &s.n + 1) * 100);
}
ODD(empty_types, 113)

static tamed takes_either(either e, event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, *e.to_int);
}

static tamed unions(event(int) done)
{
	int x = 5, got;
	union number u = (union number)x;

	twait {
		takes_either(&x, mkevent(got));
	}
	u = (union number)(got + 1);
	trigger(done, got + u.i * 10);
}
ODD(unions, 65)

static tamed dollars(event(int) done)
{
	int a$b = 1, $ = 2, $1 = 3;

	twait {
		later(a$b + $, mkevent($1));
	}
	trigger(done, a$b + $ * 10 + $1 * 100);
}
ODD(dollars, 321)

static tamed imaginary(event(int) done)
{
	_Complex double z = 1.0 + 2.0i;
	_Complex int w = 3 + 4i;

	twait {
		soon(mkevent());
	}
	__imag__ z += 1;
	__real__ w = 5;
	trigger(done, (int)__real__ z + (int)__imag__ z * 10 + __real__ w * 100 + __imag__ w * 1000);
}
ODD(imaginary, 1 + 30 + 500 + 4000)

static tamed alternate_keywords(event(int) done)
{
	__const int c = 1;
	__volatile__ int v = 2;
	__signed__ char s = -3;
	__const__ char *__restrict__ text = "four";
	__extension__ __typeof(c) t = 5;
	static __thread int per_thread = 6;

	twait {
		soon(mkevent());
	}
	trigger(done, c + v * 10 - s * 100 + (int)strlen(text) * 1000 + t * 10000 + per_thread * 100000 +
			      (int)__alignof__(t) * 1000000);
}
ODD(alternate_keywords, 1 + 20 + 300 + 4000 + 50000 + 600000 + 4000000)
