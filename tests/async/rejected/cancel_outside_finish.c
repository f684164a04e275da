/* says: weft_cancel_without_a_name_must_stand_in_a_weft_finish_ */
#include <weft/scope.h>

int main(void)
{
	weft_finish (q) {
		weft_cancel();
	}
#ifdef WRONG
	weft_cancel();
#endif
	return 0;
}
