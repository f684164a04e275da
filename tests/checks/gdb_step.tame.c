/* A program for tests/checks/gdb, which steps through one of many closures of `visit`. It finds the lines
 * by their comments. */
#include <stdio.h>

#include <weft/tame.h>
#include <weft/tame_events.h>
#include <weft/weft.h>

enum { MANY = 1200 };

static tamed visit(int number, event(int) done)
{
	int doubled = 2 * number, total = 0;
	const char *name = "visitor";
	rendezvous(int) r;
	int id;

	twait {
		weft_sleep_ev(WEFT_MS, mkevent());
	}
	total += doubled; /* after the first */
	for (int i = 0; i < 2; i++) {
		int number = 10 + i;

		twait {
			weft_sleep_ev(WEFT_MS, mkevent());
		} /* second wait */
		total += number; /* after the second */
	}
	weft_sleep_ev(WEFT_MS, mkevent(r, 5));
	twait(r, id); /* third wait */
	total += id;  /* after the third */
	trigger(done, total + (name[0] == 'x'));
}

static tamed group(event(int) done)
{
	int total[MANY], sum = 0;

	twait {
		for (int i = 0; i < MANY; i++)
			visit(i, mkevent(total[i]));
	} /* for all */
	for (int i = 0; i < MANY; i++)
		sum += total[i];
	trigger(done, sum);
}

static event() kept;

static tamed lonely(event() done)
{
	twait {
		kept = mkevent();
	} /* in vain */
	trigger(done);
}

static threaded int app(void *unused)
{
	int sum;

	(void)unused;
	twait {
		group(mkevent(sum));
	}
	printf("sum %d\n", sum);
	fflush(stdout);
	lonely(weft_tame_nobody());
	return 0;
}

int main(void)
{
	weft_options options = { .workers = 1 };

	return weft_run(app, NULL, &options);
}
