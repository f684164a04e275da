/* Reader/writer locks: readers together, writers alone, each in its turn. */
#include "threads/sync.h"

static weft_rwlock lock;
static int log_of[16], logged;

static int waiting_now(void)
{
	return waiting_inside(&lock.home_, &lock.waiters_);
}

static atomic_int inside;
static atomic_bool go;

static int read_it(void *arg)
{
	CHECK_EQ(weft_rwlock_rdlock(&lock), 0);
	atomic_fetch_add(&inside, 1);
	YIELD_UNTIL(atomic_load(&go));
	if (arg != NULL)
		log_of[__atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED)] = (int)(intptr_t)arg;
	atomic_fetch_sub(&inside, 1);
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	return 0;
}

static int write_it(void *arg)
{
	CHECK_EQ(weft_rwlock_wrlock(&lock), 0);
	CHECK_EQ(atomic_fetch_add(&inside, 1), 0);
	log_of[__atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED)] = (int)(intptr_t)arg;
	CHECK_EQ(atomic_fetch_sub(&inside, 1), 1);
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	return 0;
}

/* W1 holds; R R W2 R R queue up: two readers together, then W2, then two readers. */
static int enter_in_turn(void *unused)
{
	weft_thread *t[5];

	(void)unused;
	logged = 0;
	atomic_store(&go, false);
	CHECK_EQ(weft_rwlock_wrlock(&lock), 0);
	for (int i = 0; i < 5; i++) {
		t[i] = start(i == 2 ? write_it : read_it, (void *)(intptr_t)(i + 1));
		YIELD_UNTIL(waiting_now() == i + 1);
	}
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	YIELD_UNTIL(atomic_load(&inside) == 2);
	CHECK_EQ(waiting_now(), 3);
	CHECK_EQ(weft_rwlock_tryrdlock(&lock), -EBUSY); /* would overtake the writer */
	CHECK_EQ(weft_rwlock_trywrlock(&lock), -EBUSY);
	atomic_store(&go, true);
	for (int i = 0; i < 5; i++)
		join(t[i]);
	CHECK_EQ(logged, 5);
	CHECK_EQ(log_of[2], 3);
	CHECK_EQ(log_of[0] + log_of[1], 1 + 2);
	CHECK_EQ(log_of[3] + log_of[4], 4 + 5);
	CHECK_EQ(weft_rwlock_fini(&lock), 0);
	return 0;
}

TEST(readers_enter_together_and_nobody_is_overtaken)
{
	run_all(enter_in_turn);
}

enum { CROWD = 100 };

static int let_a_crowd_in(void *unused)
{
	weft_thread *t[CROWD];

	(void)unused;
	atomic_store(&go, false);
	CHECK_EQ(weft_rwlock_wrlock(&lock), 0);
	for (int i = 0; i < CROWD; i++)
		t[i] = start(read_it, NULL);
	YIELD_UNTIL(waiting_now() == CROWD);
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	YIELD_UNTIL(atomic_load(&inside) == CROWD);
	atomic_store(&go, true);
	for (int i = 0; i < CROWD; i++)
		join(t[i]);
	CHECK_EQ(weft_rwlock_fini(&lock), 0);
	return 0;
}

TEST(any_number_of_readers_enters_together)
{
	run_all(let_a_crowd_in);
}

static int misuse_it(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_unlock(&lock), -EPERM);
	CHECK(reported(WEFT_REPORT_MISUSE, "is unlocked by who did not lock it"));
	CHECK_EQ(weft_rwlock_wrlock(&lock), 0);
	CHECK_EQ(weft_rwlock_wrlock(&lock), -EDEADLK);
	CHECK_EQ(weft_rwlock_rdlock(&lock), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "is locked already by its caller, at tests/"));
	CHECK_EQ(weft_rwlock_fini(&lock), -EBUSY);
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	return 0;
}

TEST(misuse_is_an_error_and_reported)
{
	catch_reports();
	run_with(2, misuse_it);
}

/* Deadlines */

static int write_with_deadline(void *unused)
{
	int rc = weft_rwlock_wrlock_until(&lock, weft_now() + 1000 * WEFT_SEC);

	(void)unused;
	if (rc == 0)
		CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	return rc;
}

static int let_the_writer_leave(void *unused)
{
	weft_thread *writer, *reader;

	(void)unused;
	atomic_store(&go, true);
	CHECK_EQ(weft_rwlock_rdlock(&lock), 0);
	writer = start(write_with_deadline, NULL);
	YIELD_UNTIL(waits(writer));
	reader = start(read_it, NULL);
	YIELD_UNTIL(waits(reader));
	expire_now(writer);
	CHECK_EQ(join(reader), 0); /* while we still read */
	CHECK_EQ(join(writer), -ETIMEDOUT);

	writer = start(write_with_deadline, NULL);
	YIELD_UNTIL(waits(writer));
	CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	expire_now(writer); /* it has it */
	CHECK_EQ(join(writer), 0);
	CHECK_EQ(weft_rwlock_fini(&lock), 0);
	return 0;
}

TEST(readers_do_not_wait_for_a_writer_that_left)
{
	run_with(2, let_the_writer_leave);
}

static long plain_total;
static atomic_int readers_in, writers_in;
static atomic_long wrote, gave_up;

static void use_at_random(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (long i = 0; i < races() / 8; i++) {
		bool writes = random_below(&seed, 3) == 0;
		uint64_t kind = random_below(&seed, 4);
		uint64_t deadline = kind == 0 ? soon(&seed) : WEFT_FOREVER;
		int rc;

		if (kind == 1)
			rc = writes ? weft_rwlock_trywrlock(&lock) : weft_rwlock_tryrdlock(&lock);
		else
			rc = writes ? weft_rwlock_wrlock_until(&lock, deadline)
				    : weft_rwlock_rdlock_until(&lock, deadline);
		if (rc < 0) {
			CHECK(kind <= 1);
			atomic_fetch_add(&gave_up, 1);
			continue;
		}
		if (writes) {
			CHECK_EQ(atomic_fetch_add(&writers_in, 1), 0);
			CHECK_EQ(atomic_load(&readers_in), 0);
			plain_total++;
			atomic_fetch_add(&wrote, 1);
		} else {
			atomic_fetch_add(&readers_in, 1);
			CHECK_EQ(atomic_load(&writers_in), 0);
		}
		if (random_below(&seed, 3) == 0)
			weft_yield();
		if (writes)
			CHECK_EQ(atomic_fetch_sub(&writers_in, 1), 1);
		else
			atomic_fetch_sub(&readers_in, 1);
		CHECK_EQ(weft_rwlock_unlock(&lock), 0);
	}
}

static int use_in_thread(void *seed)
{
	use_at_random(seed);
	return 0;
}

static int use_everywhere(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f;
	weft_thread *t[8];

	(void)unused;
	plain_total = 0;
	atomic_store(&wrote, 0);
	for (int i = 0; i < 8; i++)
		t[i] = start(use_in_thread, (void *)(uintptr_t)test_random(&seed));
	if (many_colors)
		foreign_start(&f, use_at_random, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 8; i++)
		join(t[i]);
	if (many_colors)
		foreign_join(&f);
	CHECK_EQ(plain_total, atomic_load(&wrote));
	CHECK_EQ(weft_rwlock_fini(&lock), 0);
	return 0;
}

TEST(a_writer_is_alone_whoever_comes_and_whatever_the_deadline)
{
	run_all(use_everywhere);
}

TEST_MAIN
