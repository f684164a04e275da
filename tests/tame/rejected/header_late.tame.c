static int event(int number), mkevent(int number);
static tamed ask(int number); /* error:8: 'tamed' is not known yet: .* comes later; put it in front */

#include <weft/tame.h>

static tamed ask(int number)
{
	(void)number;
}
