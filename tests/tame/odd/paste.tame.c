/* What macros paste and stringize are names, not variables of a closure. */
#include "odd.h"

#include <stddef.h>

#include <weft/tame.h>

#define STR_(...) #__VA_ARGS__
#define STR(x) STR_(x)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define SHOW(x) strlen(#x "=") + (size_t)(x)
#define VALUE(x) x##_value
#define INDEXED(name, n) name##n
#define FIELD(p, m) ((p).m)
#define FIELD_OF(p, m) (p)->m##_field
#define OFFSET(type, member) ((int)((char *)&((type *)64)->member - (char *)64))
#define FORWARD(...) __VA_ARGS__

struct point {
	int x, y;
	int x_field;
};

static tamed stringized(event(int) done)
{
	int x = 3, longer = 4;

	twait {
		soon(mkevent());
	}
	trigger(done, (int)(SHOW(x) + SHOW(longer)) + (int)strlen(STR(x + longer)) * 100 +
			      (strcmp(STR_(x), "x") == 0) * 10000);
}
ODD(stringized, 2 + 3 + 7 + 4 + 1000 + 10000)

static tamed pasted(event(int) done)
{
	int x = 1, x_value = 2, x1 = 3, x2 = 4, n1 = 5, CAT(made, 7) = 6, n = 100;

	twait {
		soon(mkevent());
		later(x2 + 1, mkevent(CAT(x, 2)));
	}
	trigger(done, x + VALUE(x) * 10 + INDEXED(x, 1) * 100 + CAT(x, 2) * 1000 +
			      CAT(n, 1) * 10000 + made7 * 100000 + n * 1000000);
}
ODD(pasted, 1 + 20 + 300 + 5000 + 50000 + 600000 + 100000000)

static tamed members_and_variables(event(int) done)
{
	struct point p = { 1, 2, 3 }, *q = &p;
	int x = 4, y = 5, m = 6;

	twait {
		soon(mkevent());
		later(7, mkevent(FIELD(p, y)));
	}
	trigger(done, FIELD(p, x) + FIELD(*q, y) * 10 + FIELD_OF(q, x) * 100 + x * 1000 + y * 10000 +
			      m * 100000 + OFFSET(struct point, y) * 1000000 +
			      (int)offsetof(struct point, x_field) * 10000000);
}
ODD(members_and_variables, 1 + 70 + 300 + 4000 + 50000 + 600000 + 4000000 + 80000000)

#define SUM_OF(x, p) ((x) + (p)->x)
#define DEFAULTS(x) { .x = (x) }

static tamed both_at_once(event(int) done)
{
	struct point p = { .x = 3 };
	int x = 4;

	twait {
		soon(mkevent());
	}
	{
		struct point q = DEFAULTS(x);

		twait {
			soon(mkevent());
		}
		trigger(done, SUM_OF(x, &p) + q.x * 10);
	}
}
ODD(both_at_once, 47)

#define DECLARE(type, name) type name##_1 = 1, name##_2 = 2
#define BOTH(name) (name##_1 + 10 * name##_2)
#define LABEL(n) label_##n
#define STRUCT(name) struct name##_struct

static tamed declared_by_pasting(event(int) done)
{
	DECLARE(int, n);
	STRUCT(own) {
		int CAT(a, b);
	};
	STRUCT(own) s = { 5 };

	twait {
		later(3, mkevent(n_2));
	}
	if (n_2 == 3)
		goto LABEL(1);
	n_1 = 7;
LABEL(1):
	trigger(done, BOTH(n) + s.ab * 100);
}
ODD(declared_by_pasting, 531)

#define TAMED_NAME(x) CAT(prefix_, x)

static tamed TAMED_NAME(function)(int CAT(para, meter), event(int) done)
{
	int CAT(CAT(l, o), cal) = parameter;

	twait {
		later(local, mkevent(parameter));
	}
	trigger(done, parameter + local);
}

static tamed names_are_pasted(event(int) done)
{
	CAT(prefix, _function)(4, done);
}
ODD(names_are_pasted, 8)

#define CHECK_EQUAL(a, b) (strcmp(#a, "sum") == 0 && strcmp(#b, "got + 1") == 0 && (a) == (b))
#define NAMES(...) #__VA_ARGS__

static tamed text_of_arguments(event(int) done)
{
	int got, sum = 4;

	twait {
		later(3, mkevent(got));
	}
	trigger(done, CHECK_EQUAL(sum, got + 1) +
			      10 * (strcmp(NAMES(got, sum , "a\n"), "got, sum , \"a\\n\"") == 0) +
			      100 * (strcmp(STR(FORWARD(got, sum)), "got, sum") == 0));
}
ODD(text_of_arguments, 111)

#define EVENT_TEXT(e) (strlen(#e) > 3 ? later(3, e) : (void)0)
#define WORD(x) STR_(x)

static tamed words_stringized(event(int) done)
{
	int got;

	twait {
		EVENT_TEXT(mkevent(got));
	}
	trigger(done, got + 10 * (strcmp(STR_(twait), "twait") == 0) +
			      100 * (strcmp(STR_(mkevent(got)), "mkevent(got)") == 0) +
			      1000 * (strcmp(WORD(tamed_), "tamed_") == 0));
}
ODD(words_stringized, 1113)
