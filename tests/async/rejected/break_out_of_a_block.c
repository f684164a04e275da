/* gcc says: break statement not within loop or switch */
/* clang says: 'break' statement not in loop or switch statement */
/* c++ says: 'break'|break statement not within loop or switch */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		for (int i = 0; i < 3; i++) {
			weft_async
			{
				x++;
#ifdef WRONG
				break;
#endif
			};
		}
	}
	return x;
}
