/* c says: weft_put_braces_around_weft_async_ */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
#ifdef WRONG
		while (x == 0)
			weft_async_own (x) {
				x++;
			};
#else
		while (x++ == 0) {
			weft_async_own (x) {
				x++;
			};
		}
#endif
	}
	return x;
}
