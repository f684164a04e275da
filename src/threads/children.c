/* children.c - waiting for child processes. */
#include <errno.h>

#include "threads/call.h"

struct parent {
	struct wf_wait wait;
	weft_child child;
};

static void stop_waiting(struct wf_wait *wait)
{
	(void)weft_child_cancel(&WF_CONTAINER(wait, struct parent, wait)->child);
}

static void parent_init(struct parent *p)
{
	p->wait = (struct wf_wait){ .what = "child", .cancel = stop_waiting };
	weft_child_init(&p->child, WEFT_MAIN, NULL, NULL);
	wf_call_event(&p->child.event);
}

/* Waits for the end of the child, whose start returned rc. */
static int parent_wait(struct parent *p, int rc, int *status, uint64_t deadline)
{
	if (rc < 0)
		return rc;
	p->wait.on = (uintptr_t)p->child.pid;
	wf_wait(&p->wait, deadline);
	if (p->child.result == 0 && status != NULL)
		*status = p->child.status;
	if (p->child.result == -ECANCELED && p->wait.error < 0)
		return p->wait.error;
	return p->child.result;
}

int weft_child_join_until(pid_t pid, int *status, uint64_t deadline)
{
	int rc = wf_call_allowed(-1, "weft_child_join", WF_CALLER);
	struct parent p;

	if (rc < 0)
		return rc;
	parent_init(&p);
	return parent_wait(&p, weft_child_wait(&p.child, pid), status, deadline);
}

int weft_child_run_until(const char *path, char *const argv[], char *const envp[], const int *fds,
			 pid_t *pid, int *status, uint64_t deadline)
{
	int rc = wf_call_allowed(-1, "weft_child_run", WF_CALLER);
	struct parent p;

	if (pid != NULL)
		*pid = -1;
	if (rc < 0)
		return rc;
	parent_init(&p);
	rc = weft_child_spawn(&p.child, path, argv, envp, fds);
	if (rc == 0 && pid != NULL)
		*pid = p.child.pid;
	return parent_wait(&p, rc, status, deadline);
}
