/* Macros of the user's with if, loops, return, goto and trigger: their bodies name variables that
 * live across waits. */
#include "odd.h"

#include <weft/tame.h>

#define RETURN_IF(c, v) \
	if (c) { \
		trigger(done, v); \
		return; \
	}
#define FINISH(e, v) \
	do { \
		trigger(e, (v)); \
		return; \
	} while (0)
#define FAIL_IF(c) \
	do { \
		if (c) \
			goto failed; \
	} while (0)
#define UNLESS(c) if (!(c))
#define OTHERWISE else
#define FOREVER for (;;)
#define BEGIN {
#define END }
#define REPEAT(n) for (int repeated = 0; repeated < (n); repeated++)
#define LEAVE break
#define SKIP continue
#define UNTIL(c) while (!(c))
#define CASE(n) case n:
#define SWITCH(x) switch (x)
#define RETURN return
#define TELL trigger
#define OUT goto out

static tamed returns(int n, event(int) done)
{
	int got;

	twait {
		later(n, mkevent(got));
	}
	RETURN_IF(got < 2, 10 * n)
	RETURN_IF(got < 3, 100 * n);
	twait {
		soon(mkevent());
	}
	if (n == 3)
		FINISH(done, 1000);
	else
		FINISH(done, got);
}

static tamed return_in_a_macro(event(int) done)
{
	int a, b, c, d;

	twait {
		returns(1, mkevent(a));
		returns(2, mkevent(b));
		returns(3, mkevent(c));
		returns(4, mkevent(d));
	}
	trigger(done, a + b + c + d);
}
ODD(return_in_a_macro, 10 + 200 + 1000 + 4)

static tamed goes(int n, event(int) done)
{
	int k = n;

	twait {
		soon(mkevent());
	}
	FAIL_IF(k == 1);
	twait {
		soon(mkevent());
	}
	FAIL_IF(k == 2);
	trigger(done, k);
	return;
failed:
	trigger(done, -k);
}

static tamed goto_in_a_macro(event(int) done)
{
	int a, b, c;

	twait {
		goes(1, mkevent(a));
		goes(2, mkevent(b));
		goes(3, mkevent(c));
	}
	trigger(done, a + 10 * b + 100 * c);
}
ODD(goto_in_a_macro, 279)

static tamed loops_in_macros(event(int) done)
{
	int n = 0, sum = 0;

	FOREVER BEGIN
		REPEAT(n)
			twait {
				later(n, mkevent(sum));
			}
		UNLESS(n < 3)
			LEAVE;
		OTHERWISE
			n++;
		if (n == 2)
			SKIP;
		sum += 100;
	END
	UNTIL(n == 0)
		n--;
	trigger(done, sum * 10 + n);
}
ODD(loops_in_macros, 30)

static tamed switch_in_macros(event(int) done)
{
	int sum = 0;

	REPEAT(4) BEGIN
		int k = repeated;

		twait { soon(mkevent()); }
		SWITCH(k) BEGIN
			CASE(0) sum += 1; LEAVE;
			CASE(1)
				twait { later(k * 10, mkevent(k)); }
				sum += k;
				LEAVE;
			default: SKIP;
		END
		sum += 100;
	END
	if (sum == 0)
		OUT;
	TELL(done, sum);
	RETURN;
out:
	TELL(done, -1);
}
ODD(switch_in_macros, 211)

#define IF_ELSE(c, a, b) \
	if (c) \
		a; \
	else \
		b
#define WITH(declaration, ...) \
	do { \
		declaration; \
		__VA_ARGS__ \
	} while (0)
#define FOR_EACH(x, list, n) for (int x, i_ = 0; i_ < (n) && ((x = (list)[i_]), 1); i_++)
#define WHILE_ONCE while (1)

static tamed statements_as_arguments(event(int) done)
{
	int list[] = { 3, 4, 5 }, sum = 0, got;

	FOR_EACH(x, list, 3) {
		IF_ELSE(x == 4, sum += 100, twait { later(x, mkevent(got)); } sum += got);
	}
	WITH(int k = sum, twait { later(k, mkevent(sum)); } sum += k, sum++;);
	WHILE_ONCE {
		IF_ELSE(sum > 0, break, sum++);
	}
	trigger(done, sum);
}
ODD(statements_as_arguments, 2 * 111 + 1)

#define RUN(...) __VA_ARGS__
#define PASS(s) RUN(s)

static tamed leaves(int n, event(int) done)
{
	for (int i = 0;; i++) {
		twait {
			soon(mkevent());
		}
		PASS(if (i < n) continue);
		RUN(if (n == 3) { trigger(done, n * 10); return; })
		PASS(break);
	}
	RUN(PASS(goto out);)
	n = 100;
out:
	PASS(trigger(done, n + 1); return);
}

static tamed jumps_as_arguments(event(int) done)
{
	int a, b;

	RUN(twait {
		leaves(3, mkevent(a));
		PASS(leaves(4, mkevent(b)));
	})
	trigger(done, a + b);
}
ODD(jumps_as_arguments, 35)

#define IF(c) if (c) {
#define ELSE } else {
#define ENDIF }

static tamed braces_in_macros(event(int) done)
{
	int n = 1, got = 0;

	IF(n)
		int inner = 5;

		twait {
			later(inner, mkevent(got));
		}
		got += inner;
	ELSE
		twait {
			soon(mkevent());
		}
	ENDIF
	trigger(done, got);
}
ODD(braces_in_macros, 10)

#define ONCE(done_) for (bool done_ = false; !done_; done_ = true)
#define SCOPED(type, name, value) for (type name = (value), *once_ = &name; once_; once_ = NULL)

static tamed declarations_in_for(event(int) done)
{
	int sum = 0, got;

	ONCE(turn)
		SCOPED(int, x, 4) {
			twait {
				later(x, mkevent(got));
			}
			sum += x * got;
			x++;
		}
	trigger(done, sum);
}
ODD(declarations_in_for, 16)

#define TRY(expression) \
	({ \
		int result_ = (expression); \
		if (result_ < 0) \
			goto out; \
		result_; \
	})

static int half(int n)
{
	return n % 2 ? -1 : n / 2;
}

static tamed goto_in_an_expression(event(int) done)
{
	int n = 12, k = 0;

	for (;;) {
		twait {
			soon(mkevent());
		}
		n = TRY(half(n));
		k += 10;
	}
out:
	trigger(done, n + k);
}
ODD(goto_in_an_expression, 23)
