/* weft/thread.h - threads: an event with a stack.
 *
 * A thread belongs to a color, as an event does. It runs only while its color has
 * its turn, so threads of one color never run at the same time: between two waits
 * what they share needs no lock. Threads of different colors run in parallel. A
 * thread may go on after a wait on another kernel thread than before: do not keep
 * the address of a thread-local variable (errno is one) across a call that waits, and
 * set rounding modes and floating-point traps back before it (fesetround(3)): they
 * stay with the kernel thread.
 *
 * Calls that may wait say so. They work in threads only; the function given to
 * weft_run is one. -ECANCELED is returned in scopes that were cancelled: weft/scope.h.
 */
#ifndef WEFT_THREAD_H
#define WEFT_THREAD_H

#include <weft/event.h>
#include <weft/time.h>

WEFT_BEGIN_DECLS

/* A deadline that never comes. Deadlines are times on weft_now's clock:
 * weft_now() + 50 * WEFT_MS. One in the past means: only if it need not wait. */
#define WEFT_FOREVER UINT64_MAX

/* A thread. The pointer is good until the thread was joined or, if it is detached,
 * until it ends. */
typedef struct weft_thread weft_thread;

/* What a thread runs; its result goes to whoever joins it. */
typedef int weft_thread_fn(void *arg);

/* How a thread shall be. All zeros is a good choice. */
typedef struct weft_thread_attr {
	const char *name;  /* for dumps and debuggers; copied, 15 letters at most */
	size_t stack_size; /* bytes that it may use; 0: as weft_options say */
	bool on;           /* true: it starts in `color`; false: in its creator's */
	weft_color color;
	uint8_t priority; /* enum weft_priority */
	bool apart;       /* belongs to no scope (weft/scope.h), whoever starts it */
	uint64_t reserved[4];
} weft_thread_attr;

/* Starts a thread that runs `fn(arg)`, soon. weft_go: in the creator's color, so not
 * beside its creator but when that waits, ahead of what else is queued in the color.
 * weft_go_on: in `color`, beside the creator if that is another, behind what is queued
 * there. Nobody joins it (see weft_thread_start for that), but weft_run does not end
 * before it, nor does the finish block that its creator is in (weft/scope.h).
 *
 * Context:  any thread; outside of handlers the creator's color is WEFT_MAIN.
 * Returns:  0
 *           -EINVAL     no function, or a color that was never made
 *           -ENOMEM     no memory for its stack
 *           -EAGAIN     too many mappings (before Linux 6.13 each stack takes one); the
 *                       report says which setting of the kernel to raise
 *           -ESHUTDOWN  no runtime is running, or it is stopping
 */
WEFT_API int weft_go(weft_thread_fn *fn, void *arg);
WEFT_API int weft_go_at(weft_thread_fn *fn, void *arg, const char *where);
#define weft_go(...) weft_go_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_go_on(weft_color color, weft_thread_fn *fn, void *arg);
WEFT_API int weft_go_on_at(weft_color color, weft_thread_fn *fn, void *arg, const char *where);
#define weft_go_on(...) weft_go_on_at(__VA_ARGS__, WEFT_HERE)

/* Starts a thread as `attr` says (NULL: all zeros). If `thread` is not NULL it is
 * set, and the thread must be joined or detached; else it is detached.
 *
 * Borrows:  attr, during the call.
 * Context:  as weft_go
 * Returns:  as weft_go; -EINVAL also for a priority or stack size out of range
 */
WEFT_API int weft_thread_start(weft_thread **thread, const weft_thread_attr *attr,
			       weft_thread_fn *fn, void *arg);
WEFT_API int weft_thread_start_at(weft_thread **thread, const weft_thread_attr *attr,
				  weft_thread_fn *fn, void *arg, const char *where);
#define weft_thread_start(...) weft_thread_start_at(__VA_ARGS__, WEFT_HERE)

/* Waits for a thread to end, and frees it.
 *
 * Context:  a thread; waits. One thread joins another.
 * Returns:  0           *result (if not NULL) is what its function returned
 *           -ETIMEDOUT  the deadline came first; the thread is still to be joined
 *           -ECANCELED  the wait was cancelled; the same
 *           -EDEADLK    a thread cannot join itself
 *           -EBUSY      another thread waits for it
 *           -EINVAL     it is detached
 *           -EPERM      not called by a thread
 */
WEFT_API WEFT_WAITS int weft_join_until(weft_thread *thread, int *result, uint64_t deadline);
static inline WEFT_WAITS int weft_join(weft_thread *thread, int *result)
{
	return weft_join_until(thread, result, WEFT_FOREVER);
}

/* Gives up the right to join a thread: it is freed when it ends.
 *
 * Context:  any thread.
 * Returns:  0, -EBUSY (somebody joins it), -EINVAL (it is detached) or -ESHUTDOWN
 */
WEFT_API int weft_detach(weft_thread *thread);

/* Tells the running thread.
 *
 * Context:  any thread.
 * Returns:  it, or NULL in plain handlers and on other kernel threads
 */
WEFT_API weft_thread *weft_self(void);

/* Ends the running thread: what it pushed by weft_cleanup_push runs, then the
 * destructors of its slots. Returning from the thread's function does the same.
 *
 * Context:  a thread.
 * Misuse:   called elsewhere: aborts; pthread_exit(3) called instead: reported, and aborts
 */
WEFT_API void weft_exit(int result) __attribute__((noreturn));

/* Lets the others of the color run, and what else is due, then goes on.
 * weft_yield_to lets `thread` run next if it is ready and of the same color;
 * else it is weft_yield.
 *
 * Context:  a thread; waits, and is never cancelled.
 * Returns:  0
 *           -EPERM      not called by a thread
 */
WEFT_API WEFT_WAITS int weft_yield(void);
WEFT_API WEFT_WAITS int weft_yield_to(weft_thread *thread);

/* Waits for a while, in nanoseconds, or until a time on weft_now's clock.
 *
 * Context:  a thread; waits.
 * Returns:  0, or -ECANCELED, -EPERM, -ESHUTDOWN
 */
WEFT_API WEFT_WAITS int weft_sleep(uint64_t ns);
WEFT_API WEFT_WAITS int weft_sleep_until(uint64_t when);

/* Goes on in another color: the call returns there, behind what was queued. It
 * leaves the old color, so what belongs to that must be left in order. To hop to
 * its own color is nothing.
 *
 * Context:  a thread; waits.
 * Misuse:   holding a weft_mutex or weft_rwlock (found in debug builds)
 * Returns:  0
 *           -EINVAL     a color that was never made; it stays where it is
 *           -EPERM      not called by a thread
 */
WEFT_API WEFT_WAITS int weft_hop(weft_color color);
WEFT_API WEFT_WAITS int weft_hop_at(weft_color color, const char *where);
#define weft_hop(...) weft_hop_at(__VA_ARGS__, WEFT_HERE)

/* Tells or sets the name of a thread. Up to 15 letters are kept. weft_thread_set_name
 * takes NULL for the running thread. The name of another thread may change while it
 * is read, which does no harm.
 *
 * Context:  any thread.
 * Returns:  weft_thread_name: the name, "" if it has none
 *           weft_thread_set_name: 0, or -EPERM (NULL, and not called by a thread)
 */
WEFT_API const char *weft_thread_name(const weft_thread *thread);
WEFT_API int weft_thread_set_name(weft_thread *thread, const char *name);

/* Something to do when the thread ends, however it ends. Embed it in a local
 * variable. Pushed last runs first.
 */
typedef struct weft_cleanup {
	weft_fn *run;
	void *arg;
	struct weft_cleanup *next_;
} weft_cleanup;

/* Makes `run(arg)` run when the thread ends; or takes the last one off again, and
 * runs it now if `run_it`. Every push needs its pop before the variable's block
 * is left.
 *
 * Context:  a thread.
 * Returns:  0
 *           -ENOENT     nothing is pushed (pop)
 *           -EPERM      not called by a thread
 */
WEFT_API int weft_cleanup_push(weft_cleanup *c, weft_fn *run, void *arg);
WEFT_API int weft_cleanup_pop(bool run_it);

/* A slot that every thread has its own value in. */
typedef uint32_t weft_key;

/* Makes a slot, or frees one. `destroy`, if not NULL, is called with each value that
 * is not NULL when its thread ends, in that thread. weft_key_free calls no destructor.
 *
 * Context:  any thread.
 * Returns:  0
 *           -EAGAIN     1024 slots are in use
 *           -EINVAL     no such slot (weft_key_free)
 */
WEFT_API int weft_key_new(weft_key *key, void (*destroy)(void *value));
WEFT_API int weft_key_free(weft_key key);

/* Gets or sets the running thread's value of a slot.
 *
 * Context:  a thread.
 * Returns:  get: the value, NULL at first, and outside of threads
 *           set: 0, -ENOMEM, -EINVAL (no such slot), -EPERM (not a thread)
 */
WEFT_API void *weft_key_get(weft_key key);
WEFT_API int weft_key_set(weft_key key, void *value);

WEFT_END_DECLS
#endif
