/* A file whose lines end with carriage returns. */
/* flags: -Wno-comment */
#include "odd.h"

#include <weft/tame.h>

#define AWAIT(e) \
	twait { \
		e; \
	}

static tamed crlf(event(int) done)
{
	int got, x = 3;
	const char *text = "a\
b";

	twait {
		later(__LINE__ + \
		      x, mkevent(got));
	}
	AWAIT(later(got + 1,
		    mkevent(got)))
	// a comment \
	got = 0;
	trigger(done, got + (int)strlen(text) * 100);
}
ODD(crlf, 23 + 200)
