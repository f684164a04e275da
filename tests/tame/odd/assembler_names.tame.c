/* right or refused */
/* Names for the assembler, and variables in registers. */
#include "odd.h"

#include <weft/tame.h>

static tamed renamed(int n, event(int) done) __asm__("odd_renamed_function");
static tamed renamed(int n, event(int) done)
{
	register int x __asm__("ebx") = n;

	twait {
		soon(mkevent());
	}
	trigger(done, x);
}

static tamed by_assembler(event(int) done)
{
	renamed(4, done);
}
ODD(by_assembler, 4)
