/* An array that begins as a compound literal. */
#include "odd.h"
#include <weft/tame.h>

static tamed array_from_literal(event(int) done)
{
	int a[3] = (int[3]){ 1, 2, 3 };
	char s[] = ("abc");
	int n; twait { later(1, mkevent(n)); }
	trigger(done, a[0] + a[1] + a[2] + s[1] + (int)sizeof s);
}
ODD(array_from_literal, 6 + 98 + 4)
