/* Barriers: nobody leaves before all have come, and one is told to be the last. */
#include "threads/sync.h"

enum { PARTIES = 6, ROUNDS = 200 };

static weft_barrier barrier;
static atomic_int came[ROUNDS], lasts[ROUNDS];

static void meet_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		int rc;

		atomic_fetch_add(&came[i], 1);
		rc = weft_barrier_wait(&barrier);
		CHECK(rc == 0 || rc == WEFT_BARRIER_LAST);
		CHECK_EQ(atomic_load(&came[i]), PARTIES);
		atomic_fetch_add(&lasts[i], rc == WEFT_BARRIER_LAST);
	}
}

static int party(void *unused)
{
	meet_often(unused);
	return 0;
}

static int meet(void *unused)
{
	weft_thread *t[PARTIES];
	struct foreign f;
	int threads = many_colors ? PARTIES - 1 : PARTIES;

	(void)unused;
	weft_barrier_init(&barrier, PARTIES);
	memset(came, 0, sizeof came);
	memset(lasts, 0, sizeof lasts);
	for (int i = 0; i < threads; i++)
		t[i] = start(party, NULL);
	if (many_colors)
		foreign_start(&f, meet_often, NULL);
	for (int i = 0; i < threads; i++)
		join(t[i]);
	if (many_colors)
		foreign_join(&f);
	for (int i = 0; i < ROUNDS; i++)
		CHECK_EQ(atomic_load(&lasts[i]), 1);
	CHECK_EQ(weft_barrier_fini(&barrier), 0);
	CHECK_EQ(barrier.parties_, PARTIES);
	return 0;
}

TEST(all_meet_and_one_is_the_last)
{
	run_all(meet);
}

TEST(it_needs_parties)
{
	weft_barrier none = WEFT_BARRIER_INIT(0), one = WEFT_BARRIER_INIT(1);

	CHECK_EQ(weft_barrier_wait(&none), -EINVAL);
	CHECK_EQ(weft_barrier_wait(&one), WEFT_BARRIER_LAST);
	CHECK_EQ(weft_barrier_wait(&one), WEFT_BARRIER_LAST);
}

static int wait_with_deadline(void *unused)
{
	(void)unused;
	return weft_barrier_wait_until(&barrier, weft_now() + 1000 * WEFT_SEC);
}

static int expire_before_and_after(void *unused)
{
	weft_thread *a, *b;

	(void)unused;
	weft_barrier_init(&barrier, 2);
	CHECK_EQ(weft_barrier_wait_until(&barrier, 0), -ETIMEDOUT);
	a = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(a));
	CHECK_EQ(weft_barrier_fini(&barrier), -EBUSY);
	CHECK(reported(WEFT_REPORT_MISUSE, "somebody waits at barrier"));
	expire_now(a);
	CHECK_EQ(join(a), -ETIMEDOUT);

	b = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(b));
	CHECK_EQ(weft_barrier_wait(&barrier), WEFT_BARRIER_LAST);
	expire_now(b); /* they have met */
	CHECK_EQ(join(b), 0);
	return 0;
}

TEST(who_left_does_not_count_and_who_met_has_met)
{
	catch_reports();
	run_with(2, expire_before_and_after);
}

/* Two who try to meet with deadlines: they do so together or not at all. */
static atomic_long met[2];

static int try_to_meet(void *arg)
{
	int me = (int)(intptr_t)arg;
	uint64_t seed = TEST_SEED + (uint64_t)me;

	for (long i = 0; i < races() / 4; i++) {
		int rc = weft_barrier_wait_until(&barrier, soon(&seed));

		CHECK(rc == 0 || rc == WEFT_BARRIER_LAST || rc == -ETIMEDOUT);
		if (rc >= 0)
			atomic_fetch_add(&met[me], 1);
		if (random_below(&seed, 3) == 0)
			weft_yield();
	}
	return 0;
}

static int race_to_meet(void *unused)
{
	weft_thread *t[2];

	(void)unused;
	weft_barrier_init(&barrier, 2);
	for (int i = 0; i < 2; i++)
		atomic_store(&met[i], 0);
	for (int i = 0; i < 2; i++)
		t[i] = start(try_to_meet, (void *)(intptr_t)i);
	for (int i = 0; i < 2; i++)
		join(t[i]);
	CHECK_EQ(atomic_load(&met[0]), atomic_load(&met[1]));
	CHECK_EQ(weft_barrier_fini(&barrier), 0);
	return 0;
}

TEST(with_deadlines_both_have_met_or_neither)
{
	run_all(race_to_meet);
}

TEST_MAIN
