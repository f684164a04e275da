/* gcc says: weft_async_in_weft_async_needs_its_own_weft_finish_ */
/* clang says: weft_async_must_stand_directly_in_a_weft_finish_ */
/* c++ says: weft_async_in_weft_async_needs_its_own_weft_finish_ */
#include <weft/scope.h>

int main(void)
{
	int x = 0;

	weft_finish (q) {
		weft_async{
#ifndef WRONG
			weft_finish (inner)
#endif
				{ weft_async{ x++;
	};
}
}
;
}
return x;
}
