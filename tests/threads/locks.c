/* Debug builds find deadlocks, and locks that are held where none should be. */
#include "threads/sync.h"

#include "threads/locks.h"

static weft_mutex a, b, c;
static weft_rwlock rw;
static atomic_int ready;

static weft_thread *start_named(const char *name, weft_thread_fn *fn, void *arg)
{
	weft_thread_attr attr = { .name = name, .on = many_colors };
	weft_thread *t;

	if (many_colors)
		attr.color = weft_color_new();
	CHECK_EQ(weft_thread_start(&t, &attr, fn, arg), 0);
	return t;
}

/* Each of a ring of threads holds one and wants the next. */
static weft_mutex ring[3];

static int hold_and_want(void *arg)
{
	int me = (int)(intptr_t)arg, rc;

	CHECK_EQ(weft_mutex_lock(&ring[me]), 0);
	atomic_fetch_add(&ready, 1);
	YIELD_UNTIL(atomic_load(&ready) == 3);
	rc = weft_mutex_lock(&ring[(me + 1) % 3]);
	if (rc == 0)
		CHECK_EQ(weft_mutex_unlock(&ring[(me + 1) % 3]), 0);
	CHECK_EQ(weft_mutex_unlock(&ring[me]), 0);
	return rc;
}

static int close_the_ring(void *unused)
{
	static const char *const names[] = { "tick", "trick", "track" };
	weft_thread *t[3];
	int deadlocks = 0, before = atomic_load(&caught.count[WEFT_REPORT_MISUSE]);

	(void)unused;
	atomic_store(&ready, 0);
	for (int i = 0; i < 3; i++)
		t[i] = start_named(names[i], hold_and_want, (void *)(intptr_t)i);
	for (int i = 0; i < 3; i++) {
		int rc = join(t[i]);

		CHECK(rc == 0 || rc == -EDEADLK);
		deadlocks += rc == -EDEADLK;
	}
	CHECK_EQ(deadlocks, 1);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), before + 1);
	CHECK(reported(WEFT_REPORT_MISUSE, "deadlock of 3 threads:"));
	for (int i = 0; i < 3; i++)
		CHECK(reported(WEFT_REPORT_MISUSE, names[i]));
	CHECK(reported(WEFT_REPORT_MISUSE, ", started at "));
	CHECK(reported(WEFT_REPORT_MISUSE, "waits for mutex"));
	CHECK(reported(WEFT_REPORT_MISUSE, "since tests/threads/locks.c:"));
	CHECK(reported(WEFT_REPORT_MISUSE, "hold_and_want")); /* in each stack */
	return 0;
}

TEST(a_deadlock_is_reported_once_and_the_last_call_fails)
{
	catch_reports();
	run_all(close_the_ring);
}

/* A reader that locks again behind a waiting writer. */
static int write_it(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_wrlock(&rw), 0);
	return weft_rwlock_unlock(&rw);
}

static int read_again(void *unused)
{
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
	t = start(write_it, NULL);
	YIELD_UNTIL(waiting_inside(&rw.home_, &rw.waiters_) == 1);
	CHECK_EQ(weft_rwlock_rdlock(&rw), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "waits for rwlock"));
	CHECK_EQ(weft_rwlock_rdlock_until(&rw, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_rwlock_unlock(&rw), 0);
	return join(t);
}

TEST(a_reader_that_waits_for_itself_is_found)
{
	catch_reports();
	run_all(read_again);
}

static int unlock_for_another(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_unlock(&rw), -EPERM);
	return 0;
}

static int let_another_unlock(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
	join(start(unlock_for_another, NULL));
	CHECK(reported(WEFT_REPORT_MISUSE, "unlocked by who did not lock it"));
	return weft_rwlock_unlock(&rw);
}

TEST(a_reader_unlocks_only_what_it_locked)
{
	catch_reports();
	run_all(let_another_unlock);
}

/* Locks taken in a good order: there must be no false alarm. */
static int lock_in_order(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;
	weft_mutex *all[] = { &a, &b, &c };

	for (int i = 0; i < TEST_SIZE(2000); i++) {
		unsigned first = (unsigned)random_below(&seed, 3);
		unsigned last = first + (unsigned)random_below(&seed, 3 - first);
		bool shared = random_below(&seed, 2) == 0;

		CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
		for (unsigned n = first; n <= last; n++)
			CHECK_EQ(weft_mutex_lock(all[n]), 0);
		if (shared)
			weft_yield();
		for (unsigned n = first; n <= last; n++)
			CHECK_EQ(weft_mutex_unlock(all[n]), 0);
		CHECK_EQ(weft_rwlock_unlock(&rw), 0);
		if (random_below(&seed, 8) == 0) {
			CHECK_EQ(weft_rwlock_wrlock(&rw), 0);
			CHECK_EQ(weft_rwlock_unlock(&rw), 0);
		}
	}
	return 0;
}

static int lock_much_in_order(void *unused)
{
	uint64_t seed = TEST_SEED;
	weft_thread *t[6];

	(void)unused;
	for (int i = 0; i < 6; i++)
		t[i] = start(lock_in_order, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 6; i++)
		join(t[i]);
	return 0;
}

TEST(a_good_order_is_never_taken_for_a_deadlock)
{
	run_all(lock_much_in_order);
}

/* Two readers are let in together. The first to run wants what the other holds, who has
 * not run yet: it was waiting, but is no more. */
static int hold_and_read(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&a), 0);
	CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
	CHECK_EQ(weft_rwlock_unlock(&rw), 0);
	return weft_mutex_unlock(&a);
}

static int read_and_want(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
	CHECK_EQ(weft_mutex_lock(&a), 0);
	CHECK_EQ(weft_mutex_unlock(&a), 0);
	return weft_rwlock_unlock(&rw);
}

static int let_both_in(void *unused)
{
	weft_thread *first, *second;

	(void)unused;
	CHECK_EQ(weft_rwlock_wrlock(&rw), 0);
	first = start(read_and_want, NULL);
	YIELD_UNTIL(waits(first));
	second = start(hold_and_read, NULL);
	YIELD_UNTIL(waits(second));
	CHECK_EQ(weft_rwlock_unlock(&rw), 0);
	CHECK_EQ(join(first), 0);
	return join(second);
}

TEST(who_was_let_in_but_has_not_run_does_not_wait)
{
	run_all(let_both_in);
}

/* What threads do while they hold something */

static int end_with_mutex(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&a), 0);
	CHECK_EQ(weft_rwlock_rdlock(&rw), 0);
	return 0;
}

static int forget_to_unlock(void *unused)
{
	(void)unused;
	join(start_named("careless", end_with_mutex, NULL));
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 2);
	CHECK(reported(WEFT_REPORT_MISUSE, "careless"));
	CHECK(reported(WEFT_REPORT_MISUSE, "ended holding mutex"));
	CHECK(reported(WEFT_REPORT_MISUSE, ", locked at tests/threads/locks.c:"));
	return 0;
}

TEST(a_thread_that_ends_with_a_lock_is_reported)
{
	catch_reports();
	run_with(2, forget_to_unlock);
}

static int hop_with_mutex(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&a), 0);
	CHECK_EQ(weft_hop(4), 0);
	CHECK(reported(WEFT_REPORT_MISUSE, "hops holding mutex"));
	CHECK(reported(WEFT_REPORT_MISUSE, ", locked at tests/threads/locks.c:"));
	CHECK_EQ(weft_mutex_unlock(&a), 0);
	CHECK_EQ(weft_hop(5), 0);
	CHECK_EQ(atomic_load(&caught.count[WEFT_REPORT_MISUSE]), 1);
	return 0;
}

TEST(a_hop_with_a_lock_is_reported)
{
	catch_reports();
	run_with(2, hop_with_mutex);
}

static weft_sem never;

static int wait_in_vain(void *unused)
{
	(void)unused;
	return weft_mutex_lock(&ring[0]);
}

static int stop_with_locks(void *unused)
{
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&ring[0]), 0);
	t = start(wait_in_vain, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_stop(), 0);
	return weft_sem_wait(&never);
}

/* Threads of the next run have the same addresses as those of the last. */
TEST(what_a_stopped_run_held_is_forgotten)
{
	weft_options opt = { .workers = 2 };

	catch_reports();
	(void)weft_run(stop_with_locks, NULL, &opt);
	memset(ring, 0, sizeof ring);
	run_all(close_the_ring);
}

TEST_MAIN
