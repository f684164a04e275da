/* lock.h - a spin lock for sections of a few dozen instructions.
 *
 * Uncontended it costs one atomic exchange. The waiter spins on a plain load,
 * then gives its time slice away, then naps: the holder has been preempted. Rejected:
 * pthread_mutex (twice the cost uncontended), ticket locks (a preempted waiter
 * stops all behind it).
 */
#ifndef WF_LOCK_H
#define WF_LOCK_H

#include <sched.h>

#include "base/compiler.h"
#include "base/lock_order.h"

struct WF_CAPABILITY wf_lock {
	_Atomic uint32_t held;
#ifdef WEFT_DEBUG
	enum wf_rank rank;
#endif
};

#ifdef WEFT_DEBUG
void wf_lock_order_take(const struct wf_lock *lock);
void wf_lock_order_give(const struct wf_lock *lock);
/* Aborts if the calling thread holds any lock. */
void wf_lock_order_none(void);
#else
static inline void wf_lock_order_take(const struct wf_lock *lock)
{
	(void)lock;
}
static inline void wf_lock_order_give(const struct wf_lock *lock)
{
	(void)lock;
}
static inline void wf_lock_order_none(void) {}
#endif

#ifdef WEFT_DEBUG
#define WF_LOCK_INIT(of_rank) \
	{ \
		.rank = (of_rank) \
	}
#else
#define WF_LOCK_INIT(of_rank) \
	{ \
		0 \
	}
#endif

static inline void wf_lock_init(struct wf_lock *lock, enum wf_rank rank)
{
	atomic_init(&lock->held, 0);
#ifdef WEFT_DEBUG
	lock->rank = rank;
#else
	(void)rank;
#endif
}

void wf_lock_wait(struct wf_lock *lock);

static inline void wf_lock_take(struct wf_lock *lock) WF_ACQUIRE(lock) WF_NO_THREAD_SAFETY
{
	wf_lock_order_take(lock);
	if (WF_UNLIKELY(atomic_exchange_explicit(&lock->held, 1, memory_order_acquire)))
		wf_lock_wait(lock);
}

static inline bool wf_lock_try(struct wf_lock *lock) WF_TRY_ACQUIRE(true, lock) WF_NO_THREAD_SAFETY
{
	if (WF_LOAD(&lock->held) || atomic_exchange_explicit(&lock->held, 1, memory_order_acquire))
		return false;
	wf_lock_order_take(lock);
	return true;
}

static inline void wf_lock_give(struct wf_lock *lock) WF_RELEASE(lock) WF_NO_THREAD_SAFETY
{
	wf_lock_order_give(lock);
	atomic_store_explicit(&lock->held, 0, memory_order_release);
}

#endif
