/* says: expected */
#include <weft/scope.h>

#ifdef __cplusplus
template <int number, int line> int code()
{
	return number + line;
}
#define CODE code<-5, 1>()
#else
struct code {
	int number, line;
};
#define CODE (struct code){ -5, 1 }.number
#endif

int main(void)
{
	weft_finish (q) {
		weft_fail((CODE));
		weft_fail(q, (CODE));
		weft_deadline((CODE));
		weft_deadline(q, (CODE));
#ifdef WRONG
		weft_fail(CODE);
#endif
	}
	return 0;
}
