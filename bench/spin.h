/* spin.h - the limit for channels between cores. */
#ifndef BENCH_SPIN_H
#define BENCH_SPIN_H

#include "threads.h"

/* A word goes to and fro between two kernel threads that spin. The argument is a
 * struct thread_work. Value: nanoseconds one way. */
int spin_ping_pong(const void *work, double *values);

#endif
