/* trim.h - stacks of threads that wait for long give their unused pages back. */
#ifndef WF_TRIM_H
#define WF_TRIM_H

#include "base/compiler.h"

/* For so long a thread must have waited. Tests make it short. */
extern uint64_t wf_trim_after_ns;

/* True while somebody will look at the threads that wait. */
extern _Atomic bool wf_trim_armed;

/* A thread is about to wait, and nobody will look. */
void wf_trim_arm(void);

/* At the beginning of a run. */
void wf_trim_start(void);

#endif
