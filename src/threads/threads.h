/* threads.h - the door of threads, for scopes, which are made of the inside of threads. */
#ifndef WF_THREADS_H
#define WF_THREADS_H

#include "threads/body.h"
#include "threads/home.h"
#include "threads/leave.h"
#include "threads/scopes.h"
#include "threads/thread.h"

#endif
