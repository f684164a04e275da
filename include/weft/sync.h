/* weft/sync.h - waiting for each other: locks, counts and meeting points.
 *
 * Threads of one color need no lock for what they do between two waits. These
 * objects are for what spans a wait, and for what several colors share. While one
 * color alone uses an object it is touched by plain loads and stores; from the
 * first use elsewhere on by a spin lock for a few instructions. A wait never
 * blocks the worker.
 *
 * All zeros is a new object, ready for use, and so are the WEFT_..._INIT initialisers;
 * semaphores and barriers need theirs, for their number. Nothing is allocated, so
 * there is nothing to free. Whoever waits is served in the order of coming.
 *
 * Who may call. "Anywhere" is: threads, plain handlers, and kernel threads that are
 * not Weft's (those of the offload pool too); never a signal handler. Calls that may wait stop only the
 * calling thread; a foreign kernel thread sleeps in the kernel; a plain handler
 * cannot wait, and gets -EPERM where a wait would be needed. A run that waits for
 * foreign kernel threads only must be kept going by weft_hold.
 *
 * Deadlines. Each waiting call has a form that ends in _until and takes a time on
 * weft_now's clock. It is exact: when the deadline races with what was waited for,
 * either that was got and 0 is returned, or it was not and -ETIMEDOUT is. A call
 * that need not wait does not look at the deadline.
 *
 * Lifetime. An object may be freed when nobody is in a call with it any more, or only
 * such as were let go on by a call that has returned: by the last to come to a barrier,
 * by a broadcast that found them all. A call that was let go on does not touch it again
 * (but for a mutex, which a condition locks again, and for a once), even if its deadline
 * comes meanwhile. Who is in a call that nobody let go on uses the object until that
 * has returned.
 *
 * The end of a run. weft_stop discards the threads that wait, and so does a run that
 * ends with -EDEADLK. An object that such a thread held or waited for is left in use.
 * Every later call with it, outside of runs or in another run, returns -EOWNERDEAD,
 * reports the caller's line and changes nothing, until the object is made new: by its
 * fini, its init, its WEFT_..._INIT or all zeros. Repair what the object guarded or
 * counted first: it may be half changed. Objects that were not in use keep working in the
 * next run. If a foreign kernel thread waits for an object that a run leaves in use, only
 * its deadline wakes it: wake or join such threads before you stop the run.
 *
 * Outside of runs foreign kernel threads may wait for each other. If no run is under way
 * and all threads of the process wait like that without a deadline, no thread is left to
 * wake one: the last thread that began to wait is reported, and gets -EDEADLK.
 */
#ifndef WEFT_SYNC_H
#define WEFT_SYNC_H

#include <weft/thread.h>

WEFT_BEGIN_DECLS

/* Weft's own part of each object: how it is guarded, and who waits. */
struct wf_of_run {
	uint32_t count, run; /* how many waiters or holders, and the number of their run */
};
struct wf_waiter;
struct wf_waiters {
	struct wf_waiter *first, *last;
	struct wf_of_run of_run; /* the waiters that belong to a run */
};
struct wf_home {
	uint64_t color;
	uint32_t lock, inside;
};

#define WEFT_HOME_INIT_ \
	{ \
		0, 0, 0 \
	}
#define WEFT_OF_RUN_INIT_ \
	{ \
		0, 0 \
	}
#define WEFT_WAITERS_INIT_ \
	{ \
		WEFT_NULL_, WEFT_NULL_, WEFT_OF_RUN_INIT_ \
	}

/* A mutex: one owner at a time. An unlock wakes the one that has waited longest; until
 * that runs others may still lock the mutex, but no more than 32 times, and where colors
 * share it until some 200 microseconds have passed as well; then it is handed over. So those who
 * wait get it in the order of coming, and nobody starves. */
typedef struct weft_mutex {
	struct wf_home home_;
	uintptr_t owner_;
	const char *where_;
	struct wf_waiters waiters_;
	uint32_t called_, overtaken_;
} weft_mutex;

#define WEFT_MUTEX_INIT \
	{ \
		WEFT_HOME_INIT_, 0, WEFT_NULL_, WEFT_WAITERS_INIT_, 0, 0 \
	}

/* Locks a mutex, or waits until it can.
 *
 * Context:  anywhere; waits.
 * Misuse:   locking it again; in debug builds also a wait that closes a circle of
 *           threads that wait for each other
 * Returns:  0           the caller owns it
 *           -ETIMEDOUT  the deadline came first; it does not
 *           -ECANCELED  the wait was cancelled; it does not
 *           -EDEADLK    it owns it already, or all would wait for ever
 *           -EPERM      a plain handler would have to wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_mutex_lock_until(weft_mutex *m, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_mutex_lock_until_at(weft_mutex *m, uint64_t deadline,
						 const char *where);
#define weft_mutex_lock_until(...) weft_mutex_lock_until_at(__VA_ARGS__, WEFT_HERE)
WEFT_API WEFT_WAITS int weft_mutex_lock(weft_mutex *m);
WEFT_API WEFT_WAITS int weft_mutex_lock_at(weft_mutex *m, const char *where);
#define weft_mutex_lock(...) weft_mutex_lock_at(__VA_ARGS__, WEFT_HERE)

/* Locks a mutex if nobody owns it. A plain handler must unlock it before it
 * returns.
 *
 * Context:  anywhere; never waits.
 * Returns:  0, or -EBUSY, or -EOWNERDEAD as weft_mutex_lock
 */
WEFT_API int weft_mutex_trylock(weft_mutex *m);
WEFT_API int weft_mutex_trylock_at(weft_mutex *m, const char *where);
#define weft_mutex_trylock(...) weft_mutex_trylock_at(__VA_ARGS__, WEFT_HERE)

/* Unlocks a mutex, and wakes the one that has waited longest.
 *
 * Context:  its owner; anywhere, if it was locked by an event (weft_mutex_lock_ev). Never waits.
 * Misuse:   called by another
 * Returns:  0
 *           -EPERM      the caller does not own it; nothing changed
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_mutex_unlock(weft_mutex *m);
WEFT_API int weft_mutex_unlock_at(weft_mutex *m, const char *where);
#define weft_mutex_unlock(...) weft_mutex_unlock_at(__VA_ARGS__, WEFT_HERE)

/* Checks that a mutex is not in use, and makes it new. A mutex that an earlier run left in
 * use (one of its threads held it or waited for it) becomes new as well. Otherwise nobody
 * needs this call: like the fini of the other objects, it only finds mistakes.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Misuse:   it is held, or somebody waits for it
 * Returns:  0
 *           -EBUSY      it is in use; nothing changed
 */
WEFT_API int weft_mutex_fini(weft_mutex *m);
WEFT_API int weft_mutex_fini_at(weft_mutex *m, const char *where);
#define weft_mutex_fini(...) weft_mutex_fini_at(__VA_ARGS__, WEFT_HERE)

/* A condition: threads that hold a mutex wait for something that others change
 * under the same mutex. */
typedef struct weft_cond {
	struct wf_home home_;
	struct wf_waiters waiters_;
} weft_cond;

#define WEFT_COND_INIT \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_ \
	}

/* Unlocks the mutex, waits for a signal, and locks the mutex again. There are no
 * wake-ups without a signal, but others may have had the mutex in between: look
 * again at what was waited for.
 *
 * Context:  the owner of the mutex; waits.
 * Misuse:   called by another
 * Returns:  0           signalled. In each case the caller owns the mutex again,
 *                       and has waited for it without regard to the deadline
 *           -ETIMEDOUT  the deadline came first; no signal is lost
 *           -ECANCELED  the wait was cancelled; the same
 *           -EPERM      the caller does not own the mutex, or is a plain handler
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_cond_wait_until(weft_cond *c, weft_mutex *m, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_cond_wait_until_at(weft_cond *c, weft_mutex *m, uint64_t deadline,
						const char *where);
#define weft_cond_wait_until(...) weft_cond_wait_until_at(__VA_ARGS__, WEFT_HERE)
WEFT_API WEFT_WAITS int weft_cond_wait(weft_cond *c, weft_mutex *m);
WEFT_API WEFT_WAITS int weft_cond_wait_at(weft_cond *c, weft_mutex *m, const char *where);
#define weft_cond_wait(...) weft_cond_wait_at(__VA_ARGS__, WEFT_HERE)

/* Lets the one that has waited longest go on, or all that wait now. They go on one
 * after the other, each when it gets the mutex, and are not woken before.
 *
 * Context:  anywhere, with or without the mutex; never waits.
 * Returns:  how many were let go on
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_cond_signal(weft_cond *c);
WEFT_API int weft_cond_signal_at(weft_cond *c, const char *where);
#define weft_cond_signal(...) weft_cond_signal_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_cond_broadcast(weft_cond *c);
WEFT_API int weft_cond_broadcast_at(weft_cond *c, const char *where);
#define weft_cond_broadcast(...) weft_cond_broadcast_at(__VA_ARGS__, WEFT_HERE)

/* As weft_mutex_fini.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_cond_fini(weft_cond *c);
WEFT_API int weft_cond_fini_at(weft_cond *c, const char *where);
#define weft_cond_fini(...) weft_cond_fini_at(__VA_ARGS__, WEFT_HERE)

/* A lock for many readers or one writer. Fair: it is given in the order of coming,
 * to readers that came one after the other together, so neither side starves.
 * Hence a reader that locks it again may wait for a writer who waits for it. */
typedef struct weft_rwlock {
	struct wf_home home_;
	uintptr_t owner_;
	const char *where_;
	struct wf_waiters waiters_;
	uint32_t readers_;
	struct wf_of_run readers_of_run_;
} weft_rwlock;

#define WEFT_RWLOCK_INIT \
	{ \
		WEFT_HOME_INIT_, 0, WEFT_NULL_, WEFT_WAITERS_INIT_, 0, WEFT_OF_RUN_INIT_ \
	}

/* Locks for reading, beside other readers, or for writing, alone.
 *
 * Context, Misuse, Returns: as weft_mutex_lock
 */
WEFT_API WEFT_WAITS int weft_rwlock_rdlock_until(weft_rwlock *l, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_rwlock_rdlock(weft_rwlock *l);
WEFT_API WEFT_WAITS int weft_rwlock_rdlock_until_at(weft_rwlock *l, uint64_t deadline,
						    const char *where);
#define weft_rwlock_rdlock_until(...) weft_rwlock_rdlock_until_at(__VA_ARGS__, WEFT_HERE)
WEFT_API WEFT_WAITS int weft_rwlock_wrlock_until(weft_rwlock *l, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_rwlock_wrlock(weft_rwlock *l);
WEFT_API WEFT_WAITS int weft_rwlock_wrlock_until_at(weft_rwlock *l, uint64_t deadline,
						    const char *where);
#define weft_rwlock_wrlock_until(...) weft_rwlock_wrlock_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_rwlock_rdlock(...) weft_rwlock_rdlock_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)
#define weft_rwlock_wrlock(...) weft_rwlock_wrlock_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* The same if it need not wait, also not behind those who wait.
 *
 * Context:  anywhere; never waits.
 * Returns:  0, or -EBUSY, or -EOWNERDEAD as weft_mutex_lock
 */
WEFT_API int weft_rwlock_tryrdlock(weft_rwlock *l);
WEFT_API int weft_rwlock_tryrdlock_at(weft_rwlock *l, const char *where);
#define weft_rwlock_tryrdlock(...) weft_rwlock_tryrdlock_at(__VA_ARGS__, WEFT_HERE)
WEFT_API int weft_rwlock_trywrlock(weft_rwlock *l);
WEFT_API int weft_rwlock_trywrlock_at(weft_rwlock *l, const char *where);
#define weft_rwlock_trywrlock(...) weft_rwlock_trywrlock_at(__VA_ARGS__, WEFT_HERE)

/* Unlocks what the caller locked, for reading or for writing.
 *
 * Context:  who locked it; never waits.
 * Misuse:   called by another. With readers that is found in debug builds only
 * Returns:  0
 *           -EPERM      the caller did not lock it; nothing changed
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_rwlock_unlock(weft_rwlock *l);
WEFT_API int weft_rwlock_unlock_at(weft_rwlock *l, const char *where);
#define weft_rwlock_unlock(...) weft_rwlock_unlock_at(__VA_ARGS__, WEFT_HERE)

/* As weft_mutex_fini.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_rwlock_fini(weft_rwlock *l);
WEFT_API int weft_rwlock_fini_at(weft_rwlock *l, const char *where);
#define weft_rwlock_fini(...) weft_rwlock_fini_at(__VA_ARGS__, WEFT_HERE)

/* A semaphore: a number of units that are taken and put back, by anybody.
 * WEFT_SEM_INIT(units) or weft_sem_init says how many; all zeros has none. */
typedef struct weft_sem {
	struct wf_home home_;
	struct wf_waiters waiters_;
	uint32_t value_;
} weft_sem;

#define WEFT_SEM_INIT(units) \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_, WEFT_NUMBER_(uint32_t, units) \
	}

/* Fills in a semaphore that holds so many units. */
static inline void weft_sem_init(weft_sem *s, uint32_t units)
{
	memset(s, 0, sizeof *s);
	s->value_ = units;
}

/* Takes a unit, or waits until there is one.
 *
 * Context:  anywhere; waits.
 * Returns:  0           the caller took one
 *           -ETIMEDOUT  the deadline came first; it did not
 *           -ECANCELED  the wait was cancelled; it did not
 *           -EPERM      a plain handler would have to wait
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_sem_wait_until(weft_sem *s, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_sem_wait(weft_sem *s);
WEFT_API WEFT_WAITS int weft_sem_wait_until_at(weft_sem *s, uint64_t deadline, const char *where);
#define weft_sem_wait_until(...) weft_sem_wait_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_sem_wait(...) weft_sem_wait_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* Takes a unit if there is one.
 *
 * Context:  anywhere; never waits.
 * Returns:  0, or -EBUSY, or -EOWNERDEAD as weft_sem_wait
 */
WEFT_API int weft_sem_trywait(weft_sem *s);
WEFT_API int weft_sem_trywait_at(weft_sem *s, const char *where);
#define weft_sem_trywait(...) weft_sem_trywait_at(__VA_ARGS__, WEFT_HERE)

/* Puts a unit in: the one that has waited longest gets it.
 *
 * Context:  anywhere; never waits.
 * Returns:  0
 *           -EOVERFLOW  it holds 2^32 - 1; nothing changed
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_sem_post(weft_sem *s);
WEFT_API int weft_sem_post_at(weft_sem *s, const char *where);
#define weft_sem_post(...) weft_sem_post_at(__VA_ARGS__, WEFT_HERE)

/* As weft_mutex_fini.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_sem_fini(weft_sem *s);
WEFT_API int weft_sem_fini_at(weft_sem *s, const char *where);
#define weft_sem_fini(...) weft_sem_fini_at(__VA_ARGS__, WEFT_HERE)

/* Something to be done once, whoever comes first. */
typedef struct weft_once {
	struct wf_home home_;
	struct wf_waiters waiters_;
	uintptr_t runner_;
	uint32_t done_;
} weft_once;

#define WEFT_ONCE_INIT \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_, 0, 0 \
	}

/* Runs `fn(arg)` if nobody has, or waits until the one who does has finished. The
 * deadline is for the wait. If fn ends its thread (weft_exit) it counts as not
 * done, and one of those who wait runs it.
 *
 * Context:  anywhere; waits.
 * Misuse:   called from its own fn
 * Returns:  0           fn has returned
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EDEADLK    the caller is in fn, or no thread is left that could end the wait
 *           -EPERM      a plain handler would have to wait
 *           -EOWNERDEAD an earlier run ended while one of its threads was in fn: the work of
 *                       fn may be half done
 */
WEFT_API WEFT_WAITS int weft_once_run_until(weft_once *o, weft_fn *fn, void *arg,
					    uint64_t deadline);
WEFT_API WEFT_WAITS int weft_once_run(weft_once *o, weft_fn *fn, void *arg);
WEFT_API WEFT_WAITS int weft_once_run_until_at(weft_once *o, weft_fn *fn, void *arg,
					       uint64_t deadline, const char *where);
#define weft_once_run_until(...) weft_once_run_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_once_run(...) weft_once_run_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* A barrier: a number of parties meet, again and again. WEFT_BARRIER_INIT(parties) or
 * weft_barrier_init says how many. */
typedef struct weft_barrier {
	struct wf_home home_;
	struct wf_waiters waiters_;
	uint64_t round_;
	uint32_t parties_, here_;
} weft_barrier;

#define WEFT_BARRIER_INIT(parties) \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_, 0, WEFT_NUMBER_(uint32_t, parties), 0 \
	}

/* Fills in a barrier for so many. */
static inline void weft_barrier_init(weft_barrier *b, uint32_t parties)
{
	memset(b, 0, sizeof *b);
	b->parties_ = parties;
}

/* What weft_barrier_wait returns to one of those who met. */
#define WEFT_BARRIER_LAST 1

/* Waits until all parties are here. Who leaves because of a deadline is not counted
 * as being here.
 *
 * Context:  anywhere; waits.
 * Returns:  0, or WEFT_BARRIER_LAST for one of them, the last to come
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EINVAL     it has no parties
 *           -EPERM      a plain handler would have to wait
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_barrier_wait_until(weft_barrier *b, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_barrier_wait(weft_barrier *b);
WEFT_API WEFT_WAITS int weft_barrier_wait_until_at(weft_barrier *b, uint64_t deadline,
						   const char *where);
#define weft_barrier_wait_until(...) weft_barrier_wait_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_barrier_wait(...) weft_barrier_wait_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* As weft_mutex_fini; it keeps its parties.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_barrier_fini(weft_barrier *b);
WEFT_API int weft_barrier_fini_at(weft_barrier *b, const char *where);
#define weft_barrier_fini(...) weft_barrier_fini_at(__VA_ARGS__, WEFT_HERE)

/* A wait group: counts work that is under way. */
typedef struct weft_waitgroup {
	struct wf_home home_;
	struct wf_waiters waiters_;
	uint64_t round_;
	int64_t count_;
} weft_waitgroup;

#define WEFT_WAITGROUP_INIT \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_, 0, 0 \
	}

/* Counts `n` more, or fewer if it is negative; weft_waitgroup_done counts one fewer.
 * When the count comes to 0 all go on who wait. Count before the work starts, not in
 * it.
 *
 * Context:  anywhere; never waits.
 * Misuse:   counting below 0
 * Returns:  0
 *           -EINVAL     the count would fall below 0; nothing changed
 *           -EOVERFLOW  it would be too large; nothing changed
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_waitgroup_add(weft_waitgroup *g, int64_t n);
WEFT_API int weft_waitgroup_done(weft_waitgroup *g);
WEFT_API int weft_waitgroup_add_at(weft_waitgroup *g, int64_t n, const char *where);
#define weft_waitgroup_add(...) weft_waitgroup_add_at(__VA_ARGS__, WEFT_HERE)
#define weft_waitgroup_done(...) weft_waitgroup_add_at(__VA_ARGS__, -1, WEFT_HERE)

/* Waits until the count is 0. If it rises again at once, it has been 0.
 *
 * Context:  anywhere; waits.
 * Returns:  0
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EPERM      a plain handler would have to wait
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_waitgroup_wait_until(weft_waitgroup *g, uint64_t deadline);
WEFT_API WEFT_WAITS int weft_waitgroup_wait(weft_waitgroup *g);
WEFT_API WEFT_WAITS int weft_waitgroup_wait_until_at(weft_waitgroup *g, uint64_t deadline,
						     const char *where);
#define weft_waitgroup_wait_until(...) weft_waitgroup_wait_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_waitgroup_wait(...) weft_waitgroup_wait_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* As weft_mutex_fini.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_waitgroup_fini(weft_waitgroup *g);
WEFT_API int weft_waitgroup_fini_at(weft_waitgroup *g, const char *where);
#define weft_waitgroup_fini(...) weft_waitgroup_fini_at(__VA_ARGS__, WEFT_HERE)

/* An event count: lets threads wait for a change of something that is not under a
 * lock, such as a ring of atomics. */
typedef struct weft_eventcount {
	struct wf_home home_;
	struct wf_waiters waiters_;
	uint64_t count_;
} weft_eventcount;

#define WEFT_EVENTCOUNT_INIT \
	{ \
		WEFT_HOME_INIT_, WEFT_WAITERS_INIT_, 0 \
	}

/* Reads the count. Then look whether there is something to wait for, and if so give
 * the count to weft_eventcount_wait: an advance since this call ends that wait at
 * once, so none is missed.
 *
 * Context:  anywhere; never waits.
 * Returns:  the count
 */
WEFT_API uint64_t weft_eventcount_prepare(weft_eventcount *e);

/* Waits until the count is another than `seen`.
 *
 * Context:  anywhere; waits.
 * Returns:  0
 *           -ETIMEDOUT  the deadline came first
 *           -ECANCELED  the wait was cancelled
 *           -EPERM      a plain handler would have to wait
 *           -EDEADLK    outside of runs, and no thread is left that could end the wait
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API WEFT_WAITS int weft_eventcount_wait_until(weft_eventcount *e, uint64_t seen,
						   uint64_t deadline);
WEFT_API WEFT_WAITS int weft_eventcount_wait(weft_eventcount *e, uint64_t seen);
WEFT_API WEFT_WAITS int weft_eventcount_wait_until_at(weft_eventcount *e, uint64_t seen,
						      uint64_t deadline, const char *where);
#define weft_eventcount_wait_until(...) weft_eventcount_wait_until_at(__VA_ARGS__, WEFT_HERE)
#define weft_eventcount_wait(...) \
	weft_eventcount_wait_until_at(__VA_ARGS__, WEFT_FOREVER, WEFT_HERE)

/* Counts one more: all go on who wait. To be called after the change.
 *
 * Context:  anywhere; never waits.
 * Returns:  how many were waiting
 *           -EOWNERDEAD an earlier run left it in use; nothing changed (see weft_mutex_fini)
 */
WEFT_API int weft_eventcount_advance(weft_eventcount *e);
WEFT_API int weft_eventcount_advance_at(weft_eventcount *e, const char *where);
#define weft_eventcount_advance(...) weft_eventcount_advance_at(__VA_ARGS__, WEFT_HERE)

/* As weft_mutex_fini.
 *
 * Context:  anywhere, where nobody else uses the object.
 * Returns:  0, or -EBUSY
 */
WEFT_API int weft_eventcount_fini(weft_eventcount *e);
WEFT_API int weft_eventcount_fini_at(weft_eventcount *e, const char *where);
#define weft_eventcount_fini(...) weft_eventcount_fini_at(__VA_ARGS__, WEFT_HERE)

WEFT_END_DECLS
#endif
