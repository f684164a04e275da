/* child.c - child processes: their end is an event. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* environ */
#endif
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

static weft_child child;

static void ended(void *arg)
{
	(void)arg;
	if (child.result == 0 && WIFEXITED(child.status))
		printf("the child exited with status %d\n", WEXITSTATUS(child.status));
}

static int app(void *arg)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 7", NULL };
	int rc;

	(void)arg;
	weft_child_init(&child, WEFT_MAIN, ended, NULL);
	rc = weft_child_spawn(&child, "sh", argv, environ, NULL);
	if (rc == 0)
		puts("the child is started");
	return rc;
}

int main(void)
{
	return weft_run(app, NULL, NULL) < 0;
}
