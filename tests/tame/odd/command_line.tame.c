/* What the command line defines and includes. */
/* flags: -DVALUE=4 -DTAMED=tamed -Dnumber=int -include tests/tame/odd/forced.inc -UFOO */
#include "odd.h"

#include <weft/tame.h>

static TAMED from_the_command_line(event(number) done)
{
	number got = VALUE, other;

	FORCED_AWAIT(later(got + FORCED, mkevent(other)))
#ifndef FOO
	trigger(done, other + forced * 10);
#endif
}
ODD(from_the_command_line, 69)
