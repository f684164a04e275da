/* backtrace.h - where another thread of this process is, without stopping it for
 * long and without breaking its system calls.
 */
#ifndef WF_BACKTRACE_H
#define WF_BACKTRACE_H

#include <pthread.h>

#include "base/compiler.h"

/* Before the first use; loads what the unwinder needs. Idempotent. */
void wf_backtrace_init(void);

/* The lowest and highest address of the calling thread's stack. */
void wf_backtrace_stack(uintptr_t *low, uintptr_t *high);

/* CPU time that a thread has used; 0 if that cannot be known. */
uint64_t wf_thread_cpu_ns(pthread_t thread);

/* Whether a thread waits in the kernel now. */
bool wf_thread_waits(int tid);

/* Where the stack ends that the address lies in; 0: not known. */
typedef uintptr_t wf_stack_end_fn(const void *arg, uintptr_t sp);

/* Writes thread `tid`'s stack to `text`, one frame a line. A thread that computes is asked by a signal; one that waits in the
 * kernel is not, as a signal would end its wait (sleep, poll and others are not
 * restarted): its stack is read from outside instead, and shows every return
 * address found there, which may include a few that are stale. `end` knows its stack. */
void wf_backtrace_of(int tid, wf_stack_end_fn *end, const void *arg, char *text, size_t size);

#endif
