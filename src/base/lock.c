/* lock.c - the slow half of the spin lock, and the check of the lock order. */
#include "base/lock.h"

#include <time.h>

#include "base/report.h"

enum { SPINS = 64, YIELDS = 32, NAP_NS = 20000 };

/* Whoever still holds the lock has lost its CPU, perhaps to others than us: then yielding
 * would only burn ours, while one that is idle lets the kernel move the holder there. */
static void nap(void)
{
	struct timespec ts = { 0, NAP_NS };

	nanosleep(&ts, NULL);
}

void wf_lock_wait(struct wf_lock *lock)
{
	do {
		for (int i = 0; WF_LOAD(&lock->held); i++) {
			if (i < SPINS)
				wf_relax();
			else if (i < SPINS + YIELDS)
				sched_yield();
			else
				nap();
		}
	} while (atomic_exchange_explicit(&lock->held, 1, memory_order_acquire));
}

#ifdef WEFT_DEBUG
/* One bit for each rank that this thread holds. */
static _Thread_local uint32_t held_ranks;

void wf_lock_order_take(const struct wf_lock *lock)
{
	uint32_t at_or_above = held_ranks >> lock->rank;

	if (at_or_above != 0)
		wf_bug("lock of rank %d taken while holding ranks %#x", (int)lock->rank,
		       held_ranks);
	held_ranks |= 1u << lock->rank;
}

void wf_lock_order_give(const struct wf_lock *lock)
{
	held_ranks &= ~(1u << lock->rank);
}

void wf_lock_order_none(void)
{
	if (held_ranks != 0)
		wf_bug("locks of ranks %#x are held where none may be", held_ranks);
}
#endif
