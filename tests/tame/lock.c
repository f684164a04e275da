/* Locks that are held across waits: in order, exclusive and shared, cancelled at every stage. */
#include "tame/primitives.h"

#include <weft/tame_lock.h>

static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;

THREAD_TEST(who_asks_first_gets_it_first, 1)
{
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < 5; i++)
		weft_lock_ev(&lock, of_none(&f, i));
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(next(&f), i);
		settle();
		CHECK(!has_next(&f));
		CHECK_EQ(weft_trylock(&lock), -EBUSY);
		CHECK_EQ(weft_trylock_shared(&lock), -EBUSY);
		CHECK_EQ(weft_unlock(&lock), 0);
	}
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(those_who_share_have_it_together_and_overtake_nobody, 1)
{
	struct fn f;

	fn_begin(&f);
	weft_lock_shared_ev(&lock, of_none(&f, 0));
	weft_lock_shared_ev(&lock, of_none(&f, 1));
	weft_lock_ev(&lock, of_none(&f, 2));
	weft_lock_shared_ev(&lock, of_none(&f, 3));
	weft_lock_shared_ev(&lock, of_none(&f, 4));
	settle();
	CHECK_EQ(next(&f), 0);
	CHECK_EQ(next(&f), 1);
	CHECK(!has_next(&f));
	CHECK_EQ(weft_trylock_shared(&lock), -EBUSY); /* one waits for it alone */
	CHECK_EQ(weft_unlock(&lock), 0);
	settle();
	CHECK(!has_next(&f));
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(next(&f), 2);
	settle();
	CHECK(!has_next(&f));
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(next(&f), 3);
	CHECK_EQ(next(&f), 4);
	CHECK_EQ(weft_trylock_shared(&lock), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(who_gives_up_waiting_leaves_none_held_and_lets_others_by, 1)
{
	struct fn f, g;

	fn_begin(&f);
	fn_begin(&g);
	CHECK_EQ(weft_trylock_shared(&lock), 0);
	weft_lock_ev(&lock, of_none(&f, 1));
	weft_lock_shared_ev(&lock, of_none(&g, 2));
	settle();
	CHECK(!has_next(&g));
	cancel(&f);
	CHECK_EQ(next(&g), 2);
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_unlock(&lock), 0);
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	fn_end(&g);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_lock_that_came_when_nobody_wanted_it_goes_to_the_next, 1)
{
	struct fn f, g;

	fn_begin(&f);
	fn_begin(&g);
	for (int shared = 0; shared < 2; shared++) {
		CHECK_EQ(weft_trylock(&lock), 0);
		(shared ? weft_lock_shared_ev : weft_lock_ev)(&lock, of_none(&f, 1));
		weft_lock_ev(&lock, of_none(&g, 2));
		CHECK_EQ(weft_unlock(&lock), 0); /* f's it is, and f does not know yet */
		cancel(&f);
		CHECK_EQ(next(&g), 2);
		CHECK_EQ(weft_unlock(&lock), 0);
		CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	}
	fn_end(&g);
	fn_end(&f);
	return 0;
}

THREAD_TEST(misuse_of_locks_is_reported, 1)
{
	struct fn f;

	catch_reports();
	fn_begin(&f);
	CHECK_EQ(weft_unlock(&lock), -EPERM);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 1);
	CHECK_EQ(weft_trylock(&lock), 0);
	CHECK_EQ(weft_tame_lock_fini(&lock), -EBUSY);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 2);
	CHECK_EQ(weft_unlock(&lock), 0);
	fn_end(&f);
	return 0;
}

/* Many colors: who holds it alone is alone, and a random half gives up. */
static atomic_int alone, sharing, had;
static uint64_t seed;

static int use_lock(void *arg)
{
	uint64_t state = seed + (uintptr_t)arg;
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < TEST_SIZE(3000); i++) {
		bool shared = random_below(&state, 2);

		(shared ? weft_lock_shared_ev : weft_lock_ev)(&lock, of_none(&f, 1));
		if (random_below(&state, 2)) {
			for (uint64_t k = random_below(&state, 4); k > 0 && !has_next(&f); k--)
				weft_yield();
			if (!has_next(&f)) {
				cancel(&f);
				continue;
			}
		}
		CHECK_EQ(next(&f), 1);
		if (shared) {
			atomic_fetch_add(&sharing, 1);
			CHECK_EQ(atomic_load(&alone), 0);
		} else {
			CHECK_EQ(atomic_fetch_add(&alone, 1), 0);
			CHECK_EQ(atomic_load(&sharing), 0);
		}
		atomic_fetch_add(&had, 1);
		if (random_below(&state, 2))
			weft_yield();
		atomic_fetch_sub(shared ? &sharing : &alone, 1);
		CHECK_EQ(weft_unlock(&lock), 0);
	}
	settle();
	fn_end(&f);
	return 0;
}

THREAD_TEST(locks_are_exclusive_among_many_colors_and_cancels, 2)
{
	weft_thread *t[6];

	seed = TEST_SEED;
	many_colors = true;
	for (intptr_t i = 0; i < 6; i++)
		t[i] = start(use_lock, (void *)i);
	for (int i = 0; i < 6; i++)
		CHECK_EQ(join(t[i]), 0);
	CHECK(had > 100);
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	return 0;
}

TEST_MAIN
