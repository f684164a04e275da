#include <weft/tame.h>

tamed f(event() e)
{
	int x = 1;

	trefused (err) { /* error:2: 'trefused' must be the first statement of the function */
		trigger(e);
	}
	(void)x;
	trigger(e);
}

threaded int g(event() e)
{
	trefused (err) { /* error:2: 'trefused' in a function that is not 'tamed' */
		trigger(e);
	}
	trigger(e);
	return 1;
}

tamed h(event() e)
{
	trefused (err) {
		twait { /* error:3: 'twait' in a trefused block, which has no closure: only trigger */
			trigger(e);
		}
	}
	trigger(e);
}
