#include <weft/tame.h>

tamed f(event(int) e)
{
	trigger(e, 1, 2); /* error:16: too many arguments to function call, expected 2, have 3 */
}
