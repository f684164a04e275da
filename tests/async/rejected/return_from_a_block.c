/* gcc says: 'return' with a value, in function returning void */
/* clang says: cannot return from OpenMP region */
/* c++ says: return-statement with a value|should not return a value */
/* wrong: -DWRONG -Werror=return-type */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		weft_async
		{
			x++;
#ifdef WRONG
			return 5;
#endif
		};
	}
	return x;
}
