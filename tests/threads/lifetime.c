/* Lifetime: who lets the others go on may free the object at once, whatever their
 * deadlines do meanwhile.
 */
#include <stdlib.h>

#include "threads/sync.h"

/* An object that nobody may touch any more. Who enters it never comes back. */
#define SPOIL(object) memset(&(object), 0xa5, sizeof(object))

static weft_barrier barrier;
static weft_waitgroup group;
static weft_eventcount count;
static weft_sem sem;
static weft_rwlock rwlock;
static weft_mutex mutex;
static weft_cond cond;

static int at_barrier(void *unused)
{
	(void)unused;
	return weft_barrier_wait(&barrier);
}

static int at_group(void *unused)
{
	(void)unused;
	return weft_waitgroup_wait(&group);
}

static int at_count(void *unused)
{
	(void)unused;
	return weft_eventcount_wait(&count, 0);
}

static int at_sem(void *unused)
{
	(void)unused;
	return weft_sem_wait(&sem);
}

static int at_rwlock(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_rdlock(&rwlock), 0);
	return weft_rwlock_unlock(&rwlock);
}

static int at_cond(void *unused)
{
	int rc;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	rc = weft_cond_wait(&cond, &mutex);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return rc;
}

/* A thread of the caller's color, that waits. */
static weft_thread *begin_wait(weft_thread_fn *fn)
{
	weft_thread *t = start(fn, NULL);

	YIELD_UNTIL(waits(t));
	return t;
}

/* It was let go on, and its deadline comes before it has a turn. */
static void deadline_comes(weft_thread *t)
{
	expire_now(t);
	CHECK_EQ(join(t), 0);
}

static int free_early(void *unused)
{
	weft_rwlock kept;
	weft_thread *t;

	(void)unused;
	weft_barrier_init(&barrier, 2);
	t = begin_wait(at_barrier);
	CHECK_EQ(weft_barrier_wait(&barrier), WEFT_BARRIER_LAST);
	SPOIL(barrier);
	deadline_comes(t);

	CHECK_EQ(weft_waitgroup_add(&group, 1), 0);
	t = begin_wait(at_group);
	CHECK_EQ(weft_waitgroup_done(&group), 0);
	SPOIL(group);
	deadline_comes(t);

	t = begin_wait(at_count);
	CHECK_EQ(weft_eventcount_advance(&count), 1);
	SPOIL(count);
	deadline_comes(t);

	t = begin_wait(at_sem);
	CHECK_EQ(weft_sem_post(&sem), 0);
	SPOIL(sem);
	deadline_comes(t);

	CHECK_EQ(weft_rwlock_wrlock(&rwlock), 0);
	t = begin_wait(at_rwlock);
	CHECK_EQ(weft_rwlock_unlock(&rwlock), 0);
	kept = rwlock; /* it is to be unlocked */
	SPOIL(rwlock);
	expire_now(t);
	rwlock = kept;
	CHECK_EQ(join(t), 0);
	return 0;
}

TEST(a_deadline_does_not_touch_what_its_waiter_was_let_go_from)
{
	many_colors = false;
	run_with(1, free_early);
}

static int free_condition(void *broadcast)
{
	weft_thread *t = begin_wait(at_cond);

	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(broadcast != NULL ? weft_cond_broadcast(&cond) : weft_cond_signal(&cond), 1);
	SPOIL(cond);
	expire_now(t); /* it waits for the mutex now */
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), 0);
	cond = (weft_cond)WEFT_COND_INIT;
	return 0;
}

static int free_condition_late(void *unused)
{
	weft_thread *t = begin_wait(at_cond);

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	expire_now(t);
	CHECK_EQ(weft_cond_fini(&cond), 0);
	SPOIL(cond);
	expire_now(t); /* again, in the mutex's list */
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);
	cond = (weft_cond)WEFT_COND_INIT;
	return 0;
}

static int free_conditions(void *unused)
{
	(void)unused;
	free_condition(NULL);
	free_condition(&cond);
	free_condition_late(NULL);
	return 0;
}

TEST(a_deadline_does_not_touch_a_condition_that_was_left)
{
	many_colors = false;
	run_with(1, free_conditions);
}

/* Races: the deadline comes while the other color lets go, and frees. */

struct meeting {
	weft_barrier *barrier;
	uint64_t deadline;
};

static int come_early(void *arg)
{
	struct meeting *m = arg;

	return weft_barrier_wait_until(m->barrier, m->deadline);
}

static int meet_and_free(void *unused)
{
	uint64_t seed = TEST_SEED;
	long n = races() / 10;

	(void)unused;
	while (n-- > 0) {
		weft_barrier *b = malloc(sizeof *b);
		struct meeting m = { b, soon(&seed) + 50 * WEFT_US };
		weft_thread *t;
		int rc;

		weft_barrier_init(b, 2);
		t = start(come_early, &m);
		while (weft_now() < m.deadline)
			wf_relax();
		rc = weft_barrier_wait_until(b, 0);
		if (rc == WEFT_BARRIER_LAST) {
			SPOIL(*b);
			free(b);
			CHECK_EQ(join(t), 0);
		} else {
			int met = join(t);

			CHECK_EQ(rc, -ETIMEDOUT);
			CHECK_EQ(met, -ETIMEDOUT);
			free(b);
		}
	}
	return 0;
}

TEST(the_last_to_come_may_free_a_barrier_while_deadlines_come)
{
	many_colors = true;
	run_with(2, meet_and_free);
}

TEST_MAIN
