/* locks.h - debug builds know which thread holds which lock and which one waits for
 * which: they find deadlocks, and locks that are held where none should be.
 *
 * What is on record as held is held: it is noted after it was got and struck out
 * before it is given up. So a circle that is found is one.
 */
#ifndef WF_LOCKS_H
#define WF_LOCKS_H

#include "threads/thread.h"

/* A thread that is about to wait for a lock, without a deadline. On its stack. */
struct wf_locks_wait {
#ifdef WEFT_DEBUG
	struct wf_locks_wait *next;
	uint64_t search;                   /* that met it last */
	struct wf_locks_wait *from, *then; /* in it: who led here; who is next */
	weft_thread *thread;
	const struct wf_waiter *waiter;
	const void *object;
	const char *what, *where;
#else
	char none;
#endif
};

#ifdef WEFT_DEBUG
/* The running thread has got `object`, a `what`, at `where`. */
void wf_locks_got(const void *object, const char *what, const char *where);

/* It is about to give it up. False: it does not hold it. */
bool wf_locks_lost(const void *object);

/* It is about to wait for it as `waiter`: 0, or -EDEADLK, after a report, if that
 * closed a circle. Then, and after the wait, call wf_locks_wait_end. */
int wf_locks_wait_begin(struct wf_locks_wait *wait, const void *object, const char *what,
			const char *where, const struct wf_waiter *waiter);
void wf_locks_wait_end(struct wf_locks_wait *wait);

/* A thread ends, or hops: reports the locks that it holds. */
void wf_locks_thread_ends(weft_thread *t);
void wf_locks_thread_hops(weft_thread *t, const char *where);

/* The run is over, and its threads are gone. */
void wf_locks_run_ends(void);
#else
static inline void wf_locks_got(const void *object, const char *what, const char *where)
{
	(void)object;
	(void)what;
	(void)where;
}
static inline bool wf_locks_lost(const void *object)
{
	(void)object;
	return true;
}
static inline int wf_locks_wait_begin(struct wf_locks_wait *wait, const void *object,
				      const char *what, const char *where,
				      const struct wf_waiter *waiter)
{
	(void)wait;
	(void)object;
	(void)what;
	(void)where;
	(void)waiter;
	return 0;
}
static inline void wf_locks_wait_end(struct wf_locks_wait *wait)
{
	(void)wait;
}
static inline void wf_locks_thread_ends(weft_thread *t)
{
	(void)t;
}
static inline void wf_locks_thread_hops(weft_thread *t, const char *where)
{
	(void)t;
	(void)where;
}
static inline void wf_locks_run_ends(void) {}
#endif

#endif
