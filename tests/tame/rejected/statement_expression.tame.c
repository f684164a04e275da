#include <weft/tame.h>

tamed f(int n)
{
	n = ({
		twait { /* error:3: 'twait' inside a statement expression */
			trigger(mkevent());
		}
		3;
	});
}
