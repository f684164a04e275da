/* says: weft_async_own copies no arrays */
#include <weft/scope.h>

int main(void)
{
	int x[2] = { 0, 0 }, y = 1;

	weft_finish (q) {
#ifdef WRONG
		weft_async_own (x, y) {
#else
		weft_async_own (y) {
#endif
			x[0] += y;
		};
	}
	return x[0];
}
