/* waits-pointers.c - ways for a pointer to a function, for tests/checks/weft-check: each function
 * in_elided_braces, in_an_anonymous_struct, ... may wait, and weft-check has to find that in each.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <weft/weft.h>

typedef int fn(int);

static int late(int a)
{
	return weft_sleep(1) + a;
}

static int late2(int a)
{
	return weft_sleep(2) + a;
}

struct in {
	fn *f;
	fn *g;
};

struct out {
	int n;
	struct in in;
	struct {
		fn *h;
	};
	union {
		fn *u;
		long l;
	};
};

static struct out elided = { 1, late, NULL };
WEFT_NO_WAIT int in_elided_braces(void)
{
	return elided.in.f(1);
}

static struct out anon = { .h = late2 };
WEFT_NO_WAIT int in_an_anonymous_struct(void)
{
	return anon.h(1);
}

static struct out uni = { .u = late2 };
WEFT_NO_WAIT int in_a_union(void)
{
	return uni.u(1);
}

static _Atomic(fn *) at;
void set4(void)
{
	atomic_store(&at, late);
}

WEFT_NO_WAIT int in_an_atomic(void)
{
	return atomic_load(&at)(1);
}

static fn *v5;
void set5(void)
{
	v5 = v5 ?: late;
}

WEFT_NO_WAIT int by_default(void)
{
	return v5(1);
}

static fn *v6;
void set6(fn *x)
{
	v6 = x;
}

void call6(void)
{
	set6(late);
}

WEFT_NO_WAIT int by_a_parameter(void)
{
	return v6(1);
}

static fn *v7;
void set7(void)
{
	v7 = ({
		fn *z = late;
		z;
	});
}

WEFT_NO_WAIT int in_a_statement_expression(void)
{
	return v7(1);
}

struct big {
	fn *f;
};

static struct big make8(void)
{
	return (struct big){ late };
}

WEFT_NO_WAIT int in_a_struct_that_is_returned(void)
{
	struct big b = make8();
	return b.f(1);
}

static fn *const *get9(void)
{
	static fn *const t[] = { late };
	return t;
}

WEFT_NO_WAIT int in_an_array_that_is_returned(void)
{
	return get9()[0](1);
}

WEFT_NO_WAIT int after_a_cast(void)
{
	return (*(int (*)(int))late)(1);
}

WEFT_NO_WAIT int by_a_condition(int c)
{
	return (c ? late : late2)(1);
}

WEFT_NO_WAIT void as_an_argument(void (*p)(void))
{
	p();
}

static void slow12(void)
{
	weft_yield();
}

void g12(void)
{
	as_an_argument(slow12);
}

extern fn *v13;
WEFT_NO_WAIT int in_a_variable_defined_later(void)
{
	return v13(1);
}

fn *v13 = late;
static fn *arr14[2][2] = { { 0, late }, { 0 } };
WEFT_NO_WAIT int in_an_array_of_arrays(int i)
{
	return arr14[i][1](1);
}

static fn *v15;
static void store15(fn **p, fn *f)
{
	*p = f;
}

void g15(void)
{
	store15(&v15, late);
}

WEFT_NO_WAIT int by_the_address_of_the_pointer(void)
{
	return v15(1);
}

WEFT_NO_WAIT int in_a_generic_selection(void)
{
	return _Generic(1, int : late(1), default : 0);
}

static int kr();
static int kr(a)
int a;
{
	return weft_sleep(a);
}

WEFT_NO_WAIT int without_a_prototype(void)
{
	return kr(1);
}

WEFT_NO_WAIT int in_a_switch(int x)
{
	switch (x) {
	case 1:
		return late(1);
	default:
		goto out;
	}
out:
	return 0;
}

WEFT_NO_WAIT int behind_a_condition(int x)
{
	return x && late(1);
}

WEFT_NO_WAIT int in_the_size_of_an_array(int x)
{
	int a[late(x) + 1];
	return (int)sizeof a;
}

static fn *v21;
void g21(void *m)
{
	v21 = m;
}

WEFT_NO_WAIT int from_a_void_pointer(void)
{
	return v21(1);
}

struct obj {
	struct big *ops;
};

static struct big ops22 = { late };
WEFT_NO_WAIT int two_members_deep(struct obj *o)
{
	return o->ops->f(1);
}
