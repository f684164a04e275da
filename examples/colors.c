/* colors.c - colors run in parallel, the events of one color one after the other.
 *
 * Eight walkers take a thousand steps each. A walker's steps are events of its own
 * color, so its position needs no lock; those who arrive report to WEFT_MAIN, where
 * all reports are serial.
 */
#include <stdio.h>

#include <weft/weft.h>

enum { WALKERS = 8, STEPS = 1000 };

struct walker {
	weft_event step; /* embedded: posting it allocates nothing */
	int position;
};

static struct walker walkers[WALKERS];
static int arrived, distance; /* WEFT_MAIN's */

static void report(void *arg)
{
	struct walker *w = arg;

	arrived++;
	distance += w->position;
	if (arrived == WALKERS)
		printf("%d walkers arrived after %d steps\n", arrived, distance);
}

static void step(void *arg)
{
	struct walker *w = arg;

	if (++w->position < STEPS)
		weft_event_post(&w->step);
	else
		weft_post(WEFT_MAIN, report, w);
}

static int app(void *arg)
{
	(void)arg;
	for (int i = 0; i < WALKERS; i++) {
		weft_event_init(&walkers[i].step, weft_color_new(), step, &walkers[i]);
		weft_event_post(&walkers[i].step);
	}
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
