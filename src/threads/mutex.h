/* mutex.h - what conditions need of mutexes, and those who wait without a stack. */
#ifndef WF_MUTEX_H
#define WF_MUTEX_H

#include "threads/home.h"

/* Waits for a mutex, or for a condition and then for its mutex. */
struct wf_mutex_waiter {
	struct wf_waiter waiter;
	uintptr_t who; /* owns it, when granted */
	const char *where;
	uint64_t called; /* ticks, when it first was, if it is shared; else 0 */
	uint32_t pause;  /* ns for which it stays awake before it looks again; 0: it sleeps */
};

/* Queues a waiter that sleeps and is in no list; the mutex is not left over from another run. The
 * waiter is woken when it owns the mutex, or may get it. Then it calls wf_mutex_woken, and owns the
 * mutex when that returns. */
void wf_mutex_queue(weft_mutex *m, struct wf_mutex_waiter *w);
void wf_mutex_woken(weft_mutex *m, struct wf_mutex_waiter *w);

/* The owner of a mutex that was locked by one without a stack. Whoever unlocks it may. */
static inline uintptr_t wf_mutex_nobody(const weft_mutex *m)
{
	return (uintptr_t)m | 1 | (uintptr_t)wf_run_number() << WF_RUN_SHIFT;
}

/* Locks it for that owner if it is free: 0, or -EBUSY, or -EOWNERDEAD. */
int wf_mutex_try(weft_mutex *m, const char *where);

/* Whether the mutex is left over from another run; if so, reports it. */
bool wf_mutex_is_left_over(weft_mutex *m, const char *where);

/* One without a stack was queued, and woken: 0: it owns it; -EBUSY: it is woken again; or, if
 * it does not own it, `error`, which is not 0 if it was told to stop. */
int wf_mutex_answer(weft_mutex *m, struct wf_mutex_waiter *w, int error);
/* Tells it to stop: false if it is woken, or will be. */
bool wf_mutex_stop(weft_mutex *m, struct wf_mutex_waiter *w);

/* Unlocks for `who`: 0 or -EPERM, or -EOWNERDEAD. */
int wf_mutex_release(weft_mutex *m, uintptr_t who, const char *where);

#endif
