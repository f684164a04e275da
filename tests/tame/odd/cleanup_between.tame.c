/* Variables with a cleanup function that live between waits. */
#include "odd.h"

#include <weft/tame.h>

static int cleaned;

static void clean(int *x)
{
	cleaned += *x;
}

#define CLEANED __attribute__((cleanup(clean))) int

static int cleans(int n)
{
	CLEANED x = n;

	return x + 1;
}

static tamed between_waits(event(int) done)
{
	int got, sum = 0;

	for (int i = 1; i < 4; i++) {
		twait {
			later(cleans(i), mkevent(got));
		}
		{
			CLEANED x = got * 10, y = 100;

			if (i == 2)
				continue;
			sum += x + y;
		}
	}
	trigger(done, cleaned + sum * 1000);
}
ODD(between_waits, 6 + 90 + 300 + 260000)
