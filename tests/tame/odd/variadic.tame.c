/* __VA_ARGS__, __VA_OPT__ and commas. */
/* flags: -Wno-variadic-macros -Wno-c2x-extensions */
#include "odd.h"

#include <stdarg.h>
#include <stdio.h>

#include <weft/tame.h>

#define COUNT_(a, b, c, d, n, ...) n
#define COUNT(...) COUNT_(__VA_ARGS__ __VA_OPT__(, ) 4, 3, 2, 1, 0)
#define CALL(f, ...) f(__VA_ARGS__)
#define CALL_FIRST(f, first, ...) f(first __VA_OPT__(, ) __VA_ARGS__)
#define GNU(f, args...) f(args)
#define GNU_OPT(f, first, args...) f(first, ##args)
#define ARRAY(...) ((const int[]){ __VA_ARGS__ })
#define LAST(x, ...) __VA_OPT__(LAST_(__VA_ARGS__))
#define LAST_(x, ...) x
#define ALL(...) __VA_ARGS__
#define EMPTY()
#define DEFER(x) x EMPTY()
#define EXPAND(...) EXPAND_(EXPAND_(EXPAND_(__VA_ARGS__)))
#define EXPAND_(...) __VA_ARGS__
#define COUNT_DOWN(n) DEFER(COUNT_DOWN_)()(n)
#define COUNT_DOWN_() PLUS_ONE
#define PLUS_ONE(n) (n + 1)

static int sum_of(int count, ...)
{
	va_list args;
	int sum = 0;

	va_start(args, count);
	while (count-- > 0)
		sum += va_arg(args, int);
	va_end(args);
	return sum;
}
#define SUM(...) sum_of(COUNT(__VA_ARGS__) __VA_OPT__(, ) __VA_ARGS__)

static tamed arguments(event(int) done)
{
	int a = 1, b = 2, c = 3, got;

	twait {
		CALL(later, CALL(SUM, a, b, c), mkevent(got));
		CALL(soon, mkevent());
	}
	trigger(done, SUM() + SUM(a) + SUM(a, b) * 10 + got * 100 + COUNT(a, (b, c)) * 1000);
}
ODD(arguments, 1 + 30 + 600 + 2000)

static tamed optional(event(int) done)
{
	int got, other, n = 4;

	twait {
		CALL_FIRST(soon, mkevent());
		CALL_FIRST(later, n, mkevent(got));
		GNU(later, n + 1, mkevent(other));
		GNU_OPT(soon, mkevent());
	}
	twait {
		GNU_OPT(later, got + other, mkevent(n));
	}
	trigger(done, got + other * 10 + n * 100 + LAST(got, other, n));
}
ODD(optional, 4 + 50 + 900 + 5)

static tamed literals(event(int) done)
{
	int n = 2, got;

	twait {
		sum_later(ARRAY(n, ALL(n, n), (n, 5)), 4, mkevent(got));
	}
	trigger(done, got + ARRAY(n, 3)[1] + EXPAND(COUNT_DOWN(n)) * 100);
}
ODD(literals, 11 + 3 + 300)

static int format(char *out, const char *format, ...)
{
	va_list args, again;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(out, 32, format, args);
	n += vsnprintf(out, 32, format, again);
	va_end(again);
	va_end(args);
	return n;
}
#define FORMAT(out, text, ...) format(out, "<" text ">" __VA_OPT__(, ) __VA_ARGS__)

static tamed formats(event(int) done)
{
	char out[32];
	int n = 12, length;

	twait {
		later(FORMAT(out, "%d", n), mkevent(length));
	}
	length += FORMAT(out, "empty") * 10;
	trigger(done, length + (strcmp(out, "<empty>") == 0) * 1000);
}
ODD(formats, 8 + 140 + 1000)

/* A va_list is an array, handed on as a pointer. */
static tamed takes_list(va_list *args, event(int) done)
{
	va_list own;
	int first, second;

	va_copy(own, *args);
	first = va_arg(own, int);
	twait {
		soon(mkevent());
	}
	second = va_arg(own, int);
	va_end(own);
	trigger(done, first * 10 + second);
}

static threaded int with_list(int count, ...)
{
	va_list args;
	int got = count;

	va_start(args, count);
	twait {
		takes_list(&args, mkevent(got));
	}
	va_end(args);
	return got;
}

static threaded int calls_with_list(void)
{
	return with_list(2, 3, 4);
}

static tamed lists(event(int) done)
{
	int got;

	twait {
		tfork(mkevent(got), calls_with_list());
	}
	trigger(done, got);
}
ODD(lists, 34)
