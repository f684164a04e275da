/* unwind.h - the frames of a stack that does not run, without touching anything else.
 *
 * By the tables that compilers make for exceptions (.eh_frame), so that it works
 * without frame pointers. Reads nothing but these tables and [low, high), so it may
 * look at a stack that somebody changes meanwhile: what it finds is wrong then, but it
 * comes to an end. Takes no lock of ours and no memory: for signal handlers too.
 *
 * Rejected: the unwinder of the compiler's library, which begins at its caller and
 * believes what it reads.
 */
#ifndef WF_UNWIND_H
#define WF_UNWIND_H

#include "base/compiler.h"

#if defined(__x86_64__)
enum { WF_UNWIND_REGS = 17, WF_UNWIND_SP = 7 };
#else
enum { WF_UNWIND_REGS = 33, WF_UNWIND_SP = 31 };
#endif

struct wf_unwind {
	uintptr_t low, high;            /* the memory that may be read */
	uintptr_t pc;                   /* the address in the frame's function */
	bool exact;                     /* pc is where it is, not where a call returns to */
	bool moved;                     /* it is not the first frame */
	uintptr_t regs[WF_UNWIND_REGS]; /* by DWARF's numbers */
};

/* From where a flow of control was left by wf_switch, with sp in its context. */
void wf_unwind_left(struct wf_unwind *u, uintptr_t sp, uintptr_t low, uintptr_t high);

/* From where a signal came: `context` is the third argument of its handler. */
void wf_unwind_signal(struct wf_unwind *u, const void *context, uintptr_t low, uintptr_t high);

/* Whether a flow that was left has ever run. */
bool wf_unwind_begun(const struct wf_unwind *u);

/* Goes to the caller. False: there is none, or nobody knows. */
bool wf_unwind_step(struct wf_unwind *u);

/* An address in the instruction that the frame is at, to look its name up. */
static inline uintptr_t wf_unwind_place(const struct wf_unwind *u)
{
	return u->exact ? u->pc : u->pc - 1;
}

static inline uintptr_t wf_unwind_sp(const struct wf_unwind *u)
{
	return u->regs[WF_UNWIND_SP];
}

#endif
