/* mutex.h - what conditions need of mutexes. */
#ifndef WF_MUTEX_H
#define WF_MUTEX_H

#include "threads/home.h"

/* Waits for a mutex, or for a condition and then for its mutex. */
struct wf_mutex_waiter {
	struct wf_waiter waiter;
	uintptr_t who; /* owns it, when granted */
	const char *where;
};

/* Queues up one who sleeps and is in no list: it is woken when the mutex is its own,
 * or might be. Then it calls wf_mutex_woken, and owns it when that returns. */
void wf_mutex_queue(weft_mutex *m, struct wf_mutex_waiter *w);
void wf_mutex_woken(weft_mutex *m, struct wf_mutex_waiter *w);

/* Unlocks for `who`: 0 or -EPERM. */
int wf_mutex_release(weft_mutex *m, uintptr_t who);

#endif
