/* Tamed functions do what the same functions would do if their waits were calls: control
 * flow, scopes, kinds of variables, events and rendezvous. */
#include "tame/common.h"

/* Runs what a test is about: a tamed function that gives an int. */
static tamed (*running)(event(int));

static threaded int run_it(void *unused)
{
	int result = -1;

	(void)unused;
	twait {
		running(mkevent(result));
	}
	return result;
}

static int result_of(tamed (*f)(event(int)))
{
	running = f;
	return weft_run(run_it, NULL, NULL);
}

static tamed sequential(event(int) done)
{
	int sum = 0, got;

	for (int i = 0; i < 10; i++) {
		twait {
			later(i, mkevent(got));
		}
		sum += got;
	}
	trigger(done, sum);
}

TEST(a_loop_waits_for_one_event_after_the_other)
{
	CHECK_EQ(result_of(sequential), 45);
}

static tamed parallel(event(int) done)
{
	int got[10], sum = 0;

	twait {
		for (int i = 0; i < 10; i++)
			later(i * i, mkevent(got[i]));
	}
	for (int i = 0; i < 10; i++)
		sum += got[i];
	trigger(done, sum);
}

TEST(a_block_waits_for_all_of_its_events)
{
	CHECK_EQ(result_of(parallel), 285);
}

static tamed windowed(event(int) done)
{
	int got[10], sum = 0, next = 0, out = 0, id;
	rendezvous(int) r;

	while (next < 10 || out > 0) {
		if (next < 10 && out < 3) {
			later(next, mkevent(r, next, got[next]));
			next++;
			out++;
			continue;
		}
		twait(r, id);
		out--;
		sum += got[id] * id;
	}
	trigger(done, sum);
}

TEST(a_window_of_events_is_open_at_a_time)
{
	CHECK_EQ(result_of(windowed), 285);
}

static tamed early(event(int) done)
{
	int n = 0;

	for (;;) {
		twait {
			soon(mkevent());
		}
		if (++n == 3)
			continue;
		if (n == 5) {
			trigger(done, n);
			return;
		}
	}
}

TEST(a_tamed_function_can_return_from_within_a_loop)
{
	CHECK_EQ(result_of(early), 5);
}


/* Scopes */

static int shadow = 1000;

static tamed shadows(event(int) done)
{
	int sum = shadow, x = 1;

	{
		int shadow = 1; /* not the one outside */

		twait {
			int x = 5; /* nor is this */

			soon(mkevent());
			sum += x;
		}
		sum += shadow;
		shadow = 7;
		twait {
			soon(mkevent());
		}
		sum += shadow;
	}
	for (int x = 10; x < 12; x++)
		twait {
			later(x, mkevent(sum));
		}
	trigger(done, sum + x + shadow);
}

TEST(names_mean_what_they_mean_in_their_scope)
{
	CHECK_EQ(result_of(shadows), 11 + 1 + 1000);
}

struct pair {
	int x, y;
};

static tamed members(event(int) done)
{
	int x = 3, y = 4;
	struct pair p = { .x = x, .y = y }, *q = &p;

	twait {
		later(x, mkevent(p.y));
		later(y, mkevent(q->x));
	}
	{
		struct pair x = { q->y, p.x };

		twait {
			soon(mkevent());
		}
		y = x.x * 10 + x.y;
	}
	goto x;
x:
	trigger(done, y);
}

TEST(members_and_labels_keep_their_names)
{
	CHECK_EQ(result_of(members), 34);
}

static tamed siblings(event(int) done)
{
	int sum = 0;

	for (int turn = 0; turn < 3; turn++) {
		if (turn == 0) {
			char a[100];

			memset(a, 1, sizeof a);
			twait {
				soon(mkevent());
			}
			sum += a[99];
		} else if (turn == 1) {
			int b[25] = { [24] = 10 };

			twait {
				soon(mkevent());
			}
			sum += b[24] + b[0];
		} else {
			double c = 100, d = turn;

			twait {
				later((int)d, mkevent(sum));
			}
			sum += (int)c;
		}
	}
	trigger(done, sum);
}

TEST(scopes_that_share_memory_do_not_disturb_each_other)
{
	CHECK_EQ(result_of(siblings), 102);
}

static tamed ended_scopes(event(int) done)
{
	int *p, id, sum;
	rendezvous(int) r;

	{
		int slot = 0; /* its event comes when it is out of scope */

		p = &slot;
		later(7, mkevent(r, 1, slot));
	}
	{
		int other = 100;

		twait(r, id);
		sum = *p + other;
	}
	{
		rendezvous(int) inner;

		soon(mkevent(inner, 1));
		twait(inner, id);
	}
	{
		char a[200], *b;

		memset(a, 1, sizeof a);
		b = a;
		twait {
			char a[100];

			memset(a, 2, sizeof a);
			soon(mkevent());
			sum += a[99];
		}
		sum += b[50] + (int)sizeof a;
	}
	trigger(done, sum);
}

TEST(what_events_know_lives_longer_than_its_scope)
{
	CHECK_EQ(result_of(ended_scopes), 7 + 100 + 2 + 1 + 200);
}

/* Control */

static tamed switches(event(int) done)
{
	int sum = 0, i;

	for (i = 0; i < 5; i++) {
		switch (i) {
		case 0:
			twait {
				later(1, mkevent(sum));
			}
			/* fallthrough */
		case 1:
			sum += 10;
			break;
		case 2:
			continue;
		case 3: {
			int k = 100;

			twait {
				soon(mkevent());
			}
			sum += k;
			break;
		}
		default:
			twait {
				soon(mkevent());
			}
			sum += 1000;
		}
		sum += 1;
	}
	trigger(done, sum);
}

TEST(a_switch_can_wait_in_its_cases)
{
	CHECK_EQ(result_of(switches), 1 + 10 + 10 + 100 + 1000 + 4);
}

static tamed loops(event(int) done)
{
	int n = 0, sum = 0;

	do {
		int k = n * 2;

		if (n % 2)
			twait {
				soon(mkevent());
			}
		else
			twait {
				later(n, mkevent(sum));
			}
		sum += k;
	} while (n++ < 4);
	while (n > 0) {
		twait {
			soon(mkevent());
		}
		n--;
		if (n == 1)
			break;
	}
	trigger(done, sum * 10 + n);
}

TEST(loops_of_all_kinds_wait)
{
	CHECK_EQ(result_of(loops), 121);
}

static tamed jumps(event(int) done)
{
	int n = 0, sum = 0;

again:
	twait {
		later(n, mkevent(n));
	}
	if (n >= 3)
		goto out;
	{
		int k = n;

		twait {
			soon(mkevent());
		}
		sum += k;
	}
	n++;
	goto again;
out:
	trigger(done, sum * 10 + n);
}

TEST(goto_goes_back_and_forth_between_waits)
{
	CHECK_EQ(result_of(jumps), 33);
}

static tamed jumps_over(event(int) done)
{
	static volatile int five = 5;
	int n = 0;

	goto start;
again:
	twait {
		soon(mkevent());
	}
	goto end;
start:;
	int later_declared = five;

	n++;
	goto again;
end:
	trigger(done, later_declared * 10 + n);
}

TEST(variables_live_across_a_wait_that_is_jumped_back_to)
{
	CHECK_EQ(result_of(jumps_over), 51);
}

static tamed nested(event(int) done)
{
	int a, b, c;

	twait {
		later(1, mkevent(a));
		twait {
			later(2, mkevent(b));
		}
		twait {
		}
		later(a + b, mkevent(c));
	}
	trigger(done, a + b * 10 + c * 100);
}

TEST(blocks_in_blocks_wait_for_their_own_events)
{
	CHECK_EQ(result_of(nested), 321);
}

static tamed factorial(int n, event(int) done)
{
	int less = 1;

	if (n > 1)
		twait {
			factorial(n - 1, mkevent(less));
		}
	twait {
		soon(mkevent());
	}
	trigger(done, n * less);
}

static tamed recursive(event(int) done)
{
	factorial(6, done);
}

TEST(tamed_functions_call_themselves)
{
	CHECK_EQ(result_of(recursive), 720);
}

/* Kinds of variables */

static int twice(int x)
{
	return 2 * x;
}

enum fruit { APPLE = 3, PEAR };

static tamed kinds(event(int) done)
{
	static int calls;
	const int k = 5;
	const struct pair p = { 1, k };
	int a[] = { 1, 2, 3 }, b[2][2] = { { 1, 2 }, { 3, 4 } }, *end = &a[2];
	char text[] = "four", *const word = text;
	struct {
		int inner;
		union {
			float f;
			int i;
		};
	} s = { .inner = 7, .i = 8 };
	int (*fn)(int) = twice, (*row)[2] = &b[1];
	_Atomic int atomic = 9;
	volatile short v = 10;
	enum fruit fruit = PEAR;
	register int r = 11;
	struct pair list[2] = { [1] = { .y = 12 } }, copy = list[1];
	_Bool flag = 5;
	int compare;

	calls++;
	twait {
		soon(mkevent());
	}
	compare = k == 5 && p.y == 5 && a[0] == 1 && *end == 3 && b[1][0] == 3 &&
		  strcmp(word, "four") == 0 && sizeof text == 5 && s.inner == 7 && s.i == 8 &&
		  fn(2) == 4 && (*row)[1] == 4 && atomic == 9 && v == 10 && fruit == 4 &&
		  r == 11 && copy.y == 12 && flag == 1 &&
		  _Generic(&v, volatile short *: 1, default: 0);
	trigger(done, compare * 10 + calls);
}

TEST(all_kinds_of_variables_live_across_a_wait)
{
	CHECK_EQ(result_of(kinds), 11);
}

typedef int handler(int);

static tamed parameters(const int a, int b[], int c[2][2], handler h, handler *g,
			const char *const s, struct pair p, event(int) done)
{
	twait {
		soon(mkevent());
	}
	trigger(done, a + b[1] + c[1][1] + h(4) + g(5) + (int)strlen(s) + p.y);
}

static tamed give_parameters(event(int) done)
{
	static int b[] = { 1, 2 }, c[2][2] = { { 1, 2 }, { 3, 4 } };

	parameters(1, b, c, twice, twice, "four", (struct pair){ 5, 6 }, done);
}

TEST(parameters_live_across_a_wait)
{
	CHECK_EQ(result_of(give_parameters), 1 + 2 + 4 + 8 + 10 + 4 + 6);
}

static tamed give_small(char c, float f, short s, _Bool b, event(char, float, short, _Bool) e)
{
	twait {
		soon(mkevent());
	}
	trigger(e, c, f, s, b);
}

static tamed small(event(int) done)
{
	char c;
	float f;
	short s;
	_Bool b;

	twait {
		give_small('a', 0.5f, -3, 1, mkevent(c, f, s, b));
	}
	trigger(done, c == 'a' && f == 0.5f && s == -3 && b);
}

TEST(values_that_other_functions_would_promote_arrive)
{
	CHECK_EQ(result_of(small), 1);
}

static tamed local_types(event(int) done)
{
	enum { ONE = 1, TWO };
	typedef struct {
		int x;
	} point;
	struct list {
		struct list *next;
		point at;
	} first = { .at = { ONE } }, second = { &first, { TWO } };
	enum color { RED = 5 } color = RED;
	struct later *l = NULL;

	twait {
		point p = { 3 };
		struct pair {
			char only;
		} shadowing = { 4 };

		later(p.x + shadowing.only + (int)sizeof(struct pair), mkevent(first.at.x));
	}
	{
		typedef long point;
		point p = (point)second.at.x;

		twait {
			soon(mkevent());
		}
		trigger(done, (int)p + second.next->at.x * 10 + color * 1000 + (l == NULL));
	}
}

TEST(types_may_be_local_to_a_tamed_function)
{
	CHECK_EQ(result_of(local_types), 2 + 80 + 5000 + 1);
}

/* Rendezvous */

struct name {
	char text[12];
	int number;
};

static tamed names(event(int) done)
{
	rendezvous(struct name) by_struct;
	rendezvous(double) by_double;
	rendezvous(const char *) by_pointer;
	rendezvous(enum fruit) by_enum;
	struct name n;
	double d;
	const char *p;
	enum fruit e;
	int sum = 0, x;

	soon(mkevent(by_struct, ((struct name){ "seven", 7 })));
	twait(by_struct, n);
	sum += n.number + (int)strlen(n.text);
	later(2, mkevent(by_double, 2.5, x));
	twait(by_double, d);
	sum += (int)(d * x * 10);
	soon(mkevent(by_pointer, n.text + 1));
	twait(by_pointer, p);
	sum += *p == 'e';
	soon(mkevent(by_enum, PEAR));
	twait(by_enum, e);
	trigger(done, sum + e * 100);
}

TEST(events_are_named_by_values_of_any_type)
{
	CHECK_EQ(result_of(names), 7 + 5 + 50 + 1 + 400);
}

static tamed many_rendezvous(event(int) done)
{
	rendezvous(int) row[3];
	struct {
		int before;
		rendezvous() inner[2];
	} s;
	int sum = 0, id, x;

	s.before = 3;
	for (int i = 0; i < 3; i++)
		later(i, mkevent(row[i], 10 * i, x));
	soon(mkevent(s.inner[1]));
	for (int i = 2; i >= 0; i--) {
		twait(row[i], id);
		sum += id;
	}
	twait(s.inner[1]);
	trigger(done, sum + s.before);
}

TEST(rendezvous_in_arrays_and_structs_are_begun_and_ended)
{
	CHECK_EQ(result_of(many_rendezvous), 33);
}

static tamed triggers_foreign(rendezvous(int) *r, int *sum)
{
	int slot = 0;

	later(5, mkevent(*r, 1, slot));
	twait {
		soon(mkevent());
		soon(mkevent());
	}
	*sum += slot;
	later(6, mkevent(*r, 2, *sum));
}

static tamed foreign(event(int) done)
{
	rendezvous(int) r;
	int id, ids = 0, sum = 0;

	triggers_foreign(&r, &sum);
	twait(r, id);
	ids = id;
	while (sum == 0)
		twait {
			soon(mkevent());
		}
	twait(r, id);
	trigger(done, ids * 100 + id * 10 + sum);
}

TEST(events_of_another_functions_rendezvous_have_their_slots)
{
	CHECK_EQ(result_of(foreign), 126);
}

static tamed cancels(event(int) done)
{
	rendezvous(int) r;
	int slot = 1, id;

	later(5, mkevent(r, 1, slot));
	soon(mkevent(r, 2));
	twait(r, id);
	rv_cancel(r);
	twait {
		soon(mkevent());
	}
	for (int i = 0; i < 3; i++) {
		rendezvous(int) again;

		soon(mkevent(again, i));
		twait(again, id);
	}
	trigger(done, slot * 10 + id);
}

TEST(no_slot_changes_after_a_cancel)
{
	CHECK_EQ(result_of(cancels), 52);
}

/* Macros */

#define ADD_TO(sum, x) ((sum) += (x))
#define DO(statement) \
	do { \
		statement; \
	} while (0)

static tamed in_macros(event(int) done)
{
	int sum = 1, got;

	twait {
		DO(later(3, mkevent(got)));
	}
	ADD_TO(sum, got);
	DO(twait { later(sum, mkevent(got)); });
	trigger(done, ADD_TO(sum, got));
}

TEST(arguments_of_macros_are_translated)
{
	CHECK_EQ(result_of(in_macros), 8);
}

/* Threads */

static threaded int waits_on_a_stack(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		rendezvous(int) r;
		int id;

		twait {
			int inner;

			later(i, mkevent(inner));
			twait {
				for (int k = 0; k < 2; k++)
					later(k, mkevent(sum));
			}
		}
		later(7, mkevent(r, i, sum));
		twait(r, id);
		if (id == 2)
			return sum + id;
	}
	return -1;
}

static threaded int run_threaded(void *arg)
{
	return waits_on_a_stack((int)(intptr_t)arg);
}

TEST(threaded_functions_wait_and_return_values)
{
	CHECK_EQ(weft_run(run_threaded, (void *)(intptr_t)4, NULL), 9);
	CHECK_EQ(weft_run(run_threaded, (void *)(intptr_t)1, NULL), -1);
}

static int add(int a, long b, const char *text)
{
	return a + (int)b + (int)strlen(text);
}

static void set_five(int *where)
{
	*where = 5;
}

static threaded long on_thread(int n)
{
	int got;

	twait {
		later(n, mkevent(got));
	}
	return got * 10L;
}

static tamed forks(event(int) done)
{
	int a, b = 0, c;
	long d;
	int (*pointer)(int) = twice;

	twait {
		tfork(mkevent(a), add(1, 2, "four"));
		tfork(mkevent(), set_five(&b));
		tfork(mkevent(c), pointer(4));
		tfork(mkevent(d), on_thread(3));
	}
	trigger(done, a + b * 10 + c * 100 + (int)d * 1000);
}

TEST(tfork_gives_what_a_function_returned)
{
	CHECK_EQ(result_of(forks), 7 + 50 + 800 + 30000);
}

TEST_MAIN
