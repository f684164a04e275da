#include <weft/tame.h>

threaded int g(int n);
tamed f(event(int) e)
{
	trigger(e, g(3)); /* error:13: 'g' is 'threaded': called from the tamed function 'f' it would block the event loop */
}
