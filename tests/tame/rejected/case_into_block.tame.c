#include <weft/tame.h>

tamed f(int n)
{
	switch (n) {
	case 0:
		twait {
		case 1: /* error:3: 'case' jumps into a twait block */
			trigger(mkevent());
		}
	}
}
