/* plain.c - real functions for the names that are macros, so that a program can take their
 * address. A call by name uses the macro, which adds the caller's file and line.
 */
#include <weft/channel.h>
#include <weft/sync.h>
#include <weft/thread.h>

#include "base/report.h"

int(weft_channel_free)(weft_channel *ch)
{
	return weft_channel_free_at(ch, WF_NO_PLACE);
}

int(weft_mutex_lock_until)(weft_mutex *m, uint64_t deadline)
{
	return weft_mutex_lock_until_at(m, deadline, WF_NO_PLACE);
}

int(weft_mutex_lock)(weft_mutex *m)
{
	return weft_mutex_lock_at(m, WF_NO_PLACE);
}

int(weft_mutex_trylock)(weft_mutex *m)
{
	return weft_mutex_trylock_at(m, WF_NO_PLACE);
}

int(weft_mutex_unlock)(weft_mutex *m)
{
	return weft_mutex_unlock_at(m, WF_NO_PLACE);
}

int(weft_mutex_fini)(weft_mutex *m)
{
	return weft_mutex_fini_at(m, WF_NO_PLACE);
}

int(weft_cond_wait_until)(weft_cond *c, weft_mutex *m, uint64_t deadline)
{
	return weft_cond_wait_until_at(c, m, deadline, WF_NO_PLACE);
}

int(weft_cond_wait)(weft_cond *c, weft_mutex *m)
{
	return weft_cond_wait_at(c, m, WF_NO_PLACE);
}

int(weft_cond_fini)(weft_cond *c)
{
	return weft_cond_fini_at(c, WF_NO_PLACE);
}

int(weft_rwlock_rdlock_until)(weft_rwlock *l, uint64_t deadline)
{
	return weft_rwlock_rdlock_until_at(l, deadline, WF_NO_PLACE);
}

int(weft_rwlock_wrlock_until)(weft_rwlock *l, uint64_t deadline)
{
	return weft_rwlock_wrlock_until_at(l, deadline, WF_NO_PLACE);
}

int(weft_rwlock_rdlock)(weft_rwlock *l)
{
	return weft_rwlock_rdlock_until_at(l, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_rwlock_wrlock)(weft_rwlock *l)
{
	return weft_rwlock_wrlock_until_at(l, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_rwlock_tryrdlock)(weft_rwlock *l)
{
	return weft_rwlock_tryrdlock_at(l, WF_NO_PLACE);
}

int(weft_rwlock_trywrlock)(weft_rwlock *l)
{
	return weft_rwlock_trywrlock_at(l, WF_NO_PLACE);
}

int(weft_rwlock_unlock)(weft_rwlock *l)
{
	return weft_rwlock_unlock_at(l, WF_NO_PLACE);
}

int(weft_rwlock_fini)(weft_rwlock *l)
{
	return weft_rwlock_fini_at(l, WF_NO_PLACE);
}

int(weft_sem_fini)(weft_sem *s)
{
	return weft_sem_fini_at(s, WF_NO_PLACE);
}

int(weft_once_run_until)(weft_once *o, weft_fn *fn, void *arg, uint64_t deadline)
{
	return weft_once_run_until_at(o, fn, arg, deadline, WF_NO_PLACE);
}

int(weft_once_run)(weft_once *o, weft_fn *fn, void *arg)
{
	return weft_once_run_until_at(o, fn, arg, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_barrier_fini)(weft_barrier *b)
{
	return weft_barrier_fini_at(b, WF_NO_PLACE);
}

int(weft_waitgroup_add)(weft_waitgroup *g, int64_t n)
{
	return weft_waitgroup_add_at(g, n, WF_NO_PLACE);
}

int(weft_waitgroup_done)(weft_waitgroup *g)
{
	return weft_waitgroup_add_at(g, -1, WF_NO_PLACE);
}

int(weft_waitgroup_fini)(weft_waitgroup *g)
{
	return weft_waitgroup_fini_at(g, WF_NO_PLACE);
}

int(weft_eventcount_fini)(weft_eventcount *e)
{
	return weft_eventcount_fini_at(e, WF_NO_PLACE);
}

int(weft_go)(weft_thread_fn *fn, void *arg)
{
	return weft_go_at(fn, arg, WF_NO_PLACE);
}

int(weft_go_on)(weft_color color, weft_thread_fn *fn, void *arg)
{
	return weft_go_on_at(color, fn, arg, WF_NO_PLACE);
}

int(weft_thread_start)(weft_thread **thread, const weft_thread_attr *attr, weft_thread_fn *fn,
		       void *arg)
{
	return weft_thread_start_at(thread, attr, fn, arg, WF_NO_PLACE);
}

int(weft_hop)(weft_color color)
{
	return weft_hop_at(color, WF_NO_PLACE);
}
