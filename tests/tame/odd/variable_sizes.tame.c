/* What has no constant size may live between waits. */
/* flags: -Wno-vla */
#include "odd.h"

#include <weft/tame.h>

static tamed between_waits(int n, event(int) done)
{
	int got, sum = 0;

	twait {
		later(n, mkevent(n));
	}
	for (int i = 1; i <= n; i++) {
		{
			int list[i], (*pointer)[i] = &list;

			for (int k = 0; k < i; k++)
				(*pointer)[k] = k;
			sum += list[i - 1] + (int)sizeof list * 100;
		}
		twait {
			later(sum, mkevent(got));
		}
		sum = got;
	}
	trigger(done, sum);
}

static tamed variable_sizes(event(int) done)
{
	between_waits(3, done);
}
ODD(variable_sizes, 3 + 2400)

static int row_sum(int n, int rows[n][n])
{
	return rows[n - 1][n - 1];
}

static tamed in_calls(event(int) done)
{
	int list[2][2] = { { 1, 2 }, { 3, 4 } }, n = 2, got;

	twait {
		later(row_sum(n, list), mkevent(got));
	}
	trigger(done, got + (int)sizeof(int[n]));
}
ODD(in_calls, 12)
