#include <weft/tame.h>

tamed f(int n)
{
	while (n)
		twait {
			switch (n) {
			case 1:
				continue; /* error:5: 'continue' leaves a twait block while its events are outstanding */
			default:
				break;
			}
		}
}
