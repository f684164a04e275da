/* Variables of all types live across waits. */
/* flags: -Wno-psabi -Wno-pedantic -Wno-deprecated-pragma -Wno-sizeof-array-argument -Wno-sizeof-pointer-div -Wno-array-parameter -Wno-vla-parameter */
#include "odd.h"

#include <complex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include <weft/tame.h>

struct bits {
	unsigned a : 3, : 2, b : 5;
	bool c : 1;
	int : 0;
	signed d : 4;
};

static tamed bit_fields(event(int) done)
{
	struct bits s = { 7, 31, true, -3 };
	struct {
		unsigned x : 4;
	} t = { .x = 15 };

	twait {
		soon(mkevent());
	}
	s.a++;
	t.x += 2;
	trigger(done, (int)s.a + (int)s.b * 10 + s.c * 1000 + s.d * -10000 + (int)t.x * 100000);
}
ODD(bit_fields, 0 + 310 + 1000 + 30000 + 100000)

struct flexible {
	int count;
	int x[];
};

static tamed flexible_members(event(int) done)
{
	struct flexible *f = malloc(sizeof *f + 3 * sizeof f->x[0]);
	int got;

	*f = (struct flexible){ 3 };
	for (int i = 0; i < f->count; i++)
		f->x[i] = i;
	twait {
		sum_later(f->x, f->count, mkevent(got));
	}
	free(f);
	trigger(done, got);
}
ODD(flexible_members, 3)

static int one(int x)
{
	return x + 1;
}

static int two(int x)
{
	return x + 2;
}

typedef int function(int);

static function *chooser(int n)
{
	return n ? two : one;
}

static tamed function_pointers(int (*f)(int), function g, int (*const list[])(int),
			       function *(*choose)(int), event(int) done)
{
	int (*own[2])(int) = { one, two }, (*(*pointer)[2])(int) = &own, (**end)(int) = own + 1;
	function *h = choose(1), *more[] = { f, g };
	int (*(*returns)(int))(int) = chooser;

	twait {
		soon(mkevent());
	}
	trigger(done, own[0](0) + (*pointer)[1](0) * 10 + (*end)(1) * 100 + h(0) * 1000 +
			      more[0](0) * 10000 + list[1](0) * 100000 + returns(0)(0) * 1000000);
}

static tamed call_by_pointer(event(int) done)
{
	static int (*const list[])(int) = { one, two };

	function_pointers(one, two, list, chooser, done);
}
ODD(call_by_pointer, 1 + 20 + 300 + 2000 + 10000 + 200000 + 1000000)

static tamed large_numbers(event(int) done)
{
	__int128 wide = (__int128)1 << 100;
	unsigned __int128 mask = ~(unsigned __int128)0;
	long double l = 1.5L;
	double _Complex z = 1.0 + 2.0 * I;
	float complex f = 3.0f;
	long long ll = 1LL << 62;
	_Bool b = 2;
	typedef int vector __attribute__((vector_size(16)));
	vector v = { 1, 2, 3, 4 };

	twait {
		soon(mkevent());
	}
	v += v;
	trigger(done, (int)(wide >> 100) + (int)(mask >> 127) * 10 + (int)(l * 200) +
			      (int)cimag(z) * 10000 + (int)crealf(f) * 100000 +
			      (int)(ll >> 62) * 1000000 + b * 10000000 + v[3] * 100000000);
}
ODD(large_numbers, 11 + 300 + 20000 + 300000 + 1000000 + 10000000 + 800000000)


static tamed anonymous_types(event(int) done)
{
	struct {
		int x;
		struct {
			int y;
			union {
				int z;
				struct {
					short low, high;
				};
			};
		};
	} s = { 1, { 2, { 3 } } }, *p = &s, list[2] = { [1] = { .low = 4 } };
	enum { RED, GREEN = 5 } color = GREEN;
	union {
		int i;
		float f;
	} u = { 6 };
	__typeof__(s) copy = s;

	twait {
		soon(mkevent());
	}
	copy.y += 5;
	trigger(done, p->x + copy.y * 10 + p->z * 100 + list[1].low * 1000 + (int)color * 10000 +
			      u.i * 100000 + RED);
}
ODD(anonymous_types, 1 + 70 + 300 + 4000 + 50000 + 600000)

static tamed arrays(int a[static 2], int b[const 3], int c[][2], int (*d)[2], const char e[*], int n[],
		    event(int) done);
static tamed arrays(int a[static 2], int b[const 3], int c[][2], int (*d)[2], const char e[], int n[5],
		    event(int) done)
{
	int two[2][2] = { { 1, 2 }, { 3, 4 } }, (*row)[2] = two + 1, sizes[sizeof a / sizeof *a];
	char text[][4] = { "abc", "de" }, *words[] = { text[0], text[1] };
	int list[] = { [3] = 5 };

	twait {
		soon(mkevent());
	}
	trigger(done, a[1] + b[2] * 10 + c[1][1] * 100 + (*d)[1] * 1000 + (int)strlen(e) * 10000 + n[0] +
			      (*row)[1] * 100000 + (int)sizeof two + words[1][1] - 'e' +
			      (int)(sizeof list / sizeof *list) * 1000000 + (int)sizeof sizes);
}

static tamed give_arrays(event(int) done)
{
	static int x[][2] = { { 1, 2 }, { 3, 4 } }, list[] = { 1, 2, 3 };

	arrays(x[0], list, x, x + 1, "four", x[1], done);
}
ODD(give_arrays, 2 + 30 + 400 + 4000 + 40000 + 3 + 400000 + 16 + 4000000 + 8)

typedef struct node node;
struct node {
	node *left;
	int value;
};

struct incomplete;
static tamed incomplete(struct incomplete *p, node *n, event(int) done)
{
	struct incomplete *q = p;
	extern struct incomplete nowhere;
	struct later_complete *l = NULL;
	node copy = *n, *m = &copy;

	twait {
		soon(mkevent());
	}
	m->left = n;
	trigger(done, (p == q) + (l == NULL) * 10 + m->left->value * 100);
}

static tamed incomplete_types(event(int) done)
{
	node n = { .value = 3 };
	int got;

	twait {
		incomplete(NULL, &n, mkevent(got));
	}
	trigger(done, got);
}
ODD(incomplete_types, 311)

static tamed by_typeof(event(int) done)
{
	int x = 3, list[2] = { 1, 2 };
	__typeof__(x) y = x;
	typeof(list) copy = { 3, 4 };
	__typeof__(&x) p = &y;
	__typeof__(int[3]) three = { 5 };
	__typeof__(one) *f = one;
	__auto_type a = x + 1;
	__typeof__(((struct node *)0)->value) v = 6;
	__extension__ int extended = 7;

	twait {
		soon(mkevent());
	}
	trigger(done, *p + copy[1] * 10 + three[0] * 100 + f(0) * 1000 + a * 10000 + v * 100000 +
			      extended * 1000000);
}
ODD(by_typeof, 3 + 40 + 500 + 1000 + 40000 + 600000 + 7000000)

static tamed alignments(event(int) done)
{
	struct {
		char c;
		_Alignas(8) char d;
		long double l;
	} s = { .d = 1 };
	int x;

	twait {
		soon(mkevent());
		later((int)_Alignof(__typeof__(s)), mkevent(x));
	}
	trigger(done, x + s.d + (int)((uintptr_t)&s % _Alignof(long double)) * 100 + (int)_Alignof(int) * 1000);
}
ODD(alignments, 16 + 1 + 4000)

static thread_local int per_thread = 5;
static tamed storage(event(int) done)
{
	static int calls;
	static thread_local int local_per_thread = 2;
	register int r = 3;
	auto int a = 4;
	extern int outside;
	static const char *const names[] = { "a", "bb" };
	int outside_function(int);

	calls++;
	twait {
		soon(mkevent());
	}
	calls++;
	r++;
	trigger(done, calls + r * 10 + a * 100 + outside * 1000 + (int)strlen(names[1]) * 10000 +
			      outside_function(2) * 100000 + per_thread * 1000000 +
			      local_per_thread * 10000000);
}
int outside = 6;
int outside_function(int);
int outside_function(int n)
{
	return n + 1;
}
ODD(storage, 2 + 40 + 400 + 6000 + 20000 + 300000 + 5000000 + 20000000)

static tamed loop_volatile(event(int) done)
{
	volatile int v = 0;

	while (v < 3) {
		volatile int inner = v;

		twait {
			soon(mkevent());
		}
		v = inner + 1;
	}
	trigger(done, v);
}
ODD(loop_volatile, 3)

static tamed atomics(event(int) done)
{
	atomic_int n = ATOMIC_VAR_INIT(1);
	int expected = 3, got;

	twait {
		later(atomic_fetch_add(&n, 2), mkevent(got));
	}
	got += atomic_compare_exchange_strong(&n, &expected, 9) * 10;
	atomic_store_explicit(&n, atomic_load(&n) + 1, memory_order_relaxed);
	trigger(done, got + atomic_exchange(&n, 0) * 1000);
}
ODD(atomics, 1 + 10 + 10000)
