/* right or refused */
/* A type of the C library that gcc and clang have in two ways. */
#include "odd.h"

#include <stdatomic.h>

#include <weft/tame.h>

static tamed flag(event(int) done)
{
	atomic_flag flag = ATOMIC_FLAG_INIT;
	int first = atomic_flag_test_and_set(&flag);

	twait {
		soon(mkevent());
	}
	trigger(done, first + atomic_flag_test_and_set(&flag) * 10);
}
ODD(flag, 10)
