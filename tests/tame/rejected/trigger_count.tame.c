#include <weft/tame.h>

tamed f(event(int) e)
{
	trigger(e, 1, 2); /* error:16: 'trigger' gives 2 values to an event that has 1: give it as many */
	trigger(e); /* error:2: 'trigger' gives 0 values to an event that has 1: give it as many */
	f(e, e);	  /* error:7: too many arguments to function call, expected single argument */
}
