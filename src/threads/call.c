/* call.c - what the blocking calls share: checks, waiting, and being fair. */
#include "threads/call.h"

#include <errno.h>

#include "base/report.h"
#include "platform/symbols.h"

int wf_call_refused(int rc, const char *name, uintptr_t pc)
{
	char caller[256];

	if (rc != -EPERM)
		return rc;
	wf_symbol_print(pc, caller, sizeof caller);
	return wf_misuse(caller, rc, "%s waits, so only threads may call it", name);
}

int wf_give_turn(int fd)
{
	struct wf_target t = wf_target(fd);

	wf_thread_self()->answers = 0;
	(void)weft_yield();
	return wf_target_good(t) ? 0 : -EBADF;
}

void wf_call_event(weft_event *ev)
{
	weft_thread *self = wf_thread_self();

	self->answers = 0; /* it will wait */
	weft_event_init(ev, self->event.color, wf_thread_resume, self);
	ev->priority = self->event.priority;
	ev->where_ = self->event.where_;
}

static void cancel(struct wf_wait *wait)
{
	(void)weft_op_cancel(&WF_CONTAINER(wait, struct wf_call, wait)->op);
}

WF_HOT void wf_call_init(struct wf_call *c, const char *what, struct wf_target t)
{
	c->wait = (struct wf_wait){ .what = what, .on = (uintptr_t)t.fd, .cancel = cancel };
	wf_op_fresh(&c->op, t.mark);
	wf_call_event(&c->op.event);
	c->where = c->op.event.where_;
}

int64_t wf_call_end(struct wf_call *c, int rc, uint64_t deadline)
{
	return rc < 0 ? rc : wf_call_wait(c, deadline);
}
