/* hello.c - four squares on as many cores, added up without a lock. */
#include <stdio.h>

#include <weft/weft.h>

static int sum; /* touched in WEFT_MAIN only, so it needs no lock */

static void add(void *number)
{
	sum += *(int *)number;
}

static void square(void *number) /* in a color of its own: on any core */
{
	*(int *)number *= *(int *)number;
	weft_post(WEFT_MAIN, add, number);
}

static int app(void *numbers)
{
	for (int i = 0; i < 4; i++)
		weft_post(weft_color_new(), square, (int *)numbers + i);
	return 0;
}

int main(void)
{
	int numbers[] = { 1, 2, 3, 4 };
	int rc = weft_run(app, numbers, NULL);

	if (rc < 0)
		return 1;
	printf("the sum of the squares is %d\n", sum);
	return 0;
}
