/* body.h - a thread that begins on top of who started it.
 *
 * A body runs at once, like a function that was called, but on a stack of its own. Who
 * started it lies `under` it, and goes on when the body returns, or first waits: then
 * they part, and from there on the body is a thread like any other. So a body
 * that does not wait costs hardly more than a call: nothing is queued, counted or
 * listed before they part, and a worker keeps stacks that are ready, `spare`. The caller
 * never moves: to the compiler it is a call.
 *
 * The way without parting is in body_x86_64.S (and its like), and as C for where that
 * cannot be: sanitizers want to hear of each switch, and a plain handler is no thread.
 */
#ifndef WF_BODY_H
#define WF_BODY_H

#include "scheduler/turn.h"
#include "threads/offsets.h"
#include "threads/spare.h"
#include "threads/thread.h"

/* How the argument of a body is meant. */
enum wf_body_kind {
	WF_BODY_CALL,  /* it is the argument */
	WF_BODY_COPY,  /* it points to bytes, of which the body gets a copy */
	WF_BODY_BLOCK, /* the same, and the function has no result */
};

/* Runs a body: as weft_async_call. `room` is the size of what is copied. A block that there
 * is no stack for runs in place, with args itself: it does not fail. */
int wf_body_block(weft_thread_fn *fn, const void *args, size_t room);

/* How much room on its stack so many bytes take. */
static inline size_t wf_body_rounded(size_t room)
{
	return (room + 15) & ~(size_t)15;
}

/* Whether C++ has exceptions in hand, which stay with the caller when it starts a body. */
static inline bool wf_body_excepted(const struct wf_worker *w)
{
	const struct wf_exceptions *e = w->flow.exceptions;

	return e != NULL && (e->caught != NULL || e->uncaught != 0);
}

/* Room on the stack of the body that is started next, by wf_body_task; NULL: it must be
 * started in another way. */
static inline void *wf_body_room(size_t room)
{
	struct wf_worker *w = wf_self_worker;
	weft_thread *self = wf_thread_current, *spare = self != NULL ? *wf_spares(w, self) : NULL;

	if (WF_UNLIKELY(spare == NULL || room > WF_BODY_ROOM || wf_body_excepted(w)))
		return NULL;
	return (char *)spare - wf_body_rounded(room);
}

/* Runs fn(0, task) as a body, with what is there where wf_body_room said. fn has no result;
 * this has 0. */
int wf_body_task(int (*fn)(int, void *), void *task);

/* Where the three above are at a loss: there is no spare, or this is no place for it. */
int wf_body_slow(weft_thread_fn *fn, void *arg, size_t room, enum wf_body_kind kind);
/* Leaves the stack of a body, as wf_switch, and returns 0 when somebody switches there again:
 * but by a jump, as the return would be foreseen wrongly (leave.h). Called last by a
 * function that wants to return so. Not where sanitizers want to hear of it, and not on
 * 64-bit ARM, which may let nothing but returns go to where a call was. */
#if defined(__x86_64__) && !defined(WF_ASAN) && !defined(WF_TSAN)
#define WF_BODY_JUMPS
int wf_body_leave(void **save, void *to);
#endif
/* Where who lay under a body goes on, if the body left an errand. */
void wf_body_went_on(void);

/* Called by the C++ library when an exception, or the unwinding by pthread_exit, reaches the frame
 * where a body began. */
int wf_body_thrown(int version, int actions);

/* The body is about to wait for the first time. Returns who goes on; NULL: a handler on
 * its worker's stack. */
weft_thread *wf_body_part(weft_thread *t);
/* The same, and weft_yield of the body. */
WF_WAITS int wf_body_yield(weft_thread *t);
/* The rest of it: leaves for who lies under it. */
WF_WAITS int wf_body_leave_for(weft_thread *t, weft_thread *under);
/* For one that has come to its end. */
weft_thread *wf_body_return(weft_thread *t);

/* Whether a handler is at the bottom of those who wait for t to wait or return. */
bool wf_body_in_handler(const weft_thread *t);

/* Frees the spares of a worker. */
void wf_body_drop_spares(struct wf_worker *w);

/* What wf_nobody was left with: a frame that nobody called. */
extern const uintptr_t wf_body_no_frame[];

#endif
