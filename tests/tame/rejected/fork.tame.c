#include <weft/tame.h>

int call(int n);
tamed tame(int n);
#define CALL(n) call(n)
tamed f(void)
{
	long x;
	int y;

	twait {
		tfork(mkevent(x), call(3)); /* error:9: tfork of a call that returns 'int' needs an event(int) */
		tfork(mkevent(), tame(3)); /* error:20: 'tame' is 'tamed' and does not block: call it without */
		tfork(mkevent(y), CALL(3));
		tfork(mkevent(y), 3); /* error:21: expected 'tfork(event, function(arguments))' */
		tfork(y, call(3)); /* error:9: 'y' is not an event */
	}
}
