#include <weft/weft.h>

void ask(int number);

void f(void)
{
	twait { /* error:2: 'twait' is not known: put '#include <weft/tame.h>' at the beginning */
		ask(1);
	}
}
