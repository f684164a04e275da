/* overload.c - a drop function says "busy" cheaply when too much is queued.
 *
 * Ten requests come at once and a color may have four queued: the others are not
 * lost, their drop function is called in their place, in order.
 */
#include <stdio.h>

#include <weft/weft.h>

enum { REQUESTS = 10, DEPTH = 4 };

static struct request {
	weft_event event;
	int number;
} requests[REQUESTS];

static void serve(void *arg)
{
	printf("request %d: served\n", ((struct request *)arg)->number);
}

static void refuse(void *arg)
{
	printf("request %d: busy\n", ((struct request *)arg)->number);
}

/* It runs in WEFT_MAIN itself, so nothing is served before it has returned. */
static int app(void *arg)
{
	(void)arg;
	for (int i = 0; i < REQUESTS; i++) {
		requests[i].number = i + 1;
		weft_event_init(&requests[i].event, WEFT_MAIN, serve, &requests[i]);
		requests[i].event.drop = refuse;
		weft_event_post(&requests[i].event);
	}
	return 0;
}

int main(void)
{
	weft_options opt = { .color_depth = DEPTH };

	return weft_run(app, NULL, &opt) < 0;
}
