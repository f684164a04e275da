/* mutex.c - a mutex and a condition: cooks of several colors fill a counter that has
 * room for three dishes, guests empty it. A wait group tells when all have left. */
#include <stdio.h>

#include <weft/weft.h>

enum { PEOPLE = 4, DISHES = 100, ROOM = 3 };

static struct {
	weft_mutex mutex; /* all zeros is a new one */
	weft_cond changed;
	int dishes, most, eaten;
} counter;
static weft_waitgroup party;

static int cook(void *unused)
{
	(void)unused;
	for (int i = 0; i < DISHES; i++) {
		weft_mutex_lock(&counter.mutex);
		while (counter.dishes == ROOM)
			weft_cond_wait(&counter.changed, &counter.mutex);
		counter.most = ++counter.dishes > counter.most ? counter.dishes : counter.most;
		weft_cond_broadcast(&counter.changed);
		weft_mutex_unlock(&counter.mutex);
	}
	return weft_waitgroup_done(&party);
}

static int guest(void *unused)
{
	(void)unused;
	for (int i = 0; i < DISHES; i++) {
		weft_mutex_lock(&counter.mutex);
		while (counter.dishes == 0)
			weft_cond_wait(&counter.changed, &counter.mutex);
		counter.dishes--;
		counter.eaten++;
		weft_cond_broadcast(&counter.changed);
		weft_mutex_unlock(&counter.mutex);
	}
	return weft_waitgroup_done(&party);
}

static int app(void *unused)
{
	for (int i = 0; i < PEOPLE; i++) {
		weft_waitgroup_add(&party, 2); /* before they start */
		weft_go_on(weft_color_new(), cook, unused);
		weft_go_on(weft_color_new(), guest, unused);
	}
	weft_waitgroup_wait(&party);
	printf("%d eaten, %s\n", counter.eaten,
	       counter.most > ROOM ? "too many" : "never too many");
	return 0;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
