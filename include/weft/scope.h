/* weft/scope.h - async, finish, cancel: several waits at once, in straight-line code.
 *
 *	int rc;
 *
 *	weft_finish (lookup, &rc) {
 *		weft_deadline(lookup, 200);
 *		for (int i = 0; i < n; i++) {
 *			weft_async_own (i) {
 *				if (ask(server[i], name, &addr) == 0)
 *					weft_cancel();
 *			};
 *		}
 *	}
 *
 * weft_async runs its block at once, like the block alone. Only if it has to wait the
 * code behind it goes on meanwhile. weft_finish is left when everything that was started
 * in it has ended: blocks, and threads too. weft_cancel ends the waits of everything
 * in a finish block, also of what that has called. Without these words the program is
 * a correct one that does the same one after the other.
 *
 * Blocks run in the color of who started them: no two at a time, so what they share
 * needs no lock between two waits. A block that hops to another color (weft_hop) runs
 * in parallel from there on, and still belongs to its finish block.
 *
 * Terms. A scope is what a finish block is at run time. A thread is in the scopes whose
 * blocks it is in, and what it starts is in the innermost of them. A scope is cancelled
 * for good: every wait in it, and every call for input or output, then returns
 * -ECANCELED. Exactly: a call that returns -ECANCELED has done nothing, and one that has
 * done something says so (X1). Calls that need not wait (an open lock, a message that
 * is there) are not touched; weft_yield, weft_hop, weft_close and the wait for a
 * finish block's end are not either. Long loops ask weft_cancelled. A twait of a threaded
 * function (weft/tame.h) asks its events to end, and lasts until they have.
 *
 * Compiling. In C the blocks need -fopenmp when compiling, and not when linking: gcc and
 * clang then make a function of the block, which Weft's library calls, and no other
 * part of OpenMP is used (a source file that includes this header cannot use OpenMP for
 * itself). `pkg-config --cflags weft-async` says so. C++ needs nothing.
 * weft_async_call needs nothing anywhere.
 */
#ifndef WEFT_SCOPE_H
#define WEFT_SCOPE_H

#pragma GCC system_header /* so that gcc, too, reports misuse of weft_async ... at its line */

#include <weft/sync.h>
#include <weft/thread.h>

WEFT_BEGIN_DECLS

/* A scope. On the stack of the thread that began it. */
typedef struct weft_scope {
	/* Weft's. */
	struct weft_scope *up_;
	weft_thread *owner_;
	struct wf_home home_;
	weft_thread *members_; /* what waits in it */
	int *result_;
	const char *where_;
	int error_;
	uint8_t cancelled_, shield_, timed_, waiting_;
	uint64_t deadline_; /* if timed_ */
	weft_timer timer_;
} weft_scope;

/* Begins and ends a scope; weft_finish does it for you. weft_scope_end waits for
 * everything that was started in it. The last that was begun is the first to be ended,
 * by the same thread; one that a thread has not ended when it ends is ended then.
 *
 * Context:  a thread; weft_scope_end waits, and cannot be cancelled.
 * Misuse:   called elsewhere, or out of order: aborts, as nobody could go on
 * Returns:  weft_scope_end: 0, or the first error of the scope (weft_fail); -ETIMEDOUT if
 *           it was cancelled by its deadline, and had no error before; -ESHUTDOWN in a
 *           forked child
 */
WEFT_API void weft_scope_begin(weft_scope *s);
WEFT_API void weft_scope_begin_at(weft_scope *s, const char *where);
#define weft_scope_begin(...) weft_scope_begin_at(__VA_ARGS__, WEFT_HERE)
WEFT_API WEFT_WAITS int weft_scope_end(weft_scope *s);

/* Begins a scope that cancelling what is around it does not reach, as weft_shield does.
 *
 * Context:  as weft_scope_begin; ended by weft_scope_end.
 */
WEFT_API void weft_shield_begin(weft_scope *s);
WEFT_API void weft_shield_begin_at(weft_scope *s, const char *where);
#define weft_shield_begin(...) weft_shield_begin_at(__VA_ARGS__, WEFT_HERE)

/* Runs `fn(arg)` at once, on a stack of its own. If it has to wait the call returns
 * meanwhile; else when fn has. It belongs to the innermost scope of the caller; where there
 * is none, or in a plain handler, to nobody, and it is freed when it ends. A result
 * below 0 is an error of the scope (weft_fail), but does not cancel it. weft_async_copy
 * gives fn a copy of `size` bytes at `args`, on its own stack.
 *
 * Context:  a thread, or a plain handler. fn is a thread like any other.
 * Returns:  0           fn has begun
 *           -EINVAL     no function, or over half a stack of arguments
 *           -ENOMEM, -EAGAIN  no stack (see weft_go); fn was not called
 *           -ESHUTDOWN  the runtime is stopping; the same
 *           -EPERM      neither a thread nor a handler, or a shared event; the same
 */
WEFT_API int weft_async_call(weft_thread_fn *fn, void *arg);
WEFT_API int weft_async_copy(weft_thread_fn *fn, const void *args, size_t size);

/* Cancels a scope: all who wait in it, and in what they called and started, go on with
 * -ECANCELED, and find it cancelled from now on. weft_scope_fail also keeps the error
 * (below 0), if it is the scope's first. weft_scope_deadline does so with
 * -ETIMEDOUT at a time on weft_now's clock, unless it is cancelled before that; a second
 * call changes the time.
 *
 * Context:  anywhere inside the scope, in any color; weft_scope_cancel and
 *           weft_scope_fail from elsewhere too, as long as the scope has not ended.
 *           weft_scope_deadline: the thread that began it. A second call of
 *           weft_scope_deadline waits.
 * Returns:  0
 *           -EALREADY   it was cancelled before; weft_scope_fail has kept the error all the
 *                       same, if it is the first
 *           weft_scope_deadline: 0, -EPERM (not the thread that began it), -ESHUTDOWN
 */
WEFT_API int weft_scope_cancel(weft_scope *s);
WEFT_API int weft_scope_fail(weft_scope *s, int error);
WEFT_API WEFT_WAITS int weft_scope_deadline(weft_scope *s, uint64_t when);

/* Tells whether the running thread is to stop: a wait would be cancelled now. A deadline
 * that is past is noticed, too, however long the color was busy, and cancels its scope.
 *
 * Context:  anywhere but in a signal handler. Never waits.
 * Returns:  true: it is to stop; false where there is no thread
 */
WEFT_API bool weft_cancelled(void);

/* Waits, at the end of a block, for all that was started in it, also if it is left by return,
 * break, continue or goto: weft_finish () { ... }, weft_finish (name) { ... } or
 * weft_finish (name, &result) { ... }. `name` is a weft_scope: blocks further inside give it to
 * weft_cancel and its like. At the end *result is the scope's first error, or 0. To the compiler
 * the block is a loop that runs once: so break and continue leave it, and not a loop around it.
 * weft_shield { ... } is a finish block that cancels from outside do not reach: use it to put
 * things right before leaving.
 *
 * Context:  a thread; waits at the end, which cannot be cancelled.
 */
#define weft_finish(...) WEFT_FINISH_(__VA_ARGS__)
#define weft_shield WEFT_SHIELD_

/* Runs a block at once, and what is behind it as soon as the block has to wait:
 * weft_async { ... }; or weft_async_own (x, y) { ... };. It sees the variables around it,
 * and they live on, as finish waits; but one of an inner block or loop must be copied
 * before the first wait. weft_async_own has copies of its own of up to 8 variables: no
 * arrays, and 512 bytes in all.
 *
 * It has braces, and stands in braces, directly in a finish block (not in another async);
 * it ends with a semicolon, and is not left by return, break or goto. If there is no memory
 * for a stack it runs in place. In C++ an exception that leaves it cancels the scope, and is
 * thrown again at the end of the finish block; of several the first.
 *
 * Context:  a thread, in a finish block of the same function.
 */
#define weft_async WEFT_ASYNC_
#define weft_async_own(...) WEFT_ASYNC_OWN_(__VA_ARGS__)

/* Cancels, fails or limits a finish block, as weft_scope_cancel, weft_scope_fail and
 * weft_scope_deadline do. weft_cancel(); weft_fail(error); and weft_deadline(ms); mean the
 * innermost finish block around the call. With its name they mean another one around it:
 * weft_cancel(name); weft_fail(name, error); weft_deadline(name, ms). The deadline is `ms`
 * milliseconds from now; below 1 it is over immediately. An async block is inside the finish block
 * that it stands in. A shield counts as a finish block. Outside of finish blocks these calls do not
 * compile. Put an argument with a comma of its own, such as a compound literal, into parentheses;
 * the result of weft_finish, too.
 *
 * Context:  inside the finish block, in the same function.
 * Returns:  as those
 */
#define weft_cancel(...) WEFT_CANCEL_(__VA_ARGS__)
#define weft_fail(...) WEFT_FAIL_(__VA_ARGS__)
#define weft_deadline(...) WEFT_DEADLINE_(__VA_ARGS__)

/* Waiting for what comes by a callback: to make others' libraries wait as Weft does.
 *
 *	struct request r = { .wait = WEFT_WAIT_INIT("lookup", stop_lookup) };
 *
 *	library_start(..., on_done, &r);
 *	rc = weft_suspend(&r.wait);
 *	return rc < 0 ? rc : r.status;
 *
 * on_done keeps what came, and calls weft_schedule.
 */
typedef struct weft_wait {
	const char *what; /* for dumps */
	/* Called in the waiter's color, while it waits, at its deadline or if its scope is
	 * cancelled; at most once. True: what was waited for is stopped, and its callback does
	 * not come any more. False: it cannot be stopped, or its callback has come. NULL:
	 * it can never be stopped. */
	WEFT_NO_WAIT bool (*stop)(struct weft_wait *w);
	/* Weft's. */
	weft_thread *thread_;
	uint32_t state_;
} weft_wait;
#define WEFT_WAIT_INIT(what, stop) \
	{ \
		what, stop, WEFT_NULL_, 0 \
	}

/* Waits until weft_schedule is called for `w`, which may have been done already. After
 * it w may be used again.
 *
 * Context:  a thread; waits.
 * Returns:  0           scheduled
 *           -ETIMEDOUT  the deadline came first, and `stop` has stopped it
 *           -ECANCELED  the scope is cancelled, and `stop` has stopped it
 *           -EPERM      not called by a thread; nothing was waited for, and nothing stopped
 *           -EOWNERDEAD a thread waited with w when an earlier run was stopped: make w new
 *                       first, by WEFT_WAIT_INIT
 */
WEFT_API WEFT_WAITS int weft_suspend_until(weft_wait *w, uint64_t deadline);
static inline WEFT_WAITS int weft_suspend(weft_wait *w)
{
	return weft_suspend_until(w, WEFT_FOREVER);
}

/* Lets go on who waits with `w`, now or soon: once for each weft_suspend.
 * weft_schedule_to: if the caller is a thread of the same color it waits meanwhile (see
 * weft_yield_to); so the answer is used while it is warm.
 *
 * Context:  any thread, plain handlers and foreign kernel threads too. weft_schedule_to
 *           waits if a thread of the same color calls it.
 * Misuse:   called twice for one wait
 * Returns:  0
 *           -EALREADY   it was scheduled before
 *           -ESHUTDOWN  no runtime is running
 *           -EOWNERDEAD the thread that waited with w is gone: its run was stopped
 */
WEFT_API int weft_schedule(weft_wait *w);
WEFT_API WEFT_WAITS int weft_schedule_to(weft_wait *w);

/* Something to do when the thread's scope is cancelled, even if the thread does not
 * wait then. Embed it in a local variable. */
typedef struct weft_cancel_item {
	WEFT_NO_WAIT weft_fn *run;
	void *arg;
	struct weft_cancel_item *next_;
	weft_scope *scope_;
	bool ran_;
} weft_cancel_item;

/* Makes `run(arg)` run, once, in the thread's color, when the innermost scope that the
 * thread is in now is cancelled; or takes it back. run must not wait. The thread that
 * added an item takes it back, before that scope ends and item is gone.
 *
 * Context:  a thread.
 * Returns:  add: 0, -ECANCELED (the scope is cancelled: run was not called) or -EPERM
 *           remove: 0, or -EALREADY (run was called)
 */
WEFT_API int weft_cancel_item_add(weft_cancel_item *item, WEFT_NO_WAIT weft_fn *run, void *arg);
WEFT_API int weft_cancel_item_remove(weft_cancel_item *item);

WEFT_END_DECLS

#include <weft/block.h>

#endif
