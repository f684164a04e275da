/* right or refused */
/* Keywords that old code defines away. */
#include "odd.h"

#include <weft/tame.h>

#define inline
#define restrict
#define register
#define static
#undef NULL
#define NULL 0

tamed odd_keywords_gone(const char *restrict text, event(int) done)
{
	register int n = 1;
	const int two = 2;
	char *p = NULL;

	twait {
		later(two, mkevent(n));
	}
	trigger(done, n + (int)strlen(text) * 10 + (p == NULL) * 100);
}

static tamed without_keywords(event(int) done)
{
	odd_keywords_gone("abc", done);
}
ODD(without_keywords, 132)
