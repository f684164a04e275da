/* A program for tests/checks/gdb: tamed functions that wait for each other, and a thread that
 * waits for the last of them. */
#include <stdlib.h>

#include <weft/tame.h>
#include <weft/tame_events.h>
#include <weft/weft.h>

#define FRAME __attribute__((noinline))

struct request {
	const char *name;
	event(int) answer;
};

static int x = 1000;

FRAME static void all_wait(void)
{
	abort();
}

static tamed leaf(int number, event(int) done)
{
	int x = 2 * number;

	x += 1; /* here */
	twait {
		weft_sleep_ev(1000000000000, mkevent());
	}
	trigger(done, x + number);
}

static tamed middle(struct request request)
{
	rendezvous(int) r;
	int got, id;

	leaf(7, mkevent(r, 1, got));
	twait(r, id);
	trigger(request.answer, got + id);
}

static tamed outer(int count, event(int) done)
{
	int got[3];

	twait {
		for (int i = 0; i < count; i++)
			middle((struct request){ "first", mkevent(got[i]) });
	}
	trigger(done, got[0] + x);
}

static tamed last(event() done)
{
	char large[20000];

	large[0] = 'a';
	twait {
		weft_sleep_ev(1000, mkevent());
	}
	all_wait();
	large[1] = large[0];
	trigger(done);
}

static threaded int app(void *unused)
{
	int got;

	(void)unused;
	twait {
		outer(1, mkevent(got));
		last(mkevent());
	}
	return got;
}

int main(void)
{
	weft_options options = { .workers = 1 };

	return weft_run(app, NULL, &options);
}
