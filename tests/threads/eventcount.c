/* Event counts: no change is missed between the look and the wait. */
#include "threads/sync.h"

static weft_eventcount count;
static atomic_long posted, taken;

static int wait_once(void *unused)
{
	(void)unused;
	return weft_eventcount_wait(&count, weft_eventcount_prepare(&count));
}

static int advance_past_all(void *unused)
{
	uint64_t seen = weft_eventcount_prepare(&count);
	weft_thread *t[5];

	(void)unused;
	CHECK_EQ(weft_eventcount_wait_until(&count, seen, 0), -ETIMEDOUT);
	CHECK_EQ(weft_eventcount_advance(&count), 0);
	CHECK_EQ(weft_eventcount_wait(&count, seen), 0);
	for (int i = 0; i < 5; i++)
		t[i] = start(wait_once, NULL);
	YIELD_UNTIL(waiting_inside(&count.home_, &count.waiters_) == 5);
	CHECK_EQ(weft_eventcount_advance(&count), 5);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(join(t[i]), 0);
	CHECK_EQ(weft_eventcount_fini(&count), 0);
	return 0;
}

TEST(an_advance_lets_all_go_on_who_wait)
{
	run_all(advance_past_all);
}

static int wait_with_deadline(void *unused)
{
	(void)unused;
	return weft_eventcount_wait_until(&count, weft_eventcount_prepare(&count),
					  weft_now() + 1000 * WEFT_SEC);
}

static int expire_before_and_after(void *unused)
{
	weft_thread *t = start(wait_with_deadline, NULL);

	(void)unused;
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_eventcount_fini(&count), -EBUSY);
	CHECK(reported(WEFT_REPORT_MISUSE, "somebody waits for event count"));
	expire_now(t);
	CHECK_EQ(weft_eventcount_advance(&count), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);

	t = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_eventcount_advance(&count), 1);
	expire_now(t);
	CHECK_EQ(join(t), 0);
	return 0;
}

TEST(a_deadline_after_the_advance_changes_nothing)
{
	catch_reports();
	run_with(2, expire_before_and_after);
}

/* Items without a lock. If an advance were missed, a taker would wait for ever. */
static bool take_item(void)
{
	long have = atomic_load(&posted);

	while (have > 0)
		if (atomic_compare_exchange_weak(&posted, &have, have - 1))
			return true;
	return false;
}

static void take_items(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (long n = races() / 8; n > 0;) {
		uint64_t seen = weft_eventcount_prepare(&count);
		uint64_t deadline = random_below(&seed, 2) ? WEFT_FOREVER : soon(&seed);
		int rc;

		if (take_item()) {
			atomic_fetch_add(&taken, 1);
			n--;
			continue;
		}
		rc = weft_eventcount_wait_until(&count, seen, deadline);
		CHECK(rc == 0 || (rc == -ETIMEDOUT && deadline != WEFT_FOREVER));
	}
}

static int taker(void *seed)
{
	take_items(seed);
	return 0;
}

static void put_items(void *unused)
{
	(void)unused;
	for (long n = races() / 8; n > 0; n--) {
		atomic_fetch_add(&posted, 1);
		weft_eventcount_advance(&count);
		if (n % 3 == 0)
			weft_yield();
	}
}

static int putter(void *unused)
{
	put_items(unused);
	return 0;
}

static int pass_items(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f[2];
	weft_thread *t[6];

	(void)unused;
	atomic_store(&taken, 0);
	for (int i = 0; i < 6; i++)
		t[i] = start(i % 2 ? putter : taker, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; many_colors && i < 2; i++)
		foreign_start(&f[i], i % 2 ? put_items : take_items,
			      (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 6; i++)
		join(t[i]);
	for (int i = 0; many_colors && i < 2; i++)
		foreign_join(&f[i]);
	CHECK_EQ(atomic_load(&taken), races() / 8 * (many_colors ? 4 : 3));
	CHECK_EQ(atomic_load(&posted), 0);
	return 0;
}

TEST(no_change_is_missed)
{
	run_all(pass_items);
}

TEST_MAIN
