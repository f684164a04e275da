/* offload.c - calls that block go to a pool of threads, not to a worker.
 *
 * The pool calls a function that may take its time; when it has returned, an event
 * runs in the color asked for. Meanwhile the workers do other things.
 */
#include <stdio.h>
#include <unistd.h>

#include <weft/weft.h>

enum { JOBS = 4 };

static struct job {
	weft_work work;
	int number;
} jobs[JOBS];

static int sum; /* WEFT_MAIN's */

static int blocking(void *arg) /* on a thread of the pool: in no color */
{
	struct job *j = arg;

	usleep(1000);
	return j->number * 10;
}

static void done(void *arg)
{
	struct job *j = arg;

	sum += j->work.result;
}

static int app(void *arg)
{
	int rc = 0;

	(void)arg;
	for (int i = 0; i < JOBS && rc == 0; i++) {
		jobs[i].number = i + 1;
		weft_work_init(&jobs[i].work, WEFT_MAIN, done, &jobs[i]);
		rc = weft_work_start(&jobs[i].work, blocking);
	}
	return rc;
}

int main(void)
{
	int rc = weft_run(app, NULL, NULL);

	printf("%d calls returned %d in all\n", JOBS, sum);
	return rc < 0;
}
