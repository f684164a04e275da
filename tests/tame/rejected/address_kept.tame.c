#include <weft/tame.h>

struct list {
	int *first;
	struct list *next;
};
tamed g(int *p, event() e);
void note(int *p);

tamed in_variable(event() done)
{
	int *kept = NULL;

	twait {
		int x = 3;

		kept = &x; /* warning:11: 'x' goes out of scope before line 20, .* kept in 'kept': declare 'x' in */
		g(kept, mkevent());
	}
	note(kept);
	trigger(done);
}

tamed in_members(struct list *l, event() done)
{
	struct list mine = { 0 };

	twait {
		int x[3] = { 0 };

		l->first = x; /* warning:14: 'x' goes out of scope before line 34, .* kept in 'l->first': */
		mine.first = &x[2]; /* warning:17: 'x' goes out of scope before line 36, .* 'mine.first' */
	}
	note(l->first);
	if (mine.first != NULL)
		note(mine.first);
	trigger(done);
}

tamed in_loop(int n, event() done)
{
	twait {
		int *last = NULL;

		for (int i = 0; i < n; i++) {
			g(&i, mkevent()); /* warning:6: 'i' goes out of scope .*: declare 'i' in front of */
			last = &i; /* warning:12: 'i' goes out of scope before line 49, .* kept in 'last' */
		}
		g(last, mkevent());
	}
	trigger(done);
}

/* Nothing is wrong with these, or it cannot be known. */

tamed reset(struct list *l, event() done)
{
	int *kept = NULL, *other = NULL, y = 0;

	twait {
		int x = 3;

		kept = &x;
		other = &x;
		g(kept, mkevent());
		l->first = &x;
		l->next = &(struct list){ 0 };
		other = NULL;
	}
	if (kept == NULL || l->first == NULL)
		note(NULL);
	kept = &y;
	l->first = &y;
	note(kept);
	note(l->first);
	note(other);
	trigger(done);
}

tamed value(int n, event() done)
{
	int sum = 0, *p = &sum;

	twait {
		int x = n, *q = &x, *r = q;

		p[0] = x;
		sum = *r;
		*p = *&x;
		g(q, mkevent());
	}
	note(p);
	note(&sum);
	trigger(done);
}
