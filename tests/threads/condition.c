/* Conditions: a signal lets one go on, who owns the mutex then; none is lost to a
 * deadline, and a broadcast wakes no herd.
 */
#include "threads/sync.h"

static weft_mutex mutex;
static weft_cond cond;

static int waiting_now(void)
{
	return waiting_inside(&cond.home_, &cond.waiters_);
}

static int order[8], ordered;

static int wait_and_note(void *arg)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_cond_wait(&cond, &mutex), 0);
	order[ordered++] = (int)(intptr_t)arg;
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

static void start_waiters(weft_thread *t[], int n)
{
	ordered = 0;
	for (int i = 0; i < n; i++) {
		t[i] = start(wait_and_note, (void *)(intptr_t)i);
		YIELD_UNTIL(waiting_now() == i + 1);
	}
}

static int signal_each(void *unused)
{
	weft_thread *t[8];

	(void)unused;
	CHECK_EQ(weft_cond_signal(&cond), 0);
	start_waiters(t, 8);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(weft_cond_signal(&cond), 1);
		join(t[i]);
		CHECK_EQ(ordered, i + 1);
		CHECK_EQ(order[i], i);
		CHECK_EQ(waiting_now(), 7 - i);
	}
	return 0;
}

TEST(a_signal_lets_the_first_go_on)
{
	run_all(signal_each);
	CHECK_EQ(weft_cond_fini(&cond), 0);
}

/* Under the mutex a broadcast wakes nobody: all move over to the mutex. */
static int broadcast_under_mutex(void *unused)
{
	weft_thread *t[8];

	(void)unused;
	CHECK_EQ(weft_cond_broadcast(&cond), 0);
	start_waiters(t, 8);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_cond_broadcast(&cond), 8);
	CHECK_EQ(waiting_now(), 0);
	CHECK_EQ(waiting_inside(&mutex.home_, &mutex.waiters_), 8);
	for (int i = 0; i < 8; i++)
		CHECK(waits(t[i]));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	for (int i = 0; i < 8; i++)
		join(t[i]);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(order[i], i);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(a_broadcast_moves_all_to_the_mutex_and_wakes_no_herd)
{
	run_all(broadcast_under_mutex);
}

static int wait_without_mutex(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_cond_wait(&cond, &mutex), -EPERM);
	CHECK(reported(WEFT_REPORT_MISUSE, "tests/threads/condition.c:"));
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_cond_wait_until(&cond, &mutex, 0), -ETIMEDOUT);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

static bool had_a_turn;

static int take_a_turn(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	had_a_turn = true;
	return weft_mutex_unlock(&mutex);
}

static int look_again_and_again(void *unused)
{
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	had_a_turn = false;
	t = start(take_a_turn, NULL);
	while (!had_a_turn)
		CHECK_EQ(weft_cond_wait_until(&cond, &mutex, 0), -ETIMEDOUT);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), 0);
	CHECK_EQ(weft_cond_fini(&cond), 0);
	return 0;
}

TEST(a_wait_whose_deadline_is_past_gives_others_the_mutex)
{
	run_all(look_again_and_again);
}

TEST(who_waits_must_own_the_mutex)
{
	catch_reports();
	run_with(2, wait_without_mutex);
}

/* Deadlines */

static int wait_with_deadline(void *unused)
{
	int rc;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	rc = weft_cond_wait_until(&cond, &mutex, weft_now() + 1000 * WEFT_SEC);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0); /* owned in each case */
	return rc;
}

static weft_thread *start_one(void)
{
	weft_thread *t = start(wait_with_deadline, NULL);

	YIELD_UNTIL(waits(t));
	return t;
}

static int expire_at_each_step(void *unused)
{
	weft_thread *t = start_one();

	(void)unused;
	CHECK_EQ(weft_cond_signal(&cond), 1);
	expire_now(t); /* it was called to take the mutex */
	CHECK_EQ(join(t), 0);

	t = start_one();
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_cond_signal(&cond), 1);
	expire_now(t); /* it waits for the mutex */
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), 0);

	t = start_one();
	expire_now(t);
	CHECK_EQ(weft_cond_signal(&cond), 0); /* not wasted on one who left */
	CHECK_EQ(join(t), -ETIMEDOUT);

	t = start_one();
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	expire_now(t);
	CHECK_EQ(waiting_now(), 0);
	CHECK(waits(t)); /* for the mutex */
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	CHECK_EQ(weft_cond_fini(&cond), 0);
	return 0;
}

TEST(a_deadline_loses_no_signal_and_comes_back_with_the_mutex)
{
	run_with(2, expire_at_each_step);
}

/* A bounded buffer with deadlines, from threads and foreign kernel threads. Signals are
 * as many as changes, so that one lost would stop it. */
static weft_cond not_empty, not_full;
static int filled;
static long put_total, took_total;
static atomic_int putters;

enum { ROOM = 2 };

static int wait_some(weft_cond *c, uint64_t *seed)
{
	if (random_below(seed, 2) == 0)
		return weft_cond_wait(c, &mutex);
	return weft_cond_wait_until(c, &mutex, soon(seed));
}

static void put_items(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (long i = 0; i < races() / 8; i++) {
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		while (filled == ROOM) {
			int rc = wait_some(&not_full, &seed);

			CHECK(rc == 0 || rc == -ETIMEDOUT);
		}
		CHECK(filled < ROOM);
		filled++;
		put_total++;
		weft_cond_signal(&not_empty);
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	}
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	atomic_fetch_sub(&putters, 1);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	weft_cond_broadcast(&not_empty);
}

static void take_items(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	for (;;) {
		while (filled == 0 && atomic_load(&putters) > 0) {
			int rc = wait_some(&not_empty, &seed);

			CHECK(rc == 0 || rc == -ETIMEDOUT);
		}
		if (filled == 0)
			break;
		filled--;
		took_total++;
		weft_cond_signal(&not_full);
		if (random_below(&seed, 4) == 0) {
			CHECK_EQ(weft_mutex_unlock(&mutex), 0);
			weft_yield();
			CHECK_EQ(weft_mutex_lock(&mutex), 0);
		}
	}
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
}

static int putter(void *seed)
{
	put_items(seed);
	return 0;
}

static int taker(void *seed)
{
	take_items(seed);
	return 0;
}

static int pass_items(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f[2];
	weft_thread *t[6];

	(void)unused;
	filled = 0;
	put_total = took_total = 0;
	atomic_store(&putters, many_colors ? 4 : 3);
	for (int i = 0; i < 6; i++)
		t[i] = start(i % 2 ? putter : taker, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; many_colors && i < 2; i++)
		foreign_start(&f[i], i % 2 ? put_items : take_items,
			      (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 6; i++)
		join(t[i]);
	for (int i = 0; many_colors && i < 2; i++)
		foreign_join(&f[i]);
	CHECK_EQ(took_total, put_total);
	CHECK_EQ(put_total, races() / 8 * (many_colors ? 4 : 3));
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	CHECK_EQ(weft_cond_fini(&not_empty), 0);
	CHECK_EQ(weft_cond_fini(&not_full), 0);
	return 0;
}

TEST(no_signal_is_lost_whoever_waits_and_whatever_the_deadline)
{
	run_all(pass_items);
}

static void signal_it(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_cond_signal(&cond), 1);
}

static int let_handler_signal(void *unused)
{
	weft_thread *t[1];

	(void)unused;
	start_waiters(t, 1);
	CHECK_EQ(weft_cond_fini(&cond), -EBUSY);
	CHECK(reported(WEFT_REPORT_MISUSE, "somebody waits for condition"));
	CHECK_EQ(weft_post(8, signal_it, NULL), 0);
	return join(t[0]);
}

TEST(a_plain_handler_may_signal)
{
	catch_reports();
	run_all(let_handler_signal);
}

TEST_MAIN
