/* race.c - cancels that race with what threads do for each other: every message, lock,
 * unit, signal and join is accounted for (X1). */
#include "async/race.h"

/* Messages */

struct traffic {
	weft_channel *ch, *idle;
	int count, value;
	uint64_t random;
};

static int send_numbers(void *arg)
{
	struct traffic *t = arg;

	for (int i = 0; i < t->count; i++) {
		CHECK_EQ(weft_channel_send(t->ch, &i), 0);
		pause_somehow(&t->random);
	}
	return weft_channel_close(t->ch);
}

static ssize_t receive_one(void *arg)
{
	struct traffic *t = arg;
	weft_case cases[2] = { weft_case_receive(t->idle, &t->value),
			       weft_case_receive(t->ch, &t->value) };
	int rc;

	t->value = -1;
	if (test_random(&t->random) % 2)
		return weft_channel_receive(t->ch, &t->value);
	rc = weft_select(cases, 2);
	CHECK(rc == 1 || rc == -ECANCELED);
	return rc < 0 ? rc : cases[1].result;
}

static void race_to_receive(size_t capacity, int n, bool foreign, const char *what)
{
	struct traffic t = { .count = n, .random = TEST_SEED }, s;
	weft_thread *sender;
	struct racer r;
	int next = 0;
	ssize_t rc;

	t.ch = weft_channel_new(sizeof(int), capacity);
	t.idle = weft_channel_new(sizeof(int), 0);
	s = t;
	racer_start(&r, foreign);
	sender = start_elsewhere(send_numbers, &s);
	while ((rc = race(&r, receive_one, &t)) != -EPIPE) {
		CHECK(rc == 0 || rc == -ECANCELED);
		CHECK_EQ(t.value, rc == 0 ? next++ : -1);
	}
	CHECK_EQ(next, n);
	CHECK_EQ(weft_join(sender, NULL), 0);
	CHECK_EQ(weft_channel_free(t.ch), 0);
	CHECK_EQ(weft_channel_free(t.idle), 0);
	racer_end(&r, what);
}

THREAD_TEST(no_message_is_lost_by_a_receiver, 2)
{
	race_to_receive(0, races(1500), false, "receives by hand");
	race_to_receive(1, races(1500), false, "receives");
	race_to_receive(1, races(150), true, "receives, foreign");
	return 0;
}

static int receive_numbers(void *arg)
{
	struct traffic *t = arg;
	int value;

	while (weft_channel_receive(t->ch, &value) == 0) {
		CHECK_EQ(value, t->count++);
		pause_somehow(&t->random);
	}
	return 0;
}

static ssize_t send_one(void *arg)
{
	struct traffic *t = arg;
	weft_case cases[2] = { weft_case_receive(t->idle, &t->count),
			       weft_case_send(t->ch, &t->value) };
	int rc;

	if (test_random(&t->random) % 2)
		return weft_channel_send(t->ch, &t->value);
	rc = weft_select(cases, 2);
	CHECK(rc == 1 || rc == -ECANCELED);
	return rc < 0 ? rc : cases[1].result;
}

static void race_to_send(size_t capacity, int n, bool foreign, const char *what)
{
	struct traffic t = { .random = TEST_SEED }, s;
	weft_thread *receiver;
	struct racer r;

	t.ch = weft_channel_new(sizeof(int), capacity);
	t.idle = weft_channel_new(sizeof(int), 0);
	s = t;
	racer_start(&r, foreign);
	receiver = start_elsewhere(receive_numbers, &s);
	for (int i = 0; i < n; i++) {
		ssize_t rc = race(&r, send_one, &t);

		CHECK(rc == 0 || rc == -ECANCELED);
		t.value += rc == 0;
	}
	CHECK_EQ(weft_channel_close(t.ch), 0);
	CHECK_EQ(weft_join(receiver, NULL), 0);
	CHECK_EQ(s.count, t.value);
	CHECK_EQ(weft_channel_free(t.ch), 0);
	CHECK_EQ(weft_channel_free(t.idle), 0);
	racer_end(&r, what);
}

THREAD_TEST(no_message_is_sent_without_being_told, 2)
{
	race_to_send(0, races(1500), false, "sends by hand");
	race_to_send(1, races(1500), false, "sends");
	race_to_send(0, races(150), true, "sends, foreign");
	return 0;
}

/* Locks */

struct locks {
	weft_mutex mutex;
	weft_rwlock rwlock;
	weft_cond cond;
	weft_sem sem;
	_Atomic bool stop;
	_Atomic int inside, readers; /* who holds the lock */
	_Atomic long given, taken;   /* units, or signals */
	_Atomic uint64_t seeds;
};

static uint64_t seed_of(struct locks *l)
{
	return TEST_SEED + atomic_fetch_add(&l->seeds, 1);
}

static bool random_bool(uint64_t *random)
{
	return test_random(random) % 2;
}

static void be_inside(struct locks *l)
{
	CHECK_EQ(atomic_fetch_add(&l->inside, 1), 0);
	CHECK_EQ(atomic_load(&l->readers), 0);
	CHECK_EQ(atomic_fetch_sub(&l->inside, 1), 1);
}

static int lock_often(void *arg)
{
	struct locks *l = arg;
	uint64_t random = seed_of(l);

	while (!atomic_load(&l->stop)) {
		CHECK_EQ(weft_mutex_lock(&l->mutex), 0);
		CHECK_EQ(weft_sleep(test_random(&random) % (20 * WEFT_US)), 0);
		be_inside(l);
		CHECK_EQ(weft_mutex_unlock(&l->mutex), 0);
		pause_somehow(&random);
	}
	return 0;
}

static ssize_t lock_once(void *arg)
{
	struct locks *l = arg;
	int rc = weft_mutex_lock(&l->mutex);

	if (rc == 0) {
		be_inside(l);
		CHECK_EQ(weft_mutex_unlock(&l->mutex), 0);
	}
	return rc;
}

static void race_with(weft_thread_fn *other, act *fn, struct locks *l, int n, bool foreign,
		      const char *what)
{
	weft_thread *t[2];
	struct racer r;

	racer_start(&r, foreign);
	for (int i = 0; i < 2; i++)
		t[i] = start_elsewhere(other, l);
	for (int i = 0; i < n; i++) {
		ssize_t rc = race(&r, fn, l);

		CHECK(rc == 0 || rc == -ECANCELED);
	}
	atomic_store(&l->stop, true);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(weft_join(t[i], NULL), 0);
	racer_end(&r, what);
}

THREAD_TEST(a_lock_is_held_or_not, 2)
{
	struct locks l = { .stop = false };

	race_with(lock_often, lock_once, &l, races(1500), false, "mutex");
	l.stop = false;
	race_with(lock_often, lock_once, &l, races(150), true, "mutex, foreign");
	CHECK_EQ(weft_mutex_fini(&l.mutex), 0);
	return 0;
}

static int rwlock_often(void *arg)
{
	struct locks *l = arg;
	uint64_t random = seed_of(l);

	while (!atomic_load(&l->stop)) {
		bool writes = random_bool(&random);

		if (writes)
			CHECK_EQ(weft_rwlock_wrlock(&l->rwlock), 0);
		else
			CHECK_EQ(weft_rwlock_rdlock(&l->rwlock), 0);
		atomic_fetch_add(writes ? &l->inside : &l->readers, 1);
		CHECK_EQ(weft_sleep(test_random(&random) % (20 * WEFT_US)), 0);
		CHECK(!writes || (atomic_load(&l->inside) == 1 && atomic_load(&l->readers) == 0));
		atomic_fetch_sub(writes ? &l->inside : &l->readers, 1);
		CHECK_EQ(weft_rwlock_unlock(&l->rwlock), 0);
		pause_somehow(&random);
	}
	return 0;
}

static ssize_t rwlock_once(void *arg)
{
	struct locks *l = arg;
	uint64_t random = seed_of(l);
	bool writes = random_bool(&random);
	int rc = writes ? weft_rwlock_wrlock(&l->rwlock) : weft_rwlock_rdlock(&l->rwlock);

	if (rc == 0) {
		if (writes)
			be_inside(l);
		else
			CHECK_EQ(atomic_load(&l->inside), 0);
		CHECK_EQ(weft_rwlock_unlock(&l->rwlock), 0);
	}
	return rc;
}

THREAD_TEST(a_lock_of_readers_and_writers_is_held_or_not, 2)
{
	struct locks l = { .stop = false };

	race_with(rwlock_often, rwlock_once, &l, races(1500), false, "rwlock");
	CHECK_EQ(weft_rwlock_fini(&l.rwlock), 0);
	return 0;
}

/* Units and signals */

static int post_often(void *arg)
{
	struct locks *l = arg;
	uint64_t random = seed_of(l);

	while (!atomic_load(&l->stop)) {
		pause_somehow(&random);
		if (atomic_load(&l->given) - atomic_load(&l->taken) > 2)
			continue;
		atomic_fetch_add(&l->given, 1);
		CHECK_EQ(weft_sem_post(&l->sem), 0);
	}
	return 0;
}

static ssize_t take_unit(void *arg)
{
	struct locks *l = arg;
	int rc = weft_sem_wait(&l->sem);

	atomic_fetch_add(&l->taken, rc == 0);
	return rc;
}

THREAD_TEST(a_unit_is_taken_or_not, 2)
{
	struct locks l = { .stop = false };

	race_with(post_often, take_unit, &l, races(1500), false, "semaphore");
	while (weft_sem_trywait(&l.sem) == 0)
		l.taken++;
	CHECK_EQ(l.taken, l.given);
	return 0;
}

static int signal_often(void *arg)
{
	struct locks *l = arg;
	uint64_t random = seed_of(l);

	while (!atomic_load(&l->stop)) {
		atomic_fetch_add(&l->given, random_bool(&random) ? weft_cond_signal(&l->cond)
								 : weft_cond_broadcast(&l->cond));
		pause_somehow(&random);
	}
	return 0;
}

static ssize_t wait_for_signal(void *arg)
{
	struct locks *l = arg;
	int rc;

	CHECK_EQ(weft_mutex_lock(&l->mutex), 0);
	rc = weft_cond_wait(&l->cond, &l->mutex);
	be_inside(l);
	CHECK_EQ(weft_mutex_unlock(&l->mutex), 0);
	atomic_fetch_add(&l->taken, rc == 0);
	return rc;
}

THREAD_TEST(a_signal_is_received_or_not, 2)
{
	struct locks l = { .stop = false };

	race_with(signal_often, wait_for_signal, &l, races(1500), false, "condition");
	CHECK_EQ(l.taken, l.given);
	CHECK_EQ(weft_cond_fini(&l.cond), 0);
	CHECK_EQ(weft_mutex_fini(&l.mutex), 0);
	return 0;
}

/* Joins */

static int return_number(void *arg)
{
	uint64_t random = (uint64_t)(intptr_t)arg;

	pause_somehow(&random);
	return (int)(intptr_t)arg;
}

struct joining {
	weft_thread *thread;
	int result;
};

static ssize_t join_once(void *arg)
{
	struct joining *j = arg;

	return weft_join(j->thread, &j->result);
}

THREAD_TEST(a_thread_is_joined_or_not, 2)
{
	struct racer r;

	racer_start(&r, false);
	for (int i = 0; i < races(1500); i++) {
		struct joining j = { .thread =
					     start_elsewhere(return_number, (void *)(intptr_t)i) };
		ssize_t rc = race(&r, join_once, &j);

		CHECK(rc == 0 || rc == -ECANCELED);
		if (rc != 0)
			CHECK_EQ(join_once(&j), 0);
		CHECK_EQ(j.result, i);
	}
	racer_end(&r, "joins");
	return 0;
}

TEST_MAIN
