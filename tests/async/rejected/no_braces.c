/* c says: weft_put_braces_around_weft_async_ */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
#ifdef WRONG
		if (x == 0)
			weft_async
			{
				x++;
			};
#else
		if (x == 0) {
			weft_async
			{
				x++;
			};
		}
#endif
	}
	return x;
}
