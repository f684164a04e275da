/* world.h - what the random programs of generate.c stand on: values, and events that bring the
 * same values at once, later, or from another color.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLAIN
#include <weft/tame.h>
#include <weft/weft.h>
#endif

struct pair {
	int a;
	short b;
};

/* Nothing overflows. */
static inline int add(int x, int y)
{
	return (int)((unsigned)x + (unsigned)y);
}

static inline int mul(int x, int y)
{
	return (int)((unsigned)x * (unsigned)y);
}

static inline int mix(int h, int x)
{
	return (int)((((unsigned)h << 5) | ((unsigned)h >> 27)) ^ (unsigned)x);
}

static inline int sum(const int *x, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s = add(s, x[i]);
	return s;
}

#define MAX(x, y) ((x) > (y) ? (x) : (y))
#define BOTH(x, y) add((x), (y))
#define APPLY(f, ...) f(__VA_ARGS__)
#define GET(x, member) ((x).member)
#define JOIN(x, y) x##y
#define NAMED(x) add(x, (int)sizeof #x)
#define QUALIFIERS(x) \
	_Generic(&(x), int * : 1, const int * : 2, volatile int * : 3, const volatile int * : 4, \
		 _Atomic int * : 5, const struct pair * : 6, struct pair * : 7, const short * : 8, \
		 volatile long * : 9, _Atomic unsigned * : 10, const volatile double * : 11, \
		 default : 12)

/* Parts of initialisers. */
#define FOUR 2 + 2
#define OPEN {
#define CLOSE }
#define TWO(x, y) x, y
#define LIST(...) \
	{ \
		__VA_ARGS__, [3] = 1 \
	}
#define PAIR_OF(x) \
	{ \
		.a = (x), 4 \
	}
#define ARRAY(...) \
	(int[]) \
	{ \
		__VA_ARGS__ \
	}

#define DECLARE(type, name, ...) type name = __VA_ARGS__

/* Around statements. */
#define BLOCK(...) \
	{ \
		__VA_ARGS__ \
	}
#define ONCE(...) \
	do { \
		__VA_ARGS__ \
	} while (0)
#define IF(c, ...) \
	if (c) { \
		__VA_ARGS__ \
	}
#define TWICE(...) \
	BLOCK (__VA_ARGS__) \
		BLOCK (__VA_ARGS__)
#define FOR(i, n, ...) \
	for (int i = 0; i < (n); i++) { \
		__VA_ARGS__ \
	}
#define WHEN(c, s) \
	if (c) { \
		s; \
	}
#define GOTO(label) goto label
#define AT(label) \
	label:
#define FUNCTION(head, ...) head __VA_ARGS__

/* What waits, and is a call in the plain program. */
#ifdef PLAIN
#define AWAIT(...) \
	{ \
		__VA_ARGS__ \
	}
#define GIVE(type, x, slot) slot = plain_##type(x)
#define RETURN(x) return x
#else
#define AWAIT(...) \
	twait \
	{ \
		__VA_ARGS__ \
	}
#define EVENT(x) mkevent(x)
#define GIVE(type, x, slot) give_##type(x, EVENT(slot))
#define RETURN(x) \
	do { \
		trigger(done, x); \
		return; \
	} while (0)
#endif

/* Variables of programs have the same names: none of these may be taken for one. */
static int a = 1001, b = 1002, c = 1003, x = 1004, y = 1005, i = 1006, e1 = 1007, tame_c = 1008;

static inline int globals(void)
{
	return a + b + c + x + y + i + e1 + tame_c;
}

struct box {
	int list[4];
};

static inline struct box boxed(int v, int w)
{
	return (struct box){ { v, w, add(v, w), 3 } };
}

/* What the plain program gets at once. */
static inline int plain_int(int v)
{
	return mul(v, 7) ^ 3;
}

static inline short plain_short(int v)
{
	return (short)(v % 30000);
}

static inline char plain_char(int v)
{
	return (char)(v & 63);
}

static inline unsigned plain_unsigned(int v)
{
	return (unsigned)v * 2654435761u;
}

static inline long plain_long(int v)
{
	return (long)v * 1000003;
}

static inline double plain_double(int v)
{
	return v % 4096 + 0.25;
}

static inline struct pair plain_pair(int v)
{
	return (struct pair){ plain_int(v), plain_short(v) };
}

static inline int plain_sum_at(const int *x, int n)
{
	return sum(x, n);
}

static inline int plain_pair_at(const struct pair *p, int n)
{
	return add(mul(p->a, n), p->b);
}

static inline struct pair pair_of(int v)
{
	return (struct pair){ v, (short)(v + 3) };
}

/* A blocking call, for tfork. */
static int slow(int v, struct pair p)
{
	return add(mul(v, 5), p.a);
}

#ifndef PLAIN
/* And what the tamed one gets as an event. How it comes does not depend on the program. */
static unsigned turn;

static void put_off(weft_fn *fn, void *arg)
{
	weft_color color = __atomic_load_n(&turn, __ATOMIC_RELAXED) % 3 == 0 ? weft_color_new()
									     : weft_color_current();

	if (weft_post(color, fn, arg) < 0)
		abort();
}

#define GIFT(name, type) \
	struct name##_gift { \
		event(type) e; \
		type value; \
	}; \
	static void hand_##name(void *arg) \
	{ \
		struct name##_gift g = *(struct name##_gift *)arg; \
\
		free(arg); \
		trigger(g.e, g.value); \
	} \
	static inline void give_##name(int v, event(type) e) \
	{ \
		struct name##_gift *g; \
\
		if (__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % 4 == 0) { \
			trigger(e, plain_##name(v)); \
			return; \
		} \
		g = malloc(sizeof *g); \
		*g = (struct name##_gift){ e, plain_##name(v) }; \
		put_off(hand_##name, g); \
	}
GIFT(int, int)
GIFT(short, short)
GIFT(char, char)
GIFT(unsigned, unsigned)
GIFT(long, long)
GIFT(double, double)
GIFT(pair, struct pair)

static void hand_none(void *e)
{
	trigger((event())(uintptr_t)e);
}

static inline void give_none(event() e)
{
	put_off(hand_none, (void *)(uintptr_t)e);
}

struct two_gift {
	event(int, struct pair) e;
	int v;
};

static void hand_two(void *arg)
{
	struct two_gift g = *(struct two_gift *)arg;

	free(arg);
	trigger(g.e, plain_int(g.v), plain_pair(g.v));
}

static inline void give_two(int v, event(int, struct pair) e)
{
	struct two_gift *g = malloc(sizeof *g);

	*g = (struct two_gift){ e, v };
	put_off(hand_two, g);
}

/* What x points to is read when the event is triggered. */
#define GIFT_AT(name, type) \
	struct name##_gift { \
		event(int) e; \
		type *x; \
		int n; \
	}; \
	static void hand_##name(void *arg) \
	{ \
		struct name##_gift g = *(struct name##_gift *)arg; \
\
		free(arg); \
		trigger(g.e, plain_##name(g.x, g.n)); \
	} \
	static inline void give_##name(type *x, int n, event(int) e) \
	{ \
		struct name##_gift *g = malloc(sizeof *g); \
\
		*g = (struct name##_gift){ e, x, n }; \
		put_off(hand_##name, g); \
	}
GIFT_AT(sum_at, const int)
GIFT_AT(pair_at, const struct pair)

/* Comparing the two. */
static int good, bad, reports;

static void compare(unsigned long long seed, int plain, int tame)
{
	if (plain == tame) {
		good++;
		return;
	}
	bad++;
	printf("program %llu: plain C gives %d, tamed C %d\n", seed, plain, tame);
}

static void count_report(enum weft_report_kind kind, const char *text, void *unused)
{
	(void)unused;
	if (kind == WEFT_REPORT_STALL)
		return;
	reports++;
	printf("report: %s\n", text);
}

static int run_programs(weft_thread_fn *all)
{
	weft_options options = { .workers = 2 };
	int rc;

	weft_on_report(count_report, NULL);
	rc = weft_run(all, NULL, &options);
	if (rc < 0)
		printf("weft_run: %s\n", strerror(-rc));
	printf("%d passed, %d failed\n", good, bad + reports + (rc < 0));
	return rc < 0 || bad + reports > 0 || good == 0;
}

#endif

#endif
