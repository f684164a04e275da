/* gcc says: label 'out' used but not defined */
/* clang says: use of undeclared label 'out' */
/* c++ says: label 'out' used but not defined|use of undeclared label 'out' */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		weft_async
		{
			if (++x > 5)
#ifdef WRONG
				goto out;
#else
				x = 0;
#endif
		};
	}
	if (x == 0)
		goto out;
	x--;
out:
	return x;
}
