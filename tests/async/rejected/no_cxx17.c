/* c++ says: need C[+][+]17 */
/* wrong: -std=c++14 */
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
	return x;
}
