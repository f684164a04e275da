/* kinds.h - every kind of wait that there is, each with what makes it wait, what ends it,
 * and a look whether a wait that was cancelled has left its object as it was.
 */
#ifndef TESTS_ASYNC_KINDS_H
#define TESTS_ASYNC_KINDS_H

#include <weft/weft.h>

#include "threads/blocking.h"
#include "threads/home.h"

#include <semaphore.h>
#include <signal.h>

/* What is waited for. */
struct thing {
	weft_mutex mutex, guard;
	weft_cond cond;
	weft_rwlock rwlock;
	weft_sem sem;
	weft_once once;
	weft_barrier barrier;
	weft_waitgroup group;
	weft_eventcount count;
	uint64_t seen;
	weft_channel *channel[2];
	weft_wait wait;
	weft_thread *helper;
	bool signalled, holds;
	int stops;
	/* kinds_io.h */
	int fd[2], other[2], backlog[8], silent;
	size_t filled;
	sem_t blocker;
	int calls;
	_Atomic bool returned;
	pid_t child;
};

struct kind {
	const char *name;
	void (*make)(struct thing *x); /* so that the call waits */
	int (*call)(struct thing *x);
	void (*let)(struct thing *x);    /* what was waited for comes; NULL: it never does */
	void (*intact)(struct thing *x); /* nothing has happened */
	void (*end)(struct thing *x);
	int ok;    /* what the call returns then */
	bool io;   /* refused in a cancelled scope even if it need not wait */
	bool late; /* `let` before the call does not help it */
};

static inline weft_thread *start_apart(weft_thread_fn *fn, void *arg)
{
	weft_thread_attr attr = { .apart = true };
	weft_thread *t;

	CHECK_EQ(weft_thread_start(&t, &attr, fn, arg), 0);
	return t;
}

/* In a cancelled scope too. */
static inline void yield_until_waits(weft_thread *t)
{
	while (atomic_load(&t->wait) == NULL || atomic_load(&t->state) != WF_THREAD_PARKED)
		CHECK_EQ(weft_yield(), 0);
}

static inline void end_helper(struct thing *x)
{
	while (atomic_load(&x->helper->state) != WF_THREAD_ENDED)
		CHECK_EQ(weft_yield(), 0);
	CHECK_EQ(weft_join(x->helper, NULL), 0);
}

/* Locks */

static inline void mutex_make(struct thing *x)
{
	CHECK_EQ(weft_mutex_lock(&x->mutex), 0);
}

static inline int mutex_call(struct thing *x)
{
	int rc = weft_mutex_lock(&x->mutex);

	if (rc == 0)
		CHECK_EQ(weft_mutex_unlock(&x->mutex), 0);
	return rc;
}

static inline void mutex_let(struct thing *x)
{
	CHECK_EQ(weft_mutex_unlock(&x->mutex), 0);
}

static inline void mutex_intact(struct thing *x)
{
	CHECK(x->mutex.waiters_.first == NULL);
	CHECK_EQ(x->mutex.owner_, wf_home_who());
}

static inline void mutex_end(struct thing *x)
{
	CHECK_EQ(weft_mutex_fini(&x->mutex), 0);
}

static inline int cond_call(struct thing *x)
{
	int rc;

	CHECK_EQ(weft_mutex_lock(&x->mutex), 0);
	rc = weft_cond_wait(&x->cond, &x->mutex);
	CHECK_EQ(x->mutex.owner_, wf_home_who());
	CHECK_EQ(weft_mutex_unlock(&x->mutex), 0);
	return rc;
}

static inline void cond_let(struct thing *x)
{
	CHECK_EQ(weft_cond_signal(&x->cond), 1);
}

static inline void cond_intact(struct thing *x)
{
	CHECK_EQ(weft_cond_signal(&x->cond), 0);
}

static inline void cond_end(struct thing *x)
{
	CHECK_EQ(weft_cond_fini(&x->cond), 0);
	CHECK_EQ(weft_mutex_fini(&x->mutex), 0);
}

static inline void rwlock_make(struct thing *x)
{
	CHECK_EQ(weft_rwlock_wrlock(&x->rwlock), 0);
}

static inline int rdlock_call(struct thing *x)
{
	int rc = weft_rwlock_rdlock(&x->rwlock);

	if (rc == 0)
		CHECK_EQ(weft_rwlock_unlock(&x->rwlock), 0);
	return rc;
}

static inline int wrlock_call(struct thing *x)
{
	int rc = weft_rwlock_wrlock(&x->rwlock);

	if (rc == 0)
		CHECK_EQ(weft_rwlock_unlock(&x->rwlock), 0);
	return rc;
}

static inline void rwlock_let(struct thing *x)
{
	CHECK_EQ(weft_rwlock_unlock(&x->rwlock), 0);
}

static inline void rwlock_intact(struct thing *x)
{
	CHECK(x->rwlock.waiters_.first == NULL);
	CHECK_EQ(x->rwlock.readers_, 0);
}

static inline void rwlock_end(struct thing *x)
{
	CHECK_EQ(weft_rwlock_fini(&x->rwlock), 0);
}

/* Counts and meeting points */

static inline void nothing_made(struct thing *x)
{
	(void)x;
}

static inline int sem_call(struct thing *x)
{
	return weft_sem_wait(&x->sem);
}

static inline void sem_let(struct thing *x)
{
	CHECK_EQ(weft_sem_post(&x->sem), 0);
}

static inline void sem_intact(struct thing *x)
{
	CHECK_EQ(weft_sem_trywait(&x->sem), -EBUSY);
}

static inline void sem_end(struct thing *x)
{
	CHECK_EQ(weft_sem_trywait(&x->sem), -EBUSY);
	CHECK_EQ(weft_sem_fini(&x->sem), 0);
}

static void once_slowly(void *arg)
{
	struct thing *x = arg;

	CHECK_EQ(weft_sem_wait(&x->sem), 0);
	x->calls++;
}

static int once_first(void *arg)
{
	struct thing *x = arg;

	CHECK_EQ(weft_once_run(&x->once, once_slowly, x), 0);
	return 0;
}

static inline void once_make(struct thing *x)
{
	x->helper = start_apart(once_first, x);
	yield_until_waits(x->helper);
}

static inline int once_call(struct thing *x)
{
	return weft_once_run(&x->once, once_slowly, x);
}

static inline void once_let(struct thing *x)
{
	sem_let(x);
	while (atomic_load(&x->helper->state) != WF_THREAD_ENDED)
		CHECK_EQ(weft_yield(), 0);
}

static inline void once_end(struct thing *x)
{
	end_helper(x);
	CHECK_EQ(x->calls, 1);
}

static inline void barrier_make(struct thing *x)
{
	weft_barrier_init(&x->barrier, 2);
}

static inline int barrier_call(struct thing *x)
{
	return weft_barrier_wait(&x->barrier);
}

static inline void barrier_let(struct thing *x)
{
	CHECK_EQ(weft_barrier_wait(&x->barrier), WEFT_BARRIER_LAST);
}

static inline void barrier_intact(struct thing *x)
{
	CHECK_EQ(x->barrier.here_, 0);
}

static inline void barrier_end(struct thing *x)
{
	CHECK_EQ(weft_barrier_fini(&x->barrier), 0);
}

static inline void group_make(struct thing *x)
{
	CHECK_EQ(weft_waitgroup_add(&x->group, 1), 0);
}

static inline int group_call(struct thing *x)
{
	return weft_waitgroup_wait(&x->group);
}

static inline void group_let(struct thing *x)
{
	CHECK_EQ(weft_waitgroup_done(&x->group), 0);
}

static inline void group_end(struct thing *x)
{
	CHECK_EQ(weft_waitgroup_fini(&x->group), 0);
}

static inline void count_make(struct thing *x)
{
	x->seen = weft_eventcount_prepare(&x->count);
}

static inline int count_call(struct thing *x)
{
	return weft_eventcount_wait(&x->count, x->seen);
}

static inline void count_let(struct thing *x)
{
	(void)weft_eventcount_advance(&x->count);
}

static inline void count_intact(struct thing *x)
{
	CHECK_EQ(weft_eventcount_prepare(&x->count), x->seen);
	CHECK(x->count.waiters_.first == NULL);
}

static inline void count_end(struct thing *x)
{
	CHECK_EQ(weft_eventcount_fini(&x->count), 0);
}

/* Channels */

static inline void channel_make(struct thing *x)
{
	for (int i = 0; i < 2; i++) {
		x->channel[i] = weft_channel_new(sizeof(int), 1);
		CHECK(x->channel[i] != NULL);
	}
}

static inline void full_make(struct thing *x)
{
	channel_make(x);
	CHECK_EQ(weft_channel_send(x->channel[0], &(int){ 1 }), 0);
}

static inline void hand_make(struct thing *x)
{
	x->channel[0] = weft_channel_new(sizeof(int), 0);
	x->channel[1] = NULL;
	CHECK(x->channel[0] != NULL);
}

static inline int send_call(struct thing *x)
{
	return weft_channel_send(x->channel[0], &(int){ 2 });
}

static inline int receive_call(struct thing *x)
{
	int got = 77, rc = weft_channel_receive(x->channel[0], &got);

	CHECK_EQ(got, rc == 0 ? 5 : 77);
	return rc;
}

static inline void receive_let(struct thing *x)
{
	CHECK_EQ(weft_channel_try_send(x->channel[0], &(int){ 5 }), 0);
}

static inline void send_let(struct thing *x)
{
	int got;

	CHECK_EQ(weft_channel_try_receive(x->channel[0], &got), 0);
	CHECK(got == 1 || got == 2);
}

static inline void full_intact(struct thing *x)
{
	int got;

	CHECK_EQ(weft_channel_try_receive(x->channel[0], &got), 0);
	CHECK_EQ(got, 1);
	CHECK_EQ(weft_channel_try_receive(x->channel[0], &got), -EAGAIN);
	CHECK_EQ(weft_channel_try_send(x->channel[0], &(int){ 1 }), 0);
}

static inline void empty_intact(struct thing *x)
{
	int got;

	for (int i = 0; i < 2 && x->channel[i] != NULL; i++) {
		CHECK_EQ(weft_channel_try_receive(x->channel[i], &got), -EAGAIN);
		if (weft_channel_capacity(x->channel[i]) == 0)
			CHECK_EQ(weft_channel_try_send(x->channel[i], &got), -EAGAIN);
	}
}

/* One receive of an empty one, one send to a full one. */
static inline int select_call(struct thing *x)
{
	int got = 77, sent = 2, rc;
	weft_case cases[] = { weft_case_receive(x->channel[1], &got),
			      weft_case_send(x->channel[0], &sent) };

	rc = weft_select(cases, 2);
	CHECK_EQ(got, rc == 0 ? 5 : 77);
	return rc;
}

static inline void select_let(struct thing *x)
{
	CHECK_EQ(weft_channel_try_send(x->channel[1], &(int){ 5 }), 0);
}

static inline void select_intact(struct thing *x)
{
	int got;

	full_intact(x);
	CHECK_EQ(weft_channel_try_receive(x->channel[1], &got), -EAGAIN);
}

static inline void channel_end(struct thing *x)
{
	CHECK_EQ(weft_channel_free(x->channel[0]), 0);
	CHECK_EQ(weft_channel_free(x->channel[1]), 0);
}

/* Threads and scopes */

static int wait_for_sem(void *arg)
{
	struct thing *x = arg;

	CHECK_EQ(weft_sem_wait(&x->sem), 0);
	return 33;
}

static inline void join_make(struct thing *x)
{
	x->helper = start_apart(wait_for_sem, x);
	yield_until_waits(x->helper);
}

static inline int join_call(struct thing *x)
{
	int result = 0, rc = weft_join(x->helper, &result);

	CHECK_EQ(result, rc == 0 ? 33 : 0);
	if (rc == 0)
		atomic_store(&x->returned, true);
	return rc;
}

static inline void join_let(struct thing *x)
{
	CHECK_EQ(weft_sem_post(&x->sem), 0);
}

static inline void join_end(struct thing *x)
{
	if (!atomic_load(&x->returned))
		end_helper(x);
}

static inline void join_intact(struct thing *x)
{
	CHECK_EQ(atomic_load(&x->helper->bond), WF_THREAD_JOINABLE);
}

static inline int sleep_call(struct thing *x)
{
	(void)x;
	return weft_sleep(1000 * WEFT_SEC);
}

static int nested_body(void *arg)
{
	return weft_sem_wait(&((struct thing *)arg)->sem);
}

/* A finish block in a body of a finish block, with a thread of another color. */
static int nested_more(void *arg)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(nested_body, arg), 0);
	CHECK_EQ(weft_go_on(weft_color_new(), nested_body, arg), 0);
	return weft_scope_end(&s);
}

static inline int nested_call(struct thing *x)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(nested_more, x), 0);
	return weft_scope_end(&s);
}

static inline void nested_let(struct thing *x)
{
	CHECK_EQ(weft_sem_post(&x->sem), 0);
	CHECK_EQ(weft_sem_post(&x->sem), 0);
}

static bool wait_stops(weft_wait *w)
{
	struct thing *x = WF_CONTAINER(w, struct thing, wait);

	x->stops++;
	return true;
}

static inline void wait_make(struct thing *x)
{
	x->wait = (weft_wait)WEFT_WAIT_INIT("test", wait_stops);
}

static inline int wait_call(struct thing *x)
{
	return weft_suspend(&x->wait);
}

static inline void wait_let(struct thing *x)
{
	CHECK_EQ(weft_schedule(&x->wait), 0);
}

static inline void wait_intact(struct thing *x)
{
	CHECK_EQ(x->stops, 1);
}

#define KINDS_OF_SYNC \
	{ "mutex", mutex_make, mutex_call, mutex_let, mutex_intact, mutex_end, 0, false, false }, \
		{ "condition", nothing_made, cond_call, cond_let, cond_intact, cond_end, \
		  0,           false,        true }, \
		{ "rdlock",   rwlock_make, rdlock_call, rwlock_let, rwlock_intact, \
		  rwlock_end, 0,           false,       false }, \
		{ "wrlock",   rwlock_make, wrlock_call, rwlock_let, rwlock_intact, \
		  rwlock_end, 0,           false,       false }, \
		{ "semaphore", nothing_made, sem_call, sem_let, sem_intact, sem_end, 0, false, false }, \
		{ "once", once_make, once_call, once_let, NULL, once_end, 0, false, false }, \
		{ "barrier", barrier_make, barrier_call, barrier_let, barrier_intact, barrier_end, \
		  0,         false,        true }, \
		{ "wait group", group_make, group_call, group_let, NULL, group_end, 0, false, false }, \
		{ "event count", count_make, count_call, count_let, count_intact, \
		  count_end,     0,          false,      false }, \
		{ "send", full_make, send_call, send_let, full_intact, channel_end, 0, false, false }, \
		{ "receive", channel_make, receive_call, receive_let, empty_intact, channel_end, \
		  0,         false,        false }, \
		{ "send by hand", hand_make, send_call, send_let, empty_intact, \
		  channel_end,    0,         false,     true }, \
		{ "receive by hand", hand_make, receive_call, receive_let, empty_intact, \
		  channel_end,       0,         false,        true }, \
		{ "select",    full_make, select_call, select_let, select_intact, \
		  channel_end, 0,         false,       false }, \
		{ "join", join_make, join_call, join_let, join_intact, join_end, 0, false, true }, \
		{ "sleep", nothing_made, sleep_call, NULL, NULL, nothing_made, 0, false, false }, \
		{ "finish", nothing_made, nested_call, nested_let, sem_intact, sem_end, \
		  0,        false,        false }, \
	{ \
		"suspend", wait_make, wait_call, wait_let, wait_intact, nothing_made, 0, false, \
			false \
	}

#endif
