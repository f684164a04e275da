/* The short words mean what the long ones do, and can be taken back. */
#include "async/blocks.h"

#include <weft/sugar.h>

BLOCK_TEST(short_words_do_what_the_long_ones_do)
{
	int sum = 0, shielded = 1, rc = 0;

	finish(q, &rc)
	{
		for (int i = 0; i < 3; i++) {
			async_own(i)
			{
				weft_yield();
				sum += i;
			};
		}
		finish(inner)
		{
			deadline(inner, 60000);
			async
			{
				weft_sleep(WEFT_FOREVER / 2);
				sum += 10;
				if (cancelled())
					sum += 100;
				shield
				{
					shielded = cancelled();
				}
			};
			cancel(inner);
		}
		fail(q, -5);
	}
	CHECK_EQ(sum, 113);
	CHECK_EQ(shielded, 0);
	CHECK_EQ(rc, -5);
	return 0;
}

#include <weft/unsugar.h>

/* These are nobody's words now. */
static int finish(int async, int cancel)
{
	int shield = async + cancel, fail = 1, deadline = 2, cancelled = 3, async_own = 4;

	return shield + fail + deadline + cancelled + async_own;
}

TEST(taken_back_they_are_free)
{
	CHECK_EQ(finish(10, 20), 40);
}

TEST_MAIN
