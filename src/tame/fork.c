/* fork.c - calls that block, as events: on the offload pool, or on a thread. */
#include <errno.h>

#include "tame/tame.h"

static void start(void *fork);

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

/* In the color of who forked, for the whole of it. */
static int run_thread(void *fork)
{
	weft_tame_fork *f = fork;

	f->call(f);
	if (weft_color_current() != f->color_)
		weft_hop(f->color_);
	done(f);
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
	return f;
}

void weft_tame_fork_start(weft_tame_fork *f)
{
	start(f);
}
