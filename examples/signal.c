/* signal.c - signals as events: a handler that may call anything.
 *
 * A watched signal alone does not keep the program running; weft_hold does, until
 * weft_drop.
 */
#include <signal.h>
#include <stdio.h>

#include <weft/weft.h>

static void on_signal(void *arg)
{
	int *count = arg;

	printf("signal %d\n", ++*count);
	if (*count < 3) {
		raise(SIGUSR1);
		return;
	}
	weft_off_signal(SIGUSR1);
	weft_drop();
}

static int app(void *arg)
{
	int rc = weft_on_signal(SIGUSR1, WEFT_MAIN, on_signal, arg);

	if (rc < 0)
		return rc;
	weft_hold();
	return raise(SIGUSR1);
}

int main(void)
{
	int count = 0;

	return weft_run(app, &count, NULL) < 0;
}
