/* Compound literals in the heads of loops and in statement expressions. */
#include "odd.h"

#include <weft/tame.h>

struct counter {
	int at, end;
};

static int next(struct counter *c)
{
	return c->at < c->end ? ++c->at : 0;
}

static tamed in_a_head(event(int) done)
{
	int sum = 0, got;

	for (int *p = (int[]){ 1, 2, 3, 0 }; *p != 0; p++)
		twait {
			sum_later(p, 2, mkevent(got));
		}
	for (struct counter *c = &(struct counter){ .end = 3 }; next(c);) {
		twait {
			later(c->at, mkevent(got));
		}
		sum = sum * 10 + got;
	}
	trigger(done, sum + got * 1000);
}
ODD(in_a_head, 123 + 3000)

static tamed anew_in_a_condition(event(int) done)
{
	int n = 0, *p;

	while ((p = (int[]){ n, 5 })[0] < 3) {
		twait {
			sum_later(p, 2, mkevent(n));
		}
		n -= 4;
	}
	do
		twait {
			sum_later((int[]){ n, n }, 2, mkevent(n));
		}
	while (n < *(int[]){ 20 });
	trigger(done, n);
}
ODD(anew_in_a_condition, 24)

static tamed in_statement_expressions(event(int) done)
{
	int x, y, n = 2;

	twait {
		int z = ({
			later(n, mkevent(x));
			n + 1;
		});

		later(({
			      int *p = (int[]){ z, 4 };

			      p[0] + p[1];
		      }),
		      mkevent(y));
	}
	n = ({
		struct counter *c = &(struct counter){ x, y };

		c->at * 10 + c->end;
	});
	trigger(done, n);
}
ODD(in_statement_expressions, 27)

static tamed keeps(const struct counter *c, const int *list, event(int) done)
{
	int got;

	twait {
		sum_later(list, 2, mkevent(got));
	}
	twait {
		soon(mkevent());
	}
	trigger(done, got + c->end * 10 + list[1] * 100);
}

static tamed for_tamed_functions(event(int) done)
{
	int a, b, i = 1;

	twait {
		keeps(&(struct counter){ .end = i }, (int[]){ i, i + 1 }, mkevent(a));
		i++;
		keeps(&(struct counter){ .end = i }, (int[]){ i, i + 1 }, mkevent(b));
		i++;
	}
	trigger(done, a + b * 1000 + i * 1000000);
}
ODD(for_tamed_functions, 213 + 325000 + 3000000)

static tamed many_times(event(int) done)
{
	int sum = 0, got[3];

	for (int i = 0; i < 3; i++) {
		twait {
			for (int k = 0; k < 3; k++) {
				twait {
					sum_later((int[]){ i, k }, 2, mkevent(got[k]));
				}
			}
			pair_later(&(struct odd_pair){ got[0], got[1] }, mkevent(got[2]));
		}
		sum += got[2];
	}
	trigger(done, sum);
}
ODD(many_times, 1 + 12 + 23)
