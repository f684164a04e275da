/* says: weft_cancel_without_a_name_must_stand_in_a_weft_finish_ */
#include <weft/scope.h>

int main(void)
{
	weft_shield
	{
		weft_deadline(3);
	}
#ifdef WRONG
	weft_deadline(3);
#endif
	return 0;
}
