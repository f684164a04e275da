/* says: 'other'.* undeclared|undeclared identifier 'other'|'other' was not declared */
#include <weft/scope.h>

int main(void)
{
	weft_finish (q) {
		weft_cancel(q);
#ifdef WRONG
		weft_cancel(other);
#endif
	}
	return 0;
}
