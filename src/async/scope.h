/* scope.h - the inside of scopes: what a finish block is at run time.
 *
 * Terms. A scope's owner is the thread that began it, and lives on its stack. Its members
 * are the threads that were started in it: bodies from when they first wait on, others
 * from the start. A thread's own scopes are those that it has begun; the innermost is
 * t->scope, and `up_` leads outward, past the outermost of its own to the one that it
 * belongs to.
 *
 * Guarding. The list of members, the error and `waiting_` are guarded by the home
 * (threads/home.h) of the scope: its owner's color, by plain loads and stores, until
 * another color comes. A thread's own chain, t->scope, is its color's.
 *
 * Cancelling goes from scope to threads to scopes. To mark a scope is to set cancelled_,
 * and to tell its owner and its members. To tell a thread is to look, in its color, at its
 * own scopes (those inside a cancelled one are marked, but for shields and what is
 * inside of them), and at its wait. A thread of another color is told by an event, its
 * kick. If it hops away from that it looks itself, when it arrives: it hops before it
 * looks at cancelled_, and who cancels sets that before it looks where the thread is.
 */
#ifndef WF_SCOPE_H
#define WF_SCOPE_H

#include <weft/scope.h>

#include "threads/threads.h"

/* Keeps the scope's first error. */
void wf_scope_note(weft_scope *s, int error);

/* Whether the scope's deadline is past: then it is cancelled. Its timer comes late where a color is
 * busy. By a thread in the scope, or its owner. */
bool wf_scope_overdue(weft_scope *s);

/* Lets a thread look soon, in its color, at what is cancelled. It lives: the caller is inside
 * a scope's guard that it must pass before it ends. */
void wf_cancel_kick(weft_thread *t);

/* Waits until the kick of the running thread, which is under way, has come. Switches. */
void wf_cancel_settle(weft_thread *t);

#endif
