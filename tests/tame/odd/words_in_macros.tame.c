/* Words of weft/tame.h in the user's own macros, and macros in those. */
/* flags: -Wno-dangling-else */
#include "odd.h"

#include <weft/tame.h>

#define AWAIT(e) twait { e; }
#define EV(x) mkevent(x)
#define EVENTS(...) mkevent(__VA_ARGS__)
#define NO_EVENT EVENTS()
#define FN tamed
#define WAITS static FN
#define RESULT(type) event(type) done
#define BLOCK twait
#define SEVERAL(type) rendezvous(type)
#define NEXT(r, ...) twait(r __VA_OPT__(, ) __VA_ARGS__)
#define GIVE(v) trigger(done, v)
#define CANCEL(r) rv_cancel(r)
#define STACK threaded
#define FORK(e, ...) tfork(e, __VA_ARGS__)
#define IN(color, ...) ton(color, __VA_ARGS__)

static tamed waits_in_a_macro(event(int) done)
{
	int got, sum = 0;

	AWAIT(later(3, EV(got)))
	sum += got;
	AWAIT(later(got + 1, EV(got)); soon(NO_EVENT));
	if (got == 4)
		AWAIT(soon(EVENTS()))
	else
		AWAIT(later(9, mkevent(sum)))
	GIVE(sum * 10 + got);
}
ODD(waits_in_a_macro, 34)

WAITS all_words(int n, RESULT(int))
{
	SEVERAL(int) r;
	SEVERAL() none;
	int id, got = 0;

	later(n, EVENTS(r, n + 1, got));
	soon(EVENTS(none));
	soon(EVENTS(r, 7));
	NEXT(none);
	NEXT(r, id);
	CANCEL(r);
	BLOCK { soon(NO_EVENT); }
	GIVE(got + id * 10);
}

static STACK int on_a_stack(int n)
{
	int got;

	AWAIT(later(n, EV(got)))
	return got * 2;
}

static tamed by_other_names(event(int) done)
{
	int a, b, c;

	AWAIT(all_words(3, EV(a)))
	AWAIT(FORK(EV(b), on_a_stack(4)); IN(weft_color_new(), all_words, 1, EV(c)))
	trigger(done, a + b * 100 + c * 1000);
}
ODD(by_other_names, 43 + 800 + 21000)

#define REFUSED(e, v) \
	trefused (error) { \
		trigger(e, v); \
	}
#define INSIDE(e, v) \
	do { \
		twait { \
			later(v, e); \
		} \
	} while (0)
#define TWICE(s) s s
#define SLOT(x) x##_slot
#define FILL(x, v) later(v, mkevent(SLOT(x)))
#define GOT(x, value) int x; twait { later(value, mkevent(x)); }
#define LOOP_WAIT(i, n, s) for (int i = 0; i < (n); i++) twait { s; }

static tamed waits_on_one_line(event(int) done)
{
	REFUSED(done, -1)
	int sum = 0, n_slot = 0;

	INSIDE(mkevent(sum), 5);
	twait { FILL(n, sum + 1); }
	TWICE(twait { later(sum + 1, mkevent(sum)); })
	GOT(x, sum) GOT(y, x + 2)
	LOOP_WAIT(i, 3, later(i + sum, mkevent(sum)));
	trigger(done, sum + n_slot * 100 + x * 1000 + y * 10000);
}
ODD(waits_on_one_line, 10 + 600 + 7000 + 90000)

#define WAIT_UNLESS(c, s) if (!(c)) twait { s; }
#define IF_WAIT(c, a, b) if (c) twait { a; } else twait { b; }

static tamed dangling_else(event(int) done)
{
	int got = 1;

	if (got == 2)
		WAIT_UNLESS(got, later(2, mkevent(got)))
		else
			got = 100;
	IF_WAIT(got == 1, later(3, mkevent(got)), later(4, mkevent(got)))
	IF_WAIT(got == 1, later(3, mkevent(got)), later(got + 2, mkevent(got)))
	trigger(done, got);
}
ODD(dangling_else, 5)

#define MAKE_TAMED(name, add) \
	static tamed name(int n, event(int) done) \
	{ \
		int got; \
 \
		twait { \
			later(n, mkevent(got)); \
		} \
		trigger(done, got + add); \
	}
#define CALL(name, n, x) twait { name(n, mkevent(x)); }

MAKE_TAMED(plus_one, 1) MAKE_TAMED(plus_two, 2) MAKE_TAMED(plus_three, 3)
MAKE_TAMED(plus_four,
	   4)
static int beside = __LINE__; MAKE_TAMED(plus_five, 5) static int behind = __LINE__;

static tamed made_by_macros(event(int) done)
{
	int sum;

	CALL(plus_one, 0, sum) CALL(plus_two, sum, sum) CALL(plus_three, sum, sum)
	CALL(plus_four, sum, sum) CALL(plus_five, sum, sum)
	trigger(done, sum + (beside == behind) * 100);
}
ODD(made_by_macros, 115)

#define LIST(X) X(first, 1) X(second, 2) X(third, 3)
#define DEFINE(name, n) MAKE_TAMED(of_##name, n)
#define DECLARE(name, n) int name = n;
#define ASK(name, n) of_##name(n, mkevent(name));
#define ADD(name, n) + name
LIST(DEFINE)

static tamed made_by_a_list(event(int) done)
{
	LIST(DECLARE)

	twait {
		LIST(ASK)
	}
	trigger(done, 0 LIST(ADD));
}
ODD(made_by_a_list, 12)

#define BODY_OF(name, ...) static tamed name(event(int) done) { __VA_ARGS__ }
BODY_OF(body_is_an_argument, int a, b = 2; twait { later(b, mkevent(a)); } trigger(done, a + b);)
ODD(body_is_an_argument, 4)

static tamed call(void (*f)(event(int)), event(int) done)
{
	f(done);
}
#define HANDLER(name) static tamed name(event(int) done); \
	static tamed by_##name(event(int) done) { call(name, done); } \
	static tamed name(event(int) done)

HANDLER(handler)
{
	int got;

	twait { later(6, mkevent(got)); }
	trigger(done, got);
}
ODD(by_handler, 6)
