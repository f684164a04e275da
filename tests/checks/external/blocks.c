/* blocks.c - somebody else's program: two blocks and a cancel. */
#include <stdio.h>

#include <weft/weft.h>

static int app(void *unused)
{
	int first = 0;

	(void)unused;
	weft_finish (q) {
		for (int i = 1; i <= 2; i++) {
			weft_async_own (i) {
				if (weft_sleep((i == 1 ? 1 : 3600000) * WEFT_MS) == 0) {
					first = i;
					weft_cancel(q);
				}
			};
		}
	}
	printf("block %d from weft\n", first);
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
