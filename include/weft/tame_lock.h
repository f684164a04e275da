/* weft/tame_lock.h - locks for tamed functions, exclusive and shared, held across waits.
 *
 *	twait { weft_lock_ev(&table, mkevent()); }
 *	twait { update(..., mkevent(rc)); }
 *	weft_unlock(&table);
 *
 * Functions of one color need no lock between two waits; this is for what must not change from
 * one side of a wait to the other, and for what functions of several colors share.
 *
 * Who asks first gets it first; several that ask for it shared, one behind the other, have it
 * together. It belongs to nobody in particular: whoever comes to the end of the work unlocks
 * it, in whatever color, plain C and threads too. To wait takes no stack, and the lock itself is
 * guarded for a few dozen instructions, by its color while only threads of one color use it and
 * else by a spin lock: were it owned by one color for good, the others would have to go there
 * and back for a lock that is free.
 */
#ifndef WEFT_TAME_LOCK_H
#define WEFT_TAME_LOCK_H

#include <weft/sync.h>
#include <weft/trigger.h>

WEFT_BEGIN_DECLS

/* A lock. All zeros is a lock that is free. */
typedef struct weft_tame_lock {
	/* Weft's. */
	struct wf_home home_;
	int32_t holders_; /* how many share it; -1: one has it alone */
	struct wf_tame_locker *first_, *last_;
	struct wf_of_run of_run_; /* the waiters, and their run */
} weft_tame_lock;

#define WEFT_TAME_LOCK_INIT \
	{ \
		WEFT_HOME_INIT_, 0, WEFT_NULL_, WEFT_NULL_, WEFT_OF_RUN_INIT_ \
	}

/* Makes a lock, and ends one that nobody holds or waits for.
 *
 * Context:  any thread.
 * Misuse:   weft_tame_lock_fini of one that is in use: reported
 * Returns:  weft_tame_lock_fini: 0, or -EBUSY
 */
static inline void weft_tame_lock_init(weft_tame_lock *l)
{
	memset(l, 0, sizeof *l);
}
WEFT_API int weft_tame_lock_fini(weft_tame_lock *l);
WEFT_API int weft_tame_lock_fini_at(weft_tame_lock *l, const char *where);
#define weft_tame_lock_fini(...) weft_tame_lock_fini_at(__VA_ARGS__, WEFT_HERE)

/* Triggers `e` when the caller has the lock: alone, or shared with others that asked for it so.
 * If e is cancelled before, the lock is not held, or is given back at once. A cancelled thread
 * that waits for e still gets the lock: e has no value that could tell that it did not.
 *
 * Borrows:  l, until it was unlocked, or until e was cancelled and that has come to the color of
 *           the caller.
 * Takes:    e.
 * Context:  a handler or a thread, in exclusive use of its color. Never blocks.
 * Misuse:   called elsewhere; or an event waited for the lock when an earlier run was
 *           stopped: reported, and e is given back
 */
WEFT_API void weft_lock_ev(weft_tame_lock *l, WEFT_EVENT() e);
WEFT_API void weft_lock_shared_ev(weft_tame_lock *l, WEFT_EVENT() e);

/* Take the lock if nobody has it, or waits for it.
 *
 * Context:  any thread.
 * Returns:  0, or -EBUSY
 *           -EOWNERDEAD an event waited for it when an earlier run was stopped: make it new by
 *                       weft_tame_lock_fini, weft_tame_lock_init or all zeros
 */
WEFT_API int weft_trylock(weft_tame_lock *l);
WEFT_API int weft_trylock_at(weft_tame_lock *l, const char *where);
#define weft_trylock(...) weft_trylock_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_trylock_shared(weft_tame_lock *l);
WEFT_API int weft_trylock_shared_at(weft_tame_lock *l, const char *where);
#define weft_trylock_shared(...) weft_trylock_shared_at(__VA_ARGS__, WEFT_HERE)

/* Unlocks what was locked in either way: who waits longest has it next.
 *
 * Context:  any thread.
 * Misuse:   it is not locked: reported
 * Returns:  0, or -EPERM, or -EOWNERDEAD as weft_trylock
 */
WEFT_API int weft_unlock(weft_tame_lock *l);
WEFT_API int weft_unlock_at(weft_tame_lock *l, const char *where);
#define weft_unlock(...) weft_unlock_at(__VA_ARGS__, WEFT_HERE)

WEFT_END_DECLS
#endif
