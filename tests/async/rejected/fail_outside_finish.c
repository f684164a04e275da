/* says: weft_cancel_without_a_name_must_stand_in_a_weft_finish_ */
#include <weft/scope.h>

int main(void)
{
	weft_finish () {
		weft_fail(-1);
	}
#ifdef WRONG
	weft_fail(-1);
#endif
	return 0;
}
