/* Initialisers that come from macros and includes, of variables that live across a wait. */
/* flags: -Wno-override-init -Wno-override-init-side-effects */
#include "odd.h"

#include <pthread.h>
#include <poll.h>

#include <weft/tame.h>

struct list {
	struct list *next, *prev;
};
#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list name = LIST_HEAD_INIT(name)

static int length(const struct list *l)
{
	int n = 0;

	for (const struct list *p = l->next; p != l; p = p->next)
		n++;
	return n;
}

static void append(struct list *l, struct list *item)
{
	item->next = l;
	item->prev = l->prev;
	l->prev->next = item;
	l->prev = item;
}

static tamed names_itself(event(int) done)
{
	struct list head = LIST_HEAD_INIT(head), one, two;
	LIST_HEAD(other);

	append(&head, &one);
	twait {
		soon(mkevent());
	}
	append(&head, &two);
	append(&other, &(struct list){ 0 });
	trigger(done, length(&head) * 10 + length(&other));
}
ODD(names_itself, 21)

static tamed mutex(event(int) done)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct {
		pthread_mutex_t m;
		int n;
	} s = { PTHREAD_MUTEX_INITIALIZER, 3 };
	pthread_mutex_t two[] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
	int locked = 0;

	twait {
		soon(mkevent());
	}
	locked += pthread_mutex_trylock(&m) == 0;
	locked += pthread_mutex_trylock(&s.m) == 0;
	locked += pthread_mutex_trylock(&two[1]) == 0;
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&s.m);
	pthread_mutex_unlock(&two[1]);
	trigger(done, locked + s.n);
}
ODD(mutex, 6)

static tamed lock(event(int) done)
{
	weft_tame_lock l = WEFT_TAME_LOCK_INIT;
	int again;

	twait {
		weft_lock_ev(&l, mkevent());
	}
	again = weft_trylock(&l);
	weft_unlock(&l);
	trigger(done, again < 0);
}
ODD(lock, 1)

#define ZERO { 0 }
#define OPEN {
#define CLOSE }
#define THREE 1, 2, 3
#define PAIR(x, y) { .a = (x), .b = (y) }
#define TABLE(X) X(1) X(2) X(4)
#define ROW(n) { n, 10 * n },
#define EMPTY

static tamed from_macros(event(int) done)
{
	int zero[4] = ZERO, braces[] = OPEN 5, 6 CLOSE, list[] = { THREE, 4 }, empty[2] = { EMPTY };
	struct odd_pair p = PAIR(1, 2), table[] = { TABLE(ROW) }, q[2] = { PAIR(3, 4), PAIR(5, 6) };

	twait {
		soon(mkevent());
	}
	trigger(done, zero[3] + braces[1] + list[2] * 10 + empty[1] + p.b * 100 + table[2].b * 1000 +
			      q[1].a * 100000 + (int)(sizeof table / sizeof *table) * 1000000);
}
ODD(from_macros, 6 + 30 + 200 + 40000 + 500000 + 3000000)

static tamed from_includes(event(int) done)
{
	int numbers[] = {
#include "numbers.inc"
	};
	struct odd_pair pairs[] = {
#define X(x, y) { x, y },
#include "pairs.inc"
#undef X
	};
	const char *const names[] = {
#define X(x, y) #x "-" #y,
#include "pairs.inc"
#undef X
		NULL };
	int sum = 0;

	twait {
		soon(mkevent());
	}
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sum += numbers[i];
	trigger(done, sum + pairs[1].b * 100 + (strcmp(names[1], "3-4") == 0) * 1000 +
			      (int)(sizeof pairs / sizeof *pairs) * 10000);
}
ODD(from_includes, 15 + 400 + 1000 + 20000)

static tamed text(event(int) done)
{
	char a[] = "one" " " "two", b[] = { "three" }, c[8] = "", d[3] = { 'a', [2] = 'c' };
	char e[] = __FILE__, wide[] = u8"\u00e4";
	const char *f = "x" "y";

	twait {
		soon(mkevent());
	}
	trigger(done, (int)strlen(a) + (int)sizeof b * 10 + c[7] + (d[1] == 0) * 100 +
			      (strstr(e, "initialisers") != NULL) * 1000 +
			      (int)sizeof wide * 10000 + (int)strlen(f) * 100000);
}
ODD(text, 7 + 60 + 100 + 1000 + 30000 + 200000)

static tamed designated(event(int) done)
{
	int n = 2;
	struct {
		struct odd_pair p[3];
		int x;
		union {
			int i;
			char c[4];
		};
	} s = { .p[1].b = n, .p[2] = { .a = 3 }, .x = n + 3, .c = { 1, [3] = 0 } };
	int range[10] = { [0 ... 3] = n, [5 ... 7] = 3, 4, [1] = 9 };
	int two[2][3] = { [1] = { [1] = n }, [0][2] = 7 };

	twait {
		soon(mkevent());
	}
	trigger(done, s.p[1].b + s.p[2].a * 10 + s.x * 100 + s.c[0] * 1000 + range[1] * 10000 +
			      range[8] * 100000 + (two[1][1] + two[0][2] + range[4]) * 1000000);
}
ODD(designated, 2 + 30 + 500 + 1000 + 90000 + 400000 + 9000000)

static tamed uses_what_is_before(event(int) done)
{
	int a = 1, b = a + 1, c[2] = { b, a + b }, *p = &c[1], n = (int)sizeof n,
	    m = ({ int t = *p; t * 2; });
	void *self = &self;

	twait {
		soon(mkevent());
	}
	trigger(done, a + b * 10 + *p * 100 + m * 1000 + n * 10000 + (self == &self) * 100000);
}
ODD(uses_what_is_before, 1 + 20 + 300 + 6000 + 40000 + 100000)

static tamed only_at_the_beginning(event(int) done)
{
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		int fresh = ZERO, array[3] = { i }, rest[2];
		struct odd_pair p = { .b = 1 };

		rest[0] = array[0];
		twait {
			soon(mkevent());
		}
		sum += fresh + array[0] * 10 + array[2] + p.a + p.b * 100 + rest[0] * 1000;
		fresh = array[2] = p.a = 10000;
	}
	trigger(done, sum);
}
ODD(only_at_the_beginning, 30 + 300 + 3000)

static tamed structs_copied(event(int) done)
{
	const struct odd_pair p = { 1, 2 }, q = p, r[2] = { p, { .a = q.b } };
	struct pollfd fds[1] = { { .fd = -1, .events = POLLIN | POLLOUT } };

	twait {
		soon(mkevent());
	}
	trigger(done, q.a + q.b * 10 + r[0].b * 100 + r[1].a * 1000 +
			      (fds[0].events == (POLLIN | POLLOUT)) * 10000);
}
ODD(structs_copied, 1 + 20 + 200 + 2000 + 10000)
