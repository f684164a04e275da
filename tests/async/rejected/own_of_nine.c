/* says: weft_async_own_takes_at_most_8_variables_ */
#include <weft/scope.h>

int main(void)
{
	int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, sum = 0;

	weft_finish (q) {
#ifdef WRONG
		weft_async_own (a, b, c, d, e, f, g, h, i) {
#else
		weft_async_own (a, b, c, d, e, f, g, h) {
#endif
			sum += a + b + c + d + e + f + g + h + i;
		};
	}
	return sum;
}
