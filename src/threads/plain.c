/* plain.c - real functions for public calls that are macros, so that a program can take their
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

int(weft_cond_signal)(weft_cond *c)
{
	return weft_cond_signal_at(c, WF_NO_PLACE);
}

int(weft_cond_broadcast)(weft_cond *c)
{
	return weft_cond_broadcast_at(c, WF_NO_PLACE);
}

int(weft_sem_wait_until)(weft_sem *s, uint64_t deadline)
{
	return weft_sem_wait_until_at(s, deadline, WF_NO_PLACE);
}

int(weft_sem_wait)(weft_sem *s)
{
	return weft_sem_wait_until_at(s, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_sem_trywait)(weft_sem *s)
{
	return weft_sem_trywait_at(s, WF_NO_PLACE);
}

int(weft_sem_post)(weft_sem *s)
{
	return weft_sem_post_at(s, WF_NO_PLACE);
}

int(weft_barrier_wait_until)(weft_barrier *b, uint64_t deadline)
{
	return weft_barrier_wait_until_at(b, deadline, WF_NO_PLACE);
}

int(weft_barrier_wait)(weft_barrier *b)
{
	return weft_barrier_wait_until_at(b, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_waitgroup_wait_until)(weft_waitgroup *g, uint64_t deadline)
{
	return weft_waitgroup_wait_until_at(g, deadline, WF_NO_PLACE);
}

int(weft_waitgroup_wait)(weft_waitgroup *g)
{
	return weft_waitgroup_wait_until_at(g, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_eventcount_wait_until)(weft_eventcount *e, uint64_t seen, uint64_t deadline)
{
	return weft_eventcount_wait_until_at(e, seen, deadline, WF_NO_PLACE);
}

int(weft_eventcount_wait)(weft_eventcount *e, uint64_t seen)
{
	return weft_eventcount_wait_until_at(e, seen, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_eventcount_advance)(weft_eventcount *e)
{
	return weft_eventcount_advance_at(e, WF_NO_PLACE);
}

int(weft_channel_send_until)(weft_channel *ch, const void *from, uint64_t deadline)
{
	return weft_channel_send_until_at(ch, from, deadline, WF_NO_PLACE);
}

int(weft_channel_send)(weft_channel *ch, const void *from)
{
	return weft_channel_send_until_at(ch, from, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_channel_receive_until)(weft_channel *ch, void *to, uint64_t deadline)
{
	return weft_channel_receive_until_at(ch, to, deadline, WF_NO_PLACE);
}

int(weft_channel_receive)(weft_channel *ch, void *to)
{
	return weft_channel_receive_until_at(ch, to, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_channel_try_send)(weft_channel *ch, const void *from)
{
	return weft_channel_try_send_at(ch, from, WF_NO_PLACE);
}

int(weft_channel_try_receive)(weft_channel *ch, void *to)
{
	return weft_channel_try_receive_at(ch, to, WF_NO_PLACE);
}

int(weft_channel_close)(weft_channel *ch)
{
	return weft_channel_close_at(ch, WF_NO_PLACE);
}

int(weft_select_until)(weft_case *cases, size_t count, uint64_t deadline)
{
	return weft_select_until_at(cases, count, deadline, WF_NO_PLACE);
}

int(weft_select)(weft_case *cases, size_t count)
{
	return weft_select_until_at(cases, count, WEFT_FOREVER, WF_NO_PLACE);
}

int(weft_try_select)(weft_case *cases, size_t count)
{
	return weft_try_select_at(cases, count, WF_NO_PLACE);
}
