/* Every way to name a variable that lives across a wait is found: beside each of them there is a
 * variable of the same name outside of the function, with another value, that a name which was
 * missed would mean. */
#include "tame/common.h"

#include <assert.h>

#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-value"

static int n = 1000, m = 2000, *p = &m, a[8] = { [3] = 4000 };
static struct {
	int n;
	int a[8];
} s = { 5000, { 0 } };

#define TWICE(x) ((x) + (x))
#define NAME(x) #x
#define UNUSED_ARGUMENT(x) 7
#define FOR(i, n) for (int i = 0; i < (n); i++)

struct other {
	int n, m;
	int a[8];
};

static int checks;
#define SAME(x, y) \
	do { \
		CHECK_EQ((x), (y)); \
		checks++; \
	} while (0)

static tamed references(int n, event() done)
{
	int m = 2, *p = &n, a[8] = { 0, 1, 2, 3, [4] = n, [5] = 2 * n };
	struct other s = { .n = n, .m = m, .a[2] = n }, *q = &s;
	int k = ({
		int inner = n;

		inner + 1;
	});
	__typeof__(n) of_type = n;
	char room[sizeof a / sizeof a[0] + sizeof(n)];
	int (*row)[8] = &a;

	twait {
		soon(mkevent());
	}
	SAME(n, 3);
	SAME(n ? n : m, 3);
	SAME(*p, 3);
	SAME(p[0], 3);
	SAME(a[n], 3);
	SAME(n[a], 3);
	SAME(a[4], 3);
	SAME(a[5], 6);
	SAME(s.n, 3);
	SAME(q->n + q->m, 5);
	SAME(s.a[2], 3);
	SAME(k, 4);
	SAME(of_type, 3);
	SAME((int)sizeof room, 12);
	SAME((int)sizeof n, 4);
	SAME((int)sizeof(a), 32);
	SAME((int)_Alignof(__typeof__(n)), 4);
	SAME((*row)[n], 3);
	SAME(_Generic(n, int: n, default: m), 3);
	SAME(_Generic(m, char: n, int: m + n, default: 0), 5);
	SAME((int)__builtin_offsetof(struct other, a[n]), 8 + 12);
	SAME((int)offsetof(struct other, m), 4);
	SAME((__typeof__(m))n, 3);
	SAME(((struct other){ .m = n, .n = m }).m, 3);
	SAME(((int[]){ n, m, [4] = n })[4], 3);
	SAME(__builtin_choose_expr(1, n, m), 3);
	SAME(({
		     int x = n;

		     x += m;
		     x;
	     }),
	     5);
	SAME(TWICE(n), 6);
	SAME(TWICE(TWICE(m)), 8);
	SAME(UNUSED_ARGUMENT(n), 7);
	SAME((int)strlen(NAME(k)) > 0, 1);
	SAME((n, m), 2);
	SAME((int)(&n - &n), 0);
	SAME(*&n, 3);
	SAME(-n + ~m + !n, -6);
	{
		int x = 1;

		__asm__("" : "=r"(x) : "0"(n));
		SAME(x, 3);
	}
	{
		int r = 0;

		FOR(i, n)
			r += i * m;
		SAME(r, 6);
	}
	n += m, m -= 1;
	SAME(n * 10 + m, 51);
	n++;
	--m;
	SAME(n * 10 + m, 60);
	SAME(*p, 6);
	assert(n == 6);
	CHECK(strcmp(__func__, "references") == 0);
	trigger(done);
}

static threaded int run(void *unused)
{
	(void)unused;
	twait {
		references(3, mkevent());
	}
	return n + m + *p + a[3] + s.n;
}

TEST(every_use_of_a_variable_is_found)
{
	CHECK_EQ(weft_run(run, NULL, NULL), 1000 + 2000 + 2000 + 4000 + 5000);
	CHECK_EQ(checks, 40);
}

TEST_MAIN
