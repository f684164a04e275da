#include <weft/tame.h>

tamed f(int n)
{
	while (n) {
		twait {
			trigger(mkevent());
			break; /* error:4: 'break' leaves a twait block while its events are outstanding */
		}
	}
}
