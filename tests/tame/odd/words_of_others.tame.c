/* Macros named like what comes with weft/tame.h but is no word, and words in text. */
#include "odd.h"

#include <weft/tame.h>

#define timeout 30
#define color "blue"
#define waits 4
#define done_ done
#define closure 5
#define body {
#define state 6

static tamed uses_them(event(int) done_)
{
	int got, timeouts = timeout;
	const char *words = "twait { mkevent(x) } tamed trigger(" color;

	twait {
		later(waits, mkevent(got)); /* twait { later(1, mkevent(got)); } */
	}
	if (got == waits) body
		twait { soon(mkevent()); } // twait { mkevent(
	}
	trigger(done_, got + timeouts + closure + state + (int)strlen(words) * 100);
}
ODD(uses_them, 45 + 3900)
