/* c says: weft_async needs -fopenmp when compiling */
/* wrong: -fno-openmp */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		weft_async
		{
			x++;
		};
		weft_async_own (x) {
			(void)x;
		};
	}
	return x;
}
