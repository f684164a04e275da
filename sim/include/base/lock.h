/* lock.h - the pretend machine's lock: taking it costs virtual time, and while one
 * virtual core waits for it the others go on. Stands in for src/base/lock.h when
 * the scheduler is compiled for the simulator; every take and give is a place
 * where another core may come in between.
 */
#ifndef WF_LOCK_H
#define WF_LOCK_H

#include "base/compiler.h"
#include "base/lock_order.h"

struct sim_core;

struct WF_CAPABILITY wf_lock {
	enum wf_rank rank;
	bool held;
	int last; /* core that held it, or -1: its line is warm there */
	struct sim_core *waiting;
	unsigned waiters;
};

static inline void wf_lock_init(struct wf_lock *lock, enum wf_rank rank)
{
	*lock = (struct wf_lock){ .rank = rank, .last = -1 };
}

void wf_lock_take(struct wf_lock *lock) WF_ACQUIRE(lock);
bool wf_lock_try(struct wf_lock *lock) WF_TRY_ACQUIRE(true, lock);
void wf_lock_give(struct wf_lock *lock) WF_RELEASE(lock);

#endif
