/* Mutexes: one owner, those who wait get it in the order of coming, whatever kind of
 * thread, and are overtaken so many times at most; a deadline either got it or did not.
 */
#include "threads/mutex.h"
#include "base/capacity.h"
#include "platform/clock.h"
#include "threads/sync.h"

static weft_mutex mutex;

/* Order */

static int order[8], ordered;

static int lock_and_note(void *arg)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	order[ordered++] = (int)(intptr_t)arg;
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

static int queue_up(void *unused)
{
	weft_thread *t[8];

	(void)unused;
	ordered = 0;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	for (int i = 0; i < 8; i++) {
		t[i] = start(lock_and_note, (void *)(intptr_t)i);
		YIELD_UNTIL(waiting_inside(&mutex.home_, &mutex.waiters_) == i + 1);
	}
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	for (int i = 0; i < 8; i++)
		join(t[i]);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(order[i], i);
	return 0;
}

TEST(those_who_wait_get_it_in_the_order_of_coming)
{
	run_all(queue_up);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
}

/* Overtaking */

static int lock_to_end(void *arg)
{
	(void)arg;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

static void lock_before(weft_thread *t[], int n)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	for (int i = 0; i < n; i++) {
		t[i] = start(lock_to_end, NULL);
		YIELD_UNTIL(waits(t[i]));
	}
}

/* In one color who is called does not run before we wait. */
static int overtake(void *unused)
{
	weft_thread *t[2];

	(void)unused;
	lock_before(t, 2);
	for (int i = 0; i < WF_OVERTAKEN; i++) {
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		CHECK_EQ(weft_mutex_fini(&mutex), -EBUSY);
		CHECK(reported(WEFT_REPORT_MISUSE, "somebody waits for mutex"));
		CHECK(!waits(t[0]));
		CHECK(waits(t[1])); /* one is woken, however often it is unlocked */
		CHECK_EQ(weft_mutex_trylock(&mutex), 0);
	}
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY); /* handed over */
	join(t[0]);
	join(t[1]);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(who_waits_is_overtaken_so_many_times_and_no_more)
{
	catch_reports();
	run_with(1, overtake);
}

/* Who was called finds it taken each time: that counts as well. */
static int overtake_in_vain(void *unused)
{
	weft_thread *t[1];

	(void)unused;
	lock_before(t, 1);
	for (int i = 0; i < WF_OVERTAKEN; i++) {
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		CHECK_EQ(weft_mutex_trylock(&mutex), 0);
		CHECK(!waits(t[0]));
		YIELD_UNTIL(waits(t[0]));
	}
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY);
	join(t[0]);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(a_waiter_that_runs_in_vain_was_overtaken)
{
	run_with(1, overtake_in_vain);
}

/* Whether it is handed over by one of so many unlocks; we have it, before and, if not,
 * after. */
static bool handed_over_within(int unlocks)
{
	for (int i = 0; i < unlocks; i++) {
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		if (weft_mutex_trylock(&mutex) == -EBUSY)
			return true;
	}
	return false;
}

/* The waiter is of another color, and does not run before we wait: there is one worker. */
static int overtake_for_a_time(void *unused)
{
	const uint64_t due = wf_ns_to_ticks(WF_OVERTAKEN_US * (uint64_t)1000);
	struct wf_mutex_waiter *w;
	weft_thread *t[1];

	(void)unused;
	lock_before(t, 1);
	CHECK_EQ(mutex.home_.color, WF_HOME_SHARED);
	w = WF_CONTAINER(mutex.waiters_.first, struct wf_mutex_waiter, waiter);
	if (WF_OVERTAKEN_US > 0) {
		CHECK(!handed_over_within(100 * WF_OVERTAKEN));
		CHECK(w->called != 0);
		w->called -= due; /* the time has come */
	}
	CHECK(handed_over_within(WF_OVERTAKEN + 1));
	join(t[0]);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

/* Time passes a million times slower: what is due does not come by itself. */
TEST(who_waits_in_another_color_is_overtaken_for_so_long_and_no_longer)
{
	struct wf_clock_rate rate;

	wf_clock_init();
	rate = wf_clock_rate;
	wf_clock_rate.ticks_per_ns *= 1000000;
	many_colors = true;
	run_with(1, overtake_for_a_time);
	wf_clock_rate = rate;
}

/* Who waits beside an owner that runs on another worker may stay awake, for a while. */
static int hold_until_it_sleeps(void *unused)
{
	weft_thread_attr attr = { .on = true, .color = 7 };
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_color_pin(WEFT_MAIN, 0), 0);
	CHECK_EQ(weft_color_pin(attr.color, 1), 0);
	for (int i = 0; i < TEST_SIZE(1000); i++) {
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		CHECK_EQ(weft_thread_start(&t, &attr, lock_to_end, NULL), 0);
		while (!waits(t))
			sched_yield();
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		join(t);
	}
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(who_waits_for_a_long_section_sleeps)
{
	run_with(2, hold_until_it_sleeps);
}

static int overtakes_seen;

/* Others lock it all the time, and never give the waiter time but by waiting. */
static int lock_often(void *over)
{
	while (!*(atomic_bool *)over) {
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		overtakes_seen++;
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	}
	return 0;
}

static int wait_among_many(void *unused)
{
	atomic_bool over = false;
	weft_thread *t[3];

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	for (int i = 0; i < 3; i++)
		t[i] = start(lock_often, &over);
	YIELD_UNTIL(waiting_inside(&mutex.home_, &mutex.waiters_) == 3);
	for (int i = 0; i < TEST_SIZE(1000); i++) {
		int seen = overtakes_seen;

		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		/* Before us come those who wait, each with who overtakes it. We may come
		 * to the queue late, in many colors. */
		if (!many_colors)
			CHECK(overtakes_seen - seen <= 4 * (WF_OVERTAKEN + 1));
	}
	atomic_store(&over, true);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	for (int i = 0; i < 3; i++)
		join(t[i]);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(nobody_starves_beside_those_who_lock_it_all_the_time)
{
	run_all(wait_among_many);
}

/* Misuse */

static int lock_twice(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY);
	CHECK_EQ(weft_mutex_lock(&mutex), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "tests/threads/mutex.c:"));
	CHECK(reported(WEFT_REPORT_MISUSE, "is locked already by its caller, at "));
	CHECK_EQ(weft_mutex_fini(&mutex), -EBUSY);
	CHECK(reported(WEFT_REPORT_MISUSE, "is still locked, since tests/threads/mutex.c:"));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

TEST(to_lock_it_again_is_an_error_and_reported)
{
	catch_reports();
	run_with(2, lock_twice);
}

static int unlock_others(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_unlock(&mutex), -EPERM);
	return 0;
}

static int own_and_let_others_unlock(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	join(start(unlock_others, NULL));
	CHECK(reported(WEFT_REPORT_MISUSE, "is unlocked by who does not own it"));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), -EPERM);
	return 0;
}

TEST(only_the_owner_unlocks_it)
{
	catch_reports();
	run_all(own_and_let_others_unlock);
}

/* Plain handlers and foreign kernel threads */

static atomic_int told;

static void use_in_handler(void *expected)
{
	int rc = weft_mutex_trylock(&mutex);

	CHECK_EQ(rc, (intptr_t)expected);
	if (rc == 0)
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	else
		CHECK_EQ(weft_mutex_lock(&mutex), -EPERM);
	atomic_fetch_add(&told, 1);
}

static int let_handlers_try(void *unused)
{
	(void)unused;
	atomic_store(&told, 0);
	CHECK_EQ(weft_post(3, use_in_handler, (void *)(intptr_t)0), 0);
	YIELD_UNTIL(atomic_load(&told) == 1);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_post(WEFT_MAIN, use_in_handler, (void *)(intptr_t)-EBUSY), 0);
	CHECK_EQ(weft_post_shared(3, use_in_handler, (void *)(intptr_t)-EBUSY), 0);
	YIELD_UNTIL(atomic_load(&told) == 3);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

TEST(a_plain_handler_may_try_but_not_wait)
{
	run_with(2, let_handlers_try);
}

TEST(it_works_without_a_runtime)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
}

static void lock_while_held(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_mutex_lock_until(&mutex, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_mutex_lock_until(&mutex, 0), -ETIMEDOUT);
	atomic_store(&told, 1);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
}

static int hold_against_foreign(void *unused)
{
	struct foreign f;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	foreign_start(&f, lock_while_held, NULL);
	YIELD_UNTIL(atomic_load(&told) == 1 && waiting_inside(&mutex.home_, &mutex.waiters_) == 1);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	foreign_join(&f);
	return 0;
}

TEST(a_foreign_kernel_thread_sleeps_until_it_is_handed_over)
{
	run_with(2, hold_against_foreign);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
}

/* Deadlines */

static int lock_with_deadline(void *unused)
{
	int rc = weft_mutex_lock_until(&mutex, weft_now() + 1000 * WEFT_SEC);

	(void)unused;
	if (rc == 0)
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return rc;
}

static int expire_before_and_after(void *unused)
{
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	CHECK_EQ(weft_mutex_lock_until(&mutex, 0), -EDEADLK);
	t = start(lock_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	expire_now(t); /* it was called, but has not run */
	CHECK_EQ(join(t), 0);

	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	t = start(lock_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	while (weft_mutex_trylock(&mutex) == 0)
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	expire_now(t); /* it has the mutex, but has not run */
	CHECK_EQ(join(t), 0);

	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	t = start(lock_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	expire_now(t);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(a_deadline_that_comes_after_the_grant_changes_nothing)
{
	catch_reports();
	run_with(2, expire_before_and_after);
}

/* One that was called and gives up must not take the call along. */
static int expire_when_called(void *unused)
{
	weft_thread *t[2];

	(void)unused;
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	t[0] = start(lock_with_deadline, NULL);
	t[1] = start(lock_to_end, NULL);
	YIELD_UNTIL(waits(t[0]) && waits(t[1]));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	expire_now(t[0]);
	CHECK_EQ(join(t[0]), -ETIMEDOUT);
	CHECK(waits(t[1]));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	join(t[1]);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(nobody_sleeps_beside_a_free_mutex_when_the_one_called_gives_up)
{
	run_with(1, expire_when_called);
}

static long owned, plain_total, timed_out;

static int race_with_deadlines(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (long i = 0; i < races() / 4; i++) {
		int rc = weft_mutex_lock_until(&mutex, soon(&seed));

		if (rc == 0) {
			CHECK_EQ(owned++, 0);
			plain_total++;
			for (uint64_t n = random_below(&seed, 4); n > 0; n--)
				weft_yield();
			CHECK_EQ(--owned, 0);
			CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		} else {
			CHECK_EQ(rc, -ETIMEDOUT);
			__atomic_fetch_add(&timed_out, 1, __ATOMIC_RELAXED);
		}
		if (random_below(&seed, 4) == 0)
			weft_yield();
	}
	return 0;
}

static int start_races(void *unused)
{
	uint64_t seed = TEST_SEED;
	weft_thread *t[4];

	(void)unused;
	plain_total = timed_out = 0;
	for (int i = 0; i < 4; i++)
		t[i] = start(race_with_deadlines, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 4; i++)
		join(t[i]);
	CHECK_EQ(plain_total + timed_out, races() / 4 * 4);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(a_deadline_either_owns_it_or_does_not)
{
	run_all(start_races);
}

/* Everything at once */

static atomic_long locked;

static void use_at_random(uint64_t seed, int times)
{
	for (int i = 0; i < times; i++) {
		uint64_t what = random_below(&seed, 8);
		int rc = what == 0   ? weft_mutex_trylock(&mutex)
			 : what == 1 ? weft_mutex_lock_until(&mutex, soon(&seed))
				     : weft_mutex_lock(&mutex);

		if (rc < 0) {
			CHECK(what <= 1);
			continue;
		}
		CHECK_EQ(owned++, 0);
		atomic_fetch_add(&locked, 1);
		plain_total++;
		if (random_below(&seed, 3) == 0)
			weft_yield();
		CHECK_EQ(--owned, 0);
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		if (random_below(&seed, 16) == 0)
			weft_yield();
	}
}

static int use_in_thread(void *seed)
{
	use_at_random((uint64_t)(uintptr_t)seed, TEST_SIZE(2000));
	return 0;
}

static void use_in_foreign(void *seed)
{
	use_at_random((uint64_t)(uintptr_t)seed, TEST_SIZE(2000));
}

static int use_everywhere(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f[2];
	weft_thread *t[8];

	(void)unused;
	plain_total = 0;
	atomic_store(&locked, 0);
	for (int i = 0; i < 8; i++)
		t[i] = start(use_in_thread, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; many_colors && i < 2; i++)
		foreign_start(&f[i], use_in_foreign, (void *)(uintptr_t)test_random(&seed));
	for (int i = 0; i < 8; i++)
		join(t[i]);
	for (int i = 0; many_colors && i < 2; i++)
		foreign_join(&f[i]);
	CHECK_EQ(plain_total, atomic_load(&locked));
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

TEST(it_has_one_owner_at_a_time_whoever_comes)
{
	run_all(use_everywhere);
}

/* In the home color, then away, then back: an owner that hops still owns it. */
static int hop_and_unlock(void *unused)
{
	(void)unused;
	for (weft_color c = 1; c < 100; c++) {
		weft_mutex m = WEFT_MUTEX_INIT;

		CHECK_EQ(weft_mutex_lock(&m), 0);
		CHECK_EQ(weft_hop(c), 0);
		CHECK_EQ(weft_mutex_unlock(&m), 0);
		CHECK(m.home_.color == WF_HOME_SHARED);
	}
	return 0;
}

TEST(an_owner_that_hopped_away_can_still_unlock)
{
	catch_reports(); /* it should not, says the debug build */
	run_with(2, hop_and_unlock);
}

TEST_MAIN
