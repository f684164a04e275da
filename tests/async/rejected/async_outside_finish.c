/* says: weft_async_must_stand_ */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		weft_async
		{
			x++;
		};
	}
#ifdef WRONG
	weft_async
	{
		x++;
	};
#endif
	return x;
}
