#include <weft/tame.h>

tamed f(void)
{
	twait {
		goto out; /* error:3: 'goto' leaves a twait block while its events are outstanding */
	}
out:
	return;
}
