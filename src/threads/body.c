/* body.c - what is rare about bodies: their stacks, their parting, their end. */
#include "threads/body.h"

#include <errno.h>

#include "threads/leave.h"
#include "threads/offsets.h"
#include "threads/scopes.h"
#include "threads/spare.h"

/* The `under` of a body that a plain handler started. */
static const struct weft_thread handler = { .context.sp = (void *)(uintptr_t)wf_body_no_frame,
					    .under = (weft_thread *)(uintptr_t)&wf_nobody };

/* As wf_switch leaves it, with the caller's address 0: no unwinder goes on there. */
const uintptr_t wf_body_no_frame[WF_BODY_FRAME / sizeof(uintptr_t)] = { 0 };

#define AT(offset, type, field) \
	_Static_assert(offset == offsetof(type, field), "offsets.h: " #field)
AT(WF_T_SP, struct weft_thread, context.sp);
AT(WF_T_CAUGHT, struct weft_thread, context.caught);
AT(WF_T_CAUGHT + 8, struct weft_thread, context.uncaught);
AT(WF_T_COLOR, struct weft_thread, event.color);
AT(WF_T_WORKER, struct weft_thread, worker);
AT(WF_T_UNDER, struct weft_thread, under);
AT(WF_T_NEXT, struct weft_thread, next_spare);
AT(WF_T_SCOPE, struct weft_thread, scope);
AT(WF_T_BODY, struct weft_thread, body);
AT(WF_T_BODY + 1, struct weft_thread, kicked);
AT(WF_W_LEFT, struct wf_worker, flow.left);
AT(WF_W_SPARE, struct wf_worker, flow.spare);
AT(WF_W_EXCEPTIONS, struct wf_worker, flow.exceptions);

/* Spares */

/* What a spare runs is known when it is used. */
static int no_function(void *unused)
{
	(void)unused;
	wf_bug("a spare stack was resumed");
}

static int make_spare(weft_thread *self)
{
	struct wf_worker *w = self->worker;
	int err;
	weft_thread *t = wf_thread_make_body(w, no_function, NULL, 0, &err);

	if (t == NULL)
		return err;
	if (w->flow.spares >= WF_SPARES)
		t->body = WF_BODY_EXTRA;
	wf_spare_push(w, self, t);
	return 0;
}

void wf_body_drop_spares(struct wf_worker *w)
{
	while (w->flow.spare != NULL) {
		weft_thread *t = w->flow.spare;

		w->flow.spare = t->next_spare;
		wf_thread_free_spare(w, t);
	}
	w->flow.spares = 0;
}

/* Parting */

/* Returns who goes on. A handler has no young flows. */
static WF_INLINE weft_thread *is_thread_now(weft_thread *t)
{
	weft_thread *under = t->under;

	*wf_spares(t->worker, under) = t->next_spare;
	t->under = (weft_thread *)(uintptr_t)&wf_nobody;
	t->body |= WF_BODY_PARTED;
	t->worker->flow.spares--;
	wf_thread_count_started(&t->worker->flow);
	if (under != &handler)
		return under;
	wf_turn_leaving(t->worker);
	return NULL;
}

static WF_INLINE weft_thread *part(weft_thread *t)
{
	weft_thread *under = is_thread_now(t);

	if (t->scope != NULL) {
		t->event.where_ = t->scope->where_;
		wf_scope_join(t, t);
	} else if (t->errand != WF_ERRAND_HOP) {
		t->event.where_ = NULL; /* what ran here before had one */
	}
	return under;
}

weft_thread *wf_body_part(weft_thread *t)
{
	return part(t);
}

int wf_body_leave_for(weft_thread *t, weft_thread *under)
{
	return wf_thread_leave_under_last(t, under);
}

/* By jumps, as wf_thread_end. */
int wf_body_yield(weft_thread *t)
{
	weft_thread *under;

	wf_thread_go_behind(t);
	under = is_thread_now(t);
	if (t->scope != NULL)
		return wf_scope_join_last(t, under);
	t->event.where_ = NULL;
	return wf_body_leave_for(t, under);
}

weft_thread *wf_body_return(weft_thread *t)
{
	return is_thread_now(t);
}

bool wf_body_in_handler(const weft_thread *t)
{
	while (t->under != &wf_nobody && t->under != &handler)
		t = t->under;
	return t->under == &handler;
}

/* Beginning */

/* The function of a block, which has no result. */
struct block {
	void (*fn)(void *args);
	void *args;
};

static int run_block(void *arg)
{
	const struct block *block = arg;

	block->fn(block->args);
	return 0;
}

/* On the new stack, above where its frames begin. */
static void put_args(weft_thread *t, const void *args, size_t room, enum wf_body_kind kind)
{
	char *top = (char *)t;

	if (kind == WF_BODY_BLOCK) {
		struct block *block = (struct block *)top - 1;

		block->fn = (void (*)(void *))(uintptr_t)t->fn;
		block->args = (char *)block - wf_body_rounded(room);
		if (room > 0)
			memcpy(block->args, args, room);
		t->fn = run_block;
		t->arg = block;
	} else if (kind == WF_BODY_COPY) {
		t->arg = top - wf_body_rounded(room);
		if (room > 0)
			memcpy(t->arg, args, room);
	}
}

static void run_on_thread(struct wf_worker *w, weft_thread *t, weft_thread *parent)
{
	t->under = parent;
	t->scope = parent->scope;
	t->worker = w;
	WF_STORE(&t->state, WF_THREAD_SPARE);
	wf_thread_current = t;
	wf_thread_switch(w, &parent->context, &t->context, false);
	wf_thread_arrived(parent->worker);
}

/* In steps that each announce themselves. */
static int run_slowly(weft_thread_fn *fn, void *arg, size_t room, enum wf_body_kind kind)
{
	weft_thread *parent = wf_thread_self(), *t;
	struct wf_worker *w = wf_worker_self();
	size_t needed = wf_body_rounded(room) + sizeof(struct block);
	int err;

	if (w == NULL || w->shared)
		return -EPERM;
	if (fn == NULL || room > wf_stack_room(&wf_thread_stacks, wf_thread_stacks.usual) / 2)
		return -EINVAL;
	if (wf_stopping())
		return -ESHUTDOWN;
	t = wf_thread_make_body(w, fn, arg, kind == WF_BODY_CALL ? 0 : needed, &err);
	if (t == NULL)
		return err;
	put_args(t, arg, room, kind);
	t->next_spare = *wf_spares(w, parent);
	w->flow.spares++;
	if (parent != NULL) {
		run_on_thread(w, t, parent);
	} else {
		t->under = (weft_thread *)(uintptr_t)&handler;
		wf_thread_resume(t);
	}
	return 0;
}

static int run_somehow(weft_thread_fn *fn, void *arg, size_t room, enum wf_body_kind kind)
{
	weft_thread *self = wf_thread_self();

	if (self == NULL || fn == NULL || room > WF_BODY_ROOM || !WF_SPARE_STACKS ||
	    wf_body_excepted(self->worker))
		return run_slowly(fn, arg, room, kind);
	if (*wf_spares(self->worker, self) == NULL) {
		int rc = wf_stopping() ? -ESHUTDOWN : make_spare(self);

		if (rc < 0)
			return rc;
	}
	if (kind == WF_BODY_CALL)
		return weft_async_call(fn, arg);
	return kind == WF_BODY_COPY ? weft_async_copy(fn, arg, room) : wf_body_block(fn, arg, room);
}

int wf_body_slow(weft_thread_fn *fn, void *arg, size_t room, enum wf_body_kind kind)
{
	int rc = run_somehow(fn, arg, room, kind);

	if (rc < 0 && kind == WF_BODY_BLOCK) {
		((void (*)(void *))(uintptr_t)fn)(arg);
		return 0;
	}
	return rc;
}

enum { FORCED = 8 }; /* _UA_FORCE_UNWIND: of pthread_exit and pthread_cancel */

/* 2, _URC_FATAL_PHASE2_ERROR, is what the unwinder takes for the end of its search. */
int wf_body_thrown(int version, int actions)
{
	(void)version;
	if (actions & FORCED)
		wf_worker_ended();
	return 2;
}

void wf_body_went_on(void)
{
	wf_thread_arrived(wf_thread_self()->worker);
}
