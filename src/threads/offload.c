/* offload.c - waiting for a blocking library call that the offload pool makes. */
#include <errno.h>

#include "threads/call.h"

struct offload {
	struct wf_wait wait;
	weft_work work;
	weft_thread *self;
	int (*call)(void *arg);
	void *arg;
	int result;
	bool called;
};

/* On the pool's kernel thread. The work's own result could not tell a call that
 * returned -ECANCELED from one that was never made. */
static int make_call(void *arg)
{
	struct offload *o = arg;

	o->result = o->call(o->arg);
	o->called = true;
	return 0;
}

static void over(void *arg)
{
	wf_thread_resume(((struct offload *)arg)->self);
}

static void take_back(struct wf_wait *wait)
{
	(void)weft_work_cancel(&WF_CONTAINER(wait, struct offload, wait)->work);
}

static void offload_init(struct offload *o)
{
	o->wait.what = "offload";
	o->wait.on = (uintptr_t)o->arg;
	o->wait.cancel = take_back;
	o->self = wf_thread_self();
	wf_call_event(&o->work.event);
	o->work.event.run = over;
	o->work.event.arg = o;
}

int weft_offload_until(int (*call)(void *arg), void *arg, int *result, uint64_t deadline)
{
	struct offload o = { .call = call, .arg = arg };
	int rc = wf_call_allowed(-1, "weft_offload", WF_CALLER);

	if (rc == 0 && call == NULL)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	offload_init(&o);
	rc = weft_work_start(&o.work, make_call);
	if (rc < 0)
		return rc;
	wf_wait(&o.wait, deadline);
	if (!o.called)
		return o.wait.error < 0 ? o.wait.error : o.work.result;
	if (result != NULL)
		*result = o.result;
	return 0;
}
