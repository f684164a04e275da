#include <weft/tame.h>

tamed g(event() e);
#define WAIT(statement) \
	twait { \
		statement; \
	}
tamed f(void)
{
	WAIT((void)0); /* error:2: 'twait' in the body of the macro 'WAIT' */
}
