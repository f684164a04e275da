/* processes.c - signals, child processes and blocking library calls, as events. */
#include <errno.h>

#include <weft/io.h>

#include "tame/primitive.h"
#include "threads/threads.h"

/* Signals */

struct signal {
	struct wf_primitive p;
	struct wf_signal_wait wait;
	weft_event came;
};

static void end_signal(struct signal *s)
{
	int signo = s->wait.signo;

	if (signo != 0 && wf_primitive_cancelled(&s->p))
		wf_signal_put_back(signo);
	wf_primitive_end_int(&s->p, signo != 0 ? signo : -ECANCELED);
	wf_live_add(-1);
}

static void signal_came(void *arg)
{
	end_signal(arg);
}

static void wake_signal(struct wf_waiter *w)
{
	wf_event_deliver(NULL, &WF_CONTAINER(w, struct signal, wait.waiter)->came);
}

static void stop_signal(struct wf_primitive *p)
{
	struct signal *s = WF_CONTAINER(p, struct signal, p);

	if (wf_signal_stop(&s->wait))
		end_signal(s);
}

void weft_signal_ev(int signo, WEFT_EVENT(int) e)
{
	int rc;
	struct signal *s = wf_primitive_new(sizeof *s, WF_EVENT_OF(e), &rc);

	if (s == NULL) {
		weft_trigger(e, rc);
		return;
	}
	weft_event_init(&s->came, s->p.color, signal_came, s);
	wf_waiter_init_calling(&s->wait.waiter, NULL, wake_signal);
	sigemptyset(&s->wait.set);
	wf_live_add(1);
	rc = sigaddset(&s->wait.set, signo) < 0 ? -EINVAL : wf_signal_begin(&s->wait);
	if (rc == 0) {
		wf_primitive_begun(&s->p, stop_signal);
		return;
	}
	if (rc > 0 && wf_primitive_cancelled(&s->p))
		wf_signal_put_back(rc);
	wf_primitive_end_int(&s->p, rc);
	wf_live_add(-1);
}

/* Children */

struct child {
	struct wf_primitive p;
	weft_child child;
};

static void end_child(struct child *c, int result)
{
	int status = c->child.status;
	WEFT_EVENT(int, int) e = (void *)wf_primitive_end(&c->p);

	if (e != NULL)
		weft_trigger(e, result, status);
}

static void child_ended(void *arg)
{
	struct child *c = arg;

	end_child(c, c->child.result);
}

static void stop_child(struct wf_primitive *p)
{
	(void)weft_child_cancel(&WF_CONTAINER(p, struct child, p)->child);
}

static struct child *new_child(WEFT_EVENT(int, int) e)
{
	int rc;
	struct child *c = wf_primitive_new(sizeof *c, WF_EVENT_OF(e), &rc);

	if (c == NULL)
		weft_trigger(e, rc, 0);
	else
		weft_child_init(&c->child, c->p.color, child_ended, c);
	return c;
}

static void child_begun(struct child *c, int rc)
{
	if (rc < 0)
		end_child(c, rc);
	else
		wf_primitive_begun(&c->p, stop_child);
}

void weft_child_ev(pid_t pid, WEFT_EVENT(int, int) e)
{
	struct child *c = new_child(e);

	if (c != NULL)
		child_begun(c, weft_child_wait(&c->child, pid));
}

void weft_spawn_ev(const char *path, char *const argv[], char *const envp[], const int *fds,
		   pid_t *pid, WEFT_EVENT(int, int) e)
{
	struct child *c;
	int rc;

	if (pid != NULL)
		*pid = -1;
	c = new_child(e);
	if (c == NULL)
		return;
	rc = weft_child_spawn(&c->child, path, argv, envp, fds);
	if (rc == 0 && pid != NULL)
		*pid = c->child.pid;
	child_begun(c, rc);
}

/* Blocking calls */

struct offload {
	struct wf_primitive p;
	weft_work work;
	int (*call)(void *arg);
	void *arg;
};

static int make_call(void *arg)
{
	struct offload *o = arg;

	return o->call(o->arg);
}

static void call_over(void *arg)
{
	struct offload *o = arg;

	wf_primitive_end_int(&o->p, o->work.result);
}

static void stop_call(struct wf_primitive *p)
{
	(void)weft_work_cancel(&WF_CONTAINER(p, struct offload, p)->work);
}

void weft_offload_ev(int (*call)(void *arg), void *arg, WEFT_EVENT(int) e)
{
	int rc = -EINVAL;
	struct offload *o = call != NULL ? wf_primitive_new(sizeof *o, WF_EVENT_OF(e), &rc) : NULL;

	if (o == NULL) {
		weft_trigger(e, rc);
		return;
	}
	o->call = call;
	o->arg = arg;
	weft_work_init(&o->work, o->p.color, call_over, o);
	rc = weft_work_start(&o->work, make_call);
	if (rc < 0)
		wf_primitive_end_int(&o->p, rc);
	else
		wf_primitive_begun(&o->p, stop_call);
}
