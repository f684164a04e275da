#include <weft/tame.h>

#define DECLARE(type, name) type name;
#define EACH(i, n) for (int i = 0; i < (n); i++)
tamed f(int n)
{
	DECLARE(int, x) /* error:15: variable 'x' lives across a wait, but is declared by the macro 'DECLARE' */

	x = n;
	EACH(i, n) /* error:7: variable 'i' lives across a wait, but is declared by the macro 'EACH' */
		twait {
			trigger(mkevent());
		}
	(void)x;
}
