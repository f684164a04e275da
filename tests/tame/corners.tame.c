/* Declarations and statements as few people write them. */
#include "tame/common.h"

#include <wchar.h>

typedef rendezvous(int) int_rendezvous;
struct holder {
	int before;
	int_rendezvous *r;
};

static tamed forward(int n, event(int) done);
__attribute__((noinline)) static tamed empty(void)
{
}

static tamed no_wait(int n, event(int) done)
{
	trefused (err) {
		trigger(done, err);
		return;
	}
	int x = n;

	empty();
	trigger(done, x + 1);
}

/* What looks like a comment in a directive is none, and what a macro declares is not part of
 * the function behind it. */
#define EVERYTHING "/*" // not *.c and not src/*.h
#define COUNTED(name) static int name = 1;
COUNTED(counted)
static tamed strange_surroundings(event(int) done)
{
	int L = counted;
	const wchar_t *wide;

	twait {
		later(2, mkevent(L));
	}
	wide = &L"wide"[L];
	trigger(done, wide[0] == L'd' && EVERYTHING[0] == '/');
}

static tamed use_holder(struct holder *h, event(int) done)
{
	int id;
	event(int) events[2];

	events[0] = mkevent(*h->r, 5, h->before);
	events[1] = done;
	later(9, events[0]);
	twait(*h->r, id);
	trigger(events[1], id);
}

static tamed forward(int n, event(int) done)
{
	enum { RED = 2, GREEN } color = GREEN;
	static struct counter {
		int calls;
	} counter;
	__auto_type automatic = n + 1;
	_Complex double z = 2;
	__int128 wide = 4;
	long double precise = 5;
	int list[] = { RED, GREEN }, (*function)(const char *) = NULL;
	char two[] = "a"
		     "b";
	rendezvous(int) r, *p = &r;
	rendezvous() first, second;
	struct holder h = { .r = &r };
	int got, and = 0;

	counter.calls++;
	twait { later(
		/* a comment, (with brackets), and commas */
		n, mkevent(/* the slot: */
			   got)); }
	and += got;
	twait {
		use_holder(&h, mkevent(got));
	}
	and = and * 10 + got + h.before * 100;
	soon(mkevent(*p, 3));
	soon(mkevent(first));
	soon(mkevent(second));
	if (and)
		twait(r, got);
	else
		twait(r);
	switch (got) {
		int in_switch;

	case 3:
		in_switch = 4;
		twait(first);
		got += in_switch;
		/* fallthrough */
	default:
		twait(second);
	}
	do
		twait { soon(mkevent()); }
	while (and++ < 0);
	if (function != NULL || two[2] != '\0' || list[1] != (int)color) {
		trigger(done, -1);
		return;
	}
	trigger(done, and + got + automatic + (int)__real__ z + (int)wide + (int)precise +
			      counter.calls);
}

struct fixed {
	const int x;
	int y;
};

static tamed fixed(struct fixed f, event(int) done)
{
	const struct fixed g = { f.y, f.x }, h = g;
	char none[100] = { 0 }, no_other[10][10] = {};

	twait {
		soon(mkevent());
	}
	for (int i = 0; i < 100; i++)
		if (none[i] != 0 || no_other[i / 10][i % 10] != 0) {
			trigger(done, -1);
			return;
		}
	trigger(done, f.x * 100 + g.x * 10 + h.y);
}

static tamed chain(event(int) done)
{
	int a, b, c;

	twait {
		no_wait(1, mkevent(a));
		forward(2, mkevent(b));
		fixed((struct fixed){ 1, 2 }, mkevent(c));
	}
	trigger(done, a * 10000 + b + c * 100000);
}

static threaded struct holder returns_struct(int n)
{
	struct holder h = { .before = n };

	if (n == 0)
		return h;
	twait {
		later(n * 2, mkevent(h.before));
	}
	return h;
}

static threaded void returns_nothing(int *where)
{
	if (*where == 0)
		return;
	twait {
		later(7, mkevent(*where));
	}
}

static threaded int run(void *unused)
{
	int result = 1;

	(void)unused;
	returns_nothing(&result);
	CHECK_EQ(result, 7);
	CHECK_EQ(returns_struct(0).before, 0);
	CHECK_EQ(returns_struct(4).before, 8);
	twait {
		strange_surroundings(mkevent(result));
	}
	CHECK_EQ(result, 1);
	twait {
		chain(mkevent(result));
	}
	return result;
}

TEST(unusual_declarations_and_statements_work)
{
	CHECK_EQ(weft_run(run, NULL, NULL), 12100000 + 20000 + 926 + 7 + 3 + 2 + 4 + 5 + 1);
}

TEST_MAIN
