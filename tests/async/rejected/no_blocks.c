/* c says: use weft_async_call */
/* wrong: -DWEFT_NO_BLOCKS */
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
