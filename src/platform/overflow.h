/* overflow.h - a thread that runs off its stack is told of as such.
 *
 * The guard below the stack raises SIGSEGV. The handler runs on an alternate stack,
 * which each kernel thread that runs flows must have.
 */
#ifndef WF_OVERFLOW_H
#define WF_OVERFLOW_H

#include "platform/stack.h"

/* Called in the signal handler, with some 40 KiB of stack: the stack of `record`
 * overflowed, or somebody wrote to `addr`, in its guard; `context` is the handler's
 * third argument. Called at most once in the life of a process, which dies by SIGSEGV
 * when it returns. */
typedef void wf_overflow_fn(void *record, uintptr_t addr, const void *context);

/* Watches the guards of `s`. Faults elsewhere go to the handlers that were there
 * before. wf_overflow_stop puts those back. Returns 0, or an error of sigaction. */
int wf_overflow_start(const struct wf_stacks *s, wf_overflow_fn *report);
void wf_overflow_stop(void);

/* Gives the calling kernel thread an alternate stack, unless it has one (ASan makes
 * them): *altstack is NULL then. Unblocks the signals. Returns 0 or -ENOMEM. */
int wf_overflow_open(void **altstack);
/* On the same thread. */
void wf_overflow_close(void *altstack);

#endif
