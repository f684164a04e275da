/* Tamed functions with all kinds of linkage, qualifiers and declarations. */
/* flags: -Wno-array-parameter -Wno-old-style-declaration */
#include "odd.h"

#include <weft/tame.h>

static inline tamed static_inline(int n, event(int) done)
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n);
}

inline static tamed inline_static(int n, event(int) done)
{
	twait {
		later(n + 1, mkevent(n));
	}
	trigger(done, n);
}

tamed static turned_around(int n, event(int) done)
{
	twait {
		later(n + 2, mkevent(n));
	}
	trigger(done, n);
}

extern tamed odd_functions_global(int n, event(int) done);
tamed odd_functions_global(int n, event(int) done)
{
	twait {
		later(n + 3, mkevent(n));
	}
	trigger(done, n);
}

static tamed linkages(event(int) done)
{
	int a, b, c, d;
	extern tamed odd_functions_global(int, event(int));

	twait {
		static_inline(1, mkevent(a));
		inline_static(1, mkevent(b));
		turned_around(1, mkevent(c));
		odd_functions_global(1, mkevent(d));
	}
	trigger(done, a + b * 10 + c * 100 + d * 1000);
}
ODD(linkages, 4321)

static tamed even(int n, event(int) done);
static tamed odd(int n, event(int) done)
{
	if (n == 0) {
		trigger(done, 0);
		return;
	}
	twait {
		even(n - 1, mkevent(n));
	}
	trigger(done, n);
}

static tamed even(const int n, event(int) done)
{
	int got = 1;

	if (n > 0)
		twait {
			odd(n - 1, mkevent(got));
		}
	trigger(done, got);
}

static tamed mutually_recursive(event(int) done)
{
	int a, b;

	twait {
		even(7, mkevent(a));
		even(8, mkevent(b));
	}
	trigger(done, a + b * 10);
}
ODD(mutually_recursive, 10)

static tamed tree(int depth, int *leaves, event() done)
{
	int left = depth - 1, right = left;

	if (depth == 0)
		++*leaves;
	else
		twait {
			tree(left, leaves, mkevent());
			tree(right, leaves, mkevent());
		}
	trigger(done);
}

static tamed recursive(event(int) done)
{
	int leaves = 0;

	twait {
		tree(5, &leaves, mkevent());
	}
	trigger(done, leaves);
}
ODD(recursive, 32)

/* Declared with other names, qualifiers, arrays, functions: compatible all the same. */
static tamed declared(int, const char *, int *, int (*)(int), event(int));
static tamed declared(int first, const char *second, int third[3], int fourth(int), event(int) e);
tamed static declared(const int a, const char *const restrict b, int c[], int (*const d)(int), event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, a + (int)strlen(b) * 10 + c[1] * 100 + d(1) * 1000);
}
static tamed declared(int, const char *, int[], int(int), event(int));

static int twice(int x)
{
	return 2 * x;
}

static tamed forward_declarations(event(int) done)
{
	int list[] = { 3, 4 }, got;

	twait {
		declared(1, "12", list, twice, mkevent(got));
	}
	trigger(done, got);
}
ODD(forward_declarations, 1 + 20 + 400 + 2000)

typedef tamed function_type(int n, event(int) done);
static function_type by_typedef;
struct methods {
	tamed (*method)(int n, event(int) done);
	function_type *other;
	void (*plain)(int n, event(int) done);
};

static tamed by_typedef(int n, event(int) done)
{
	twait {
		later(n * 3, mkevent(n));
	}
	trigger(done, n);
}

static const struct methods methods = { by_typedef, static_inline, odd_functions_global };

static tamed by_pointer(event(int) done)
{
	tamed (*local)(int, event(int)) = by_typedef;
	function_type *const list[] = { by_typedef, static_inline };
	const struct methods *m = &methods;
	int a, b, c, d, e;

	twait {
		local(1, mkevent(a));
		list[1](2, mkevent(b));
		m->method(3, mkevent(c));
		(m->other)(4, mkevent(d));
		(*methods.plain)(5, mkevent(e));
	}
	trigger(done, a + b * 10 + c * 100 + d * 1000 + e * 10000);
}
ODD(by_pointer, 3 + 20 + 900 + 4000 + 80000)

static tamed no_parameters(void);
static int ran;
static tamed no_parameters(void)
{
	twait {
		soon(mkevent());
	}
	ran++;
}

static tamed unnamed_in_prototype(int, event() e);
static tamed unnamed_in_prototype(int unused, event() e)
{
	(void)unused;
	no_parameters();
	twait {
		soon(mkevent());
		soon(mkevent());
	}
	ran += 10;
	trigger(e);
}

static tamed without_parameters(event(int) done)
{
	twait {
		unnamed_in_prototype(1, mkevent());
	}
	trigger(done, ran);
}
ODD(without_parameters, 11)

struct big {
	int x[100];
};

static threaded struct big returns_big(int n)
{
	struct big b = { { 0 } };

	twait {
		later(n, mkevent(b.x[99]));
	}
	return b;
}

static threaded inline const char *returns_text(void)
{
	twait {
		soon(mkevent());
	}
	return "text";
}

static threaded int (*returns_function(int n))(int)
{
	if (n < 0)
		return NULL;
	twait {
		soon(mkevent());
	}
	return twice;
}

threaded static unsigned long long returns_long(void)
{
	int got;

	twait {
		later(5, mkevent(got));
	}
	return (unsigned long long)got;
}

static threaded int all_threaded(void)
{
	return returns_big(3).x[99] + (int)strlen(returns_text()) * 10 + returns_function(1)(4) * 100 +
	       (int)returns_long() * 1000;
}

static tamed threaded_results(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), all_threaded());
	}
	trigger(done, got);
}
ODD(threaded_results, 3 + 40 + 800 + 5000)

static tamed big_by_value(struct big b, const struct big c, event(struct big) done)
{
	twait {
		later(c.x[1], mkevent(b.x[0]));
	}
	trigger(done, b);
}

static tamed values_of_structs(event(int) done)
{
	struct big b = { { 1, 2, 3 } }, got;

	twait {
		big_by_value((struct big){ { [5] = 6 } }, b, mkevent(got));
		b.x[1] = 100;
	}
	trigger(done, got.x[0] + got.x[5] * 10);
}
ODD(values_of_structs, 62)

static tamed (parenthesised)(int n, event(int) done)
{
	twait {
		later(n, mkevent(n));
	}
	trigger(done, n);
}

static tamed names_in_brackets(event(int) done)
{
	int (got), (*(p)) = &(got), (list)[2] = { 1, 2 };

	twait {
		(parenthesised)((list)[1], mkevent((*p)));
		(later)(3, mkevent((list[0])));
	}
	trigger(done, (got) + list[0] * 10);
}
ODD(names_in_brackets, 32)
