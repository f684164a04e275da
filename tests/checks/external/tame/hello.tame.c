/* Somebody else's program, with tamed functions. */
#include "greeting.h"

#include <stdio.h>

#include <weft/tame.h>
#include <weft/tame_events.h>
#include <weft/weft.h>

static tamed greet(int times, event(int) done)
{
	int said = 0;

	while (said < times) {
		twait {
			weft_sleep_ev(1000, mkevent());
		}
		printf("%s %s %d\n", GREETING, NAME, ++said);
	}
	trigger(done, said);
}

static threaded int app(void *unused)
{
	int said;

	(void)unused;
	twait {
		greet(2, mkevent(said));
	}
	return said - 2;
}

int main(void)
{
	return weft_run(app, NULL, NULL) != 0;
}
