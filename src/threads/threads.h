/* threads.h - the door of threads, for scopes, which are made of the inside of threads, and for
 * what waits without a stack. */
#ifndef WF_THREADS_H
#define WF_THREADS_H

#include "threads/body.h"
#include "threads/call.h"
#include "threads/channel.h"
#include "threads/home.h"
#include "threads/leave.h"
#include "threads/mutex.h"
#include "threads/scopes.h"
#include "threads/signals.h"
#include "threads/thread.h"

#endif
