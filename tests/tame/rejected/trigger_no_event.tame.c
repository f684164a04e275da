#include <weft/tame.h>

struct pair {
	int x, y;
};

void f(int i, char *p, struct pair s)
{
	trigger(i); /* error:2: what is triggered is not an event */
	trigger(p, 1); /* error:2: what is triggered is not an event */
	trigger(s); /* error:2: what is triggered is not an event */
}
