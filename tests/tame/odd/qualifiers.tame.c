/* Variables that live across a wait keep their qualifiers. */
#include "odd.h"

#include <stdatomic.h>

#include <weft/tame.h>

#define IS_CONST_INT(x) _Generic(&(x), const int *: 1, int *: 0)
#define IS_VOLATILE_INT(x) _Generic(&(x), volatile int *: 1, int *: 0)

static tamed constants(const int parameter, int plain, event(int) done)
{
	const int local = 1;
	const int list[2] = { 1, 2 };
	const struct odd_pair pair = { 1, 2 };
	int not = 3, *const pointer = &not;
	const int *const both = &local;
	int array[2] = { 0 };

	twait {
		soon(mkevent());
		later(4, mkevent(*pointer));
	}
	trigger(done, IS_CONST_INT(parameter) + IS_CONST_INT(local) + IS_CONST_INT(list[0]) +
			      IS_CONST_INT(pair.a) + 10 * IS_CONST_INT(plain) +
			      10 * IS_CONST_INT(not) + 10 * IS_CONST_INT(array[0]) +
			      100 * _Generic(&pointer, int *const *: 1, default: 0) +
			      1000 * _Generic(&both, const int *const *: 1, default: 0) +
			      10000 * _Generic(&list, const int(*)[2]: 1, default: 0) +
			      100000 * not + 1000000 * *both);
}

static tamed are_constant(event(int) done)
{
	constants(1, 2, done);
}
ODD(are_constant, 4 + 100 + 1000 + 10000 + 400000 + 1000000)

static tamed volatiles(volatile int parameter, event(int) done)
{
	volatile int local = 1;
	volatile struct odd_pair pair = { 2, 3 };
	int *volatile pointer = NULL;
	volatile int list[3] = { 1 };
	const volatile int both = 4;

	for (volatile int i = 0; i < 3; i++) {
		twait {
			soon(mkevent());
		}
		local += IS_VOLATILE_INT(i);
	}
	trigger(done, IS_VOLATILE_INT(parameter) + IS_VOLATILE_INT(local) + IS_VOLATILE_INT(pair.a) +
			      IS_VOLATILE_INT(list[1]) + 10 * local +
			      100 * _Generic(&pointer, int *volatile *: 1, default: 0) +
			      1000 * _Generic(&both, const volatile int *: 1, default: 0) +
			      (pointer == NULL) * 10000 + parameter * 100000);
}

static tamed are_volatile(event(int) done)
{
	volatiles(7, done);
}
ODD(are_volatile, 4 + 40 + 100 + 1000 + 10000 + 700000)

static tamed are_atomic(event(int) done)
{
	_Atomic int plain = 1;
	_Atomic(int) other = 2;
	atomic_int third = 3;
	atomic_uint_fast64_t fast = 4, *pointer = &fast;
	_Atomic struct odd_pair pair;
	_Atomic(int *) p = NULL;
	struct odd_pair loaded;

	atomic_store(&pair, ((struct odd_pair){ 5, 6 }));
	twait {
		soon(mkevent());
	}
	atomic_fetch_add(&plain, 10);
	other++;
	third = third + 1;
	loaded = atomic_load(&pair);
	atomic_fetch_or(pointer, 1);
	trigger(done, plain + other * 100 + third * 1000 + (int)*pointer * 10000 +
			      loaded.b * 100000 +
			      1000000 * _Generic(&other, _Atomic int *: 1, default: 0) +
			      2000000 * (p == NULL));
}
ODD(are_atomic, 11 + 300 + 4000 + 50000 + 600000 + 1000000 + 2000000)

typedef const int constant;
typedef const int constant_list[2];
typedef volatile struct odd_pair volatile_pair;

static tamed by_typedef(event(int) done)
{
	constant x = 5;
	constant_list list = { 1, 2 };
	volatile_pair p = { 3, 4 };
	const __typeof__(int) y = 6;
	__typeof__(x) z = 7;
	const __auto_type a = 8;

	twait {
		soon(mkevent());
	}
	trigger(done, IS_CONST_INT(x) + IS_CONST_INT(list[1]) + IS_CONST_INT(y) + IS_CONST_INT(z) +
			      IS_CONST_INT(a) + 10 * IS_VOLATILE_INT(p.b) +
			      100 * (x + list[1] + p.b + y + z + a));
}
ODD(by_typedef, 5 + 10 + 100 * 32)

static tamed restricted(int *restrict p, const char *restrict text, event(int) done)
{
	int *restrict q = p;

	twait {
		sum_later(q, 2, mkevent(*p));
	}
	trigger(done, *q + (int)strlen(text));
}

static tamed are_restricted(event(int) done)
{
	int list[2] = { 1, 2 };

	twait {
		restricted(list, "four", mkevent(list[1]));
	}
	trigger(done, list[0] * 10 + list[1]);
}
ODD(are_restricted, 37)

static tamed initialised_in_a_loop(event(int) done)
{
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		const int k = i * 10;
		const struct {
			const int x;
			int y;
		} s = { k, .y = k + 1 };
		const int list[] = { k, s.y };

		twait {
			soon(mkevent());
		}
		sum += k + s.x + s.y + list[1];
	}
	trigger(done, sum);
}
ODD(initialised_in_a_loop, 30 + 30 + 33 + 33)
