/* thread.c - threaded functions: their closure is on the stack of a thread, which waits. */
#include <stdlib.h>

#include <weft/scope.h>

#include "tame/tame.h"

/* The closure comes along to another color if nothing of it is out. */
static weft_color settle(weft_tame_closure *c)
{
	weft_color color = weft_color_current();

	if (c->rendezvous_ == NULL && c->state_ == 0)
		c->color_ = color;
	return color;
}

weft_color wf_tame_thread_home(weft_tame_closure *c)
{
	weft_color color = settle(c);

	if (color != c->color_)
		weft_hop(c->color_);
	return color;
}

static void leave(weft_tame_thread_closure *t)
{
	weft_color back = wf_tame_thread_home(&t->c);

	while (t->c.rendezvous_ != NULL)
		wf_tame_rendezvous_fini(t->c.rendezvous_);
	t->wait_.what = "events with variables of its function";
	t->wait_.stop = NULL; /* they are others' */
	if (--t->c.holds_ > 0)
		weft_suspend(&t->wait_);
	wf_tame_go_back(&t->c, back);
}

/* What holds its events, and waits for them, must not go with the stack. */
static void leave_by_exit(void *closure)
{
	weft_tame_thread_closure *t = closure;

	while (t->blocks_ > 0)
		weft_tame_thread_join(t, t->counter_);
	leave(t);
}

void weft_tame_thread_enter(weft_tame_thread_closure *t, const weft_tame_function *f)
{
	if (weft_self() == NULL) {
		wf_tame_report(f->where, "%s() is threaded, and was called outside of a thread",
			       f->name);
		abort();
	}
	*t = (weft_tame_thread_closure){
		.c = { .color_ = weft_color_current(), .function_ = f, .holds_ = 1 },
		.wait_ = WEFT_WAIT_INIT("twait", NULL),
	};
	(void)weft_cleanup_push(&t->cleanup_, leave_by_exit, t);
}

void weft_tame_thread_leave(weft_tame_thread_closure *t)
{
	leave(t);
	(void)weft_cleanup_pop(false);
}

void weft_tame_thread_block(weft_tame_thread_closure *t, uint32_t *counter)
{
	settle(&t->c);
	t->c.state_++;
	t->blocks_++;
	t->counter_ = counter;
	*counter = 1;
}

/* The thread is cancelled. It asks for an end of its events and waits on, until they have ended: so each
 * has happened or has not, and none writes to this stack after the wait (X1). */
static bool ask_block(weft_wait *w)
{
	weft_tame_thread_closure *t = WF_CONTAINER(w, weft_tame_thread_closure, wait_);

	wf_tame_block_ask(t, t->counter_);
	return false;
}

static bool ask_rendezvous(weft_wait *w)
{
	wf_tame_rendezvous_ask(WF_CONTAINER(w, weft_tame_thread_closure, wait_)->next_of_);
	return false;
}

void weft_tame_thread_join(weft_tame_thread_closure *t, uint32_t *counter)
{
	weft_color back = wf_tame_thread_home(&t->c);

	t->wait_.stop = ask_block;
	if (--*counter > 0)
		weft_suspend(&t->wait_);
	t->c.state_--;
	t->blocks_--;
	t->counter_ = counter - 1;
	wf_tame_go_back(&t->c, back);
}

void weft_tame_thread_next(weft_tame_thread_closure *t, weft_tame_rendezvous *r, void *id,
			   size_t size)
{
	weft_color back = wf_tame_thread_home(&t->c);

	t->wait_.stop = ask_rendezvous;
	t->next_of_ = r;
	while (!weft_tame_next(r, &t->c, id, size))
		weft_suspend(&t->wait_);
	wf_tame_go_back(&t->c, back);
}
