/* A bit-field is no slot. */
#include "odd.h"

#include <weft/tame.h>

struct bits {
	int b : 3;
};
#define FIELD(s) (s)->b
#define SLOT(s) mkevent((s)->b)

tamed slots(struct bits *s, event(int) done)
{
	twait {
		later(1, mkevent(FIELD(s))); /* error:: .*bit-field */
		later(2, SLOT(s)); /* error:: .*bit-field */
	}
	trigger(done, s->b);
}
