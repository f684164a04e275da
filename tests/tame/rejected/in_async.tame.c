#define _OPENMP 201511
#include <weft/tame.h>
#include <weft/weft.h>

tamed g(event() e);
threaded int f(int n)
{
	weft_finish (scope) {
		weft_async {
			twait { /* error:4: 'twait' inside weft_async: call a threaded function there */
				g(mkevent());
			}
		};
	}
	return n;
}
