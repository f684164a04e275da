/* overflow.h - tells the user of a thread that ran off its stack. */
#ifndef WF_THREADS_OVERFLOW_H
#define WF_THREADS_OVERFLOW_H

#include "platform/overflow.h"

wf_overflow_fn wf_thread_overflowed;

#endif
