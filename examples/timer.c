/* timer.c - timers fire as events in a color; cancelling one is exact. */
#include <stdio.h>

#include <weft/weft.h>

static weft_timer tick, never;

static void last(void *text)
{
	puts(text);
	/* 0: it did not fire, will not fire, and its memory is ours again. */
	printf("cancel says %d\n", weft_timer_cancel(&never));
}

static void on_tick(void *arg)
{
	int *count = arg;

	printf("tick %d\n", ++*count);
	if (*count < 3)
		return;
	weft_timer_cancel(&tick);
	weft_after(5 * WEFT_MS, WEFT_MAIN, last, (void *)"five milliseconds later");
}

static void too_late(void *arg)
{
	(void)arg;
	puts("an hour has passed");
}

static int app(void *arg)
{
	weft_timer_init(&never, WEFT_MAIN, too_late, NULL);
	weft_timer_start(&never, 3600 * WEFT_SEC);
	weft_timer_init(&tick, WEFT_MAIN, on_tick, arg);
	tick.every = 2 * WEFT_MS;
	return weft_timer_start(&tick, 2 * WEFT_MS);
}

int main(void)
{
	int count = 0;

	return weft_run(app, &count, NULL) < 0;
}
