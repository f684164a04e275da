/* stacks.c - the size of a stack, and how much of it was used. */
#include <stdio.h>

#include <weft/weft.h>

enum { KIB = 1024 };

static int deep(void *arg)
{
	volatile char buf[300 * KIB];

	for (size_t i = 0; i < sizeof buf; i += KIB)
		buf[i] = 1;
	weft_yield();
	return *(int *)arg + buf[0] - 1;
}

static int app(void *unused)
{
	weft_thread_attr attr = { .name = "deep", .stack_size = 400 * KIB };
	weft_stats_all all;
	weft_thread *t;
	int in = 42, out = 0;

	(void)unused;
	if (weft_thread_start(&t, &attr, deep, &in) < 0)
		return -1;
	weft_yield(); /* now it is in the midst */
	weft_stats(&all, NULL, 0);
	printf("a usual stack has room for more than 180 KiB: %s\n",
	       all.stack_room > 180 * KIB ? "yes" : "no");
	printf("the deepest was used for more than 300 KiB: %s\n",
	       all.stack_most > 300 * KIB ? "yes" : "no");
	weft_join(t, &out);
	return out == 42 ? 0 : -1;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
