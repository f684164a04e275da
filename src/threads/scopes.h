/* scopes.h - what threads ask of scopes, which are above them: src/async/scope.c. */
#ifndef WF_THREADS_SCOPES_H
#define WF_THREADS_SCOPES_H

#include "threads/thread.h"

/* t belongs to the scope where it was started from now on: it was just made, or is a body
 * that is about to wait for the first time. `self` is the running thread. */
void wf_scope_join(weft_thread *t, weft_thread *self);

/* The same for a body, which has a scope, and lies on `under`: goes on with wf_body_leave_for. */
int wf_scope_join_last(weft_thread *t, weft_thread *under);

/* The running thread has come to its end, with t->result: ends the scopes that it left
 * open, and leaves the one that it belongs to. Switches. Returns the thread that waited
 * for that, if it is of the same color and so may go on at once; it is not woken. */
weft_thread *wf_scope_leave(weft_thread *t);

/* The same for one with a scope, and with nothing else to tidy up: goes on with
 * wf_thread_end_for. */
void wf_scope_leave_last(weft_thread *t);

/* The running thread came to another color: looks at what was cancelled meanwhile. */
void wf_scope_hopped(weft_thread *t);

#endif
