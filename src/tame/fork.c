/* fork.c - calls that block, as events: on the offload pool, or on a thread. */
#include <errno.h>

#include <weft/scope.h>

#include "tame/tame.h"

static weft_tame_event *event_of(const weft_tame_fork *f)
{
	return *(weft_tame_event *const *)(const void *)(f + 1);
}

static void done(void *fork)
{
	weft_tame_fork *f = fork;

	f->done(f);
	wf_tame_put(wf_worker_self(), WF_TAME_EVENTS, f->size_, f);
}

static int call(void *fork)
{
	weft_tame_fork *f = fork;

	f->call(f);
	return 0;
}

/* Only the color of the caller of tfork uses scope_, so a cancel never finds a scope that is gone. */
static void forget_scope(void *fork)
{
	weft_tame_fork *f = fork;

	if (weft_color_current() != f->color_)
		weft_hop(f->color_);
	f->scope_ = NULL;
}

/* The hook of the event. A function that has not begun is still called, in a cancelled scope: only the
 * function knows what it returns then. */
static void stop(void *fork)
{
	weft_tame_fork *f = fork;

	f->stopped_ = true;
	if (f->scope_ != NULL)
		(void)weft_scope_cancel(f->scope_);
}

/* Begins and ends in the color of the caller of tfork. The event does not wait for threads that the
 * function has started and left running; they belong to the scope. */
static int run_thread(void *fork)
{
	weft_tame_fork *f = fork;
	weft_cleanup cleanup;
	weft_scope scope;

	weft_scope_begin_at(&scope, event_of(f)->site_->where);
	f->scope_ = &scope;
	(void)weft_cleanup_push(&cleanup, forget_scope, f);
	if (f->stopped_)
		(void)weft_scope_cancel(&scope);
	f->call(f);
	(void)weft_cleanup_pop(true);
	done(f);
	(void)weft_scope_end(&scope);
	return 0;
}

static int try_start(weft_tame_fork *f)
{
	const weft_thread_attr attr = { .on = true, .color = f->color_, .apart = true };

	if (f->threaded_)
		return weft_thread_start(NULL, &attr, run_thread, f);
	weft_work_init(&f->u_.work_, f->color_, done, f);
	return weft_work_start(&f->u_.work_, call);
}

/* There is no way to tell of a lack of threads or memory: it tries again until there are. */
static void start(void *fork)
{
	weft_tame_fork *f = fork;
	int rc = try_start(f);

	if (rc == -EAGAIN || rc == -ENOMEM) {
		weft_timer_init(&f->u_.again_, f->color_, start, f);
		weft_timer_start(&f->u_.again_, WEFT_MS);
	}
}

void *weft_tame_fork_new(size_t size, bool on_thread)
{
	weft_tame_fork *f = wf_tame_get(wf_worker_self(), WF_TAME_EVENTS, size, true);

	f->color_ = weft_color_current();
	f->size_ = (uint32_t)size;
	f->threaded_ = on_thread;
	f->stopped_ = false;
	f->scope_ = NULL;
	return f;
}

void weft_tame_fork_start(weft_tame_fork *f)
{
	if (f->threaded_)
		weft_tame_on_cancel(event_of(f), stop, f);
	start(f);
}
