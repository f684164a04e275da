/* Semaphores: as many units come out as were put in, whoever waits. */
#include "threads/sync.h"

#include <weft/blocking.h>

static weft_sem sem;

static int waiting_now(void)
{
	return waiting_inside(&sem.home_, &sem.waiters_);
}

static int order[8], ordered;

static int take_and_note(void *arg)
{
	CHECK_EQ(weft_sem_wait(&sem), 0);
	order[__atomic_fetch_add(&ordered, 1, __ATOMIC_RELAXED)] = (int)(intptr_t)arg;
	return 0;
}

static int post_each(void *unused)
{
	weft_thread *t[8];

	(void)unused;
	ordered = 0;
	weft_sem_init(&sem, 2);
	CHECK_EQ(weft_sem_wait(&sem), 0);
	CHECK_EQ(weft_sem_trywait(&sem), 0);
	CHECK_EQ(weft_sem_trywait(&sem), -EBUSY);
	CHECK_EQ(weft_sem_wait_until(&sem, 0), -ETIMEDOUT);
	for (int i = 0; i < 8; i++) {
		t[i] = start(take_and_note, (void *)(intptr_t)i);
		YIELD_UNTIL(waiting_now() == i + 1);
	}
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(weft_sem_post(&sem), 0);
		CHECK_EQ(weft_sem_trywait(&sem), -EBUSY); /* it was handed over */
		join(t[i]);
		CHECK_EQ(order[i], i);
	}
	CHECK_EQ(weft_sem_fini(&sem), 0);
	return 0;
}

TEST(a_unit_goes_to_the_first_who_waits)
{
	run_all(post_each);
}

TEST(it_does_not_overflow)
{
	weft_sem full = WEFT_SEM_INIT(UINT32_MAX);

	CHECK_EQ(weft_sem_post(&full), -EOVERFLOW);
	CHECK_EQ(weft_sem_trywait(&full), 0);
	CHECK_EQ(weft_sem_post(&full), 0);
}

static void wait_in_handler(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_sem_wait(&sem), -EPERM);
	CHECK_EQ(weft_sem_post(&sem), 0);
}

static int wait_for_handler(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_post(WEFT_MAIN, wait_in_handler, NULL), 0);
	return weft_sem_wait(&sem);
}

TEST(a_plain_handler_may_post_but_not_wait)
{
	run_with(2, wait_for_handler);
}

static int wait_with_deadline(void *unused)
{
	(void)unused;
	return weft_sem_wait_until(&sem, weft_now() + 1000 * WEFT_SEC);
}

static int expire_before_and_after(void *unused)
{
	weft_thread *t = start(wait_with_deadline, NULL);

	(void)unused;
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_sem_post(&sem), 0);
	expire_now(t);
	CHECK_EQ(join(t), 0);

	t = start(wait_with_deadline, NULL);
	YIELD_UNTIL(waits(t));
	CHECK_EQ(weft_sem_fini(&sem), -EBUSY);
	CHECK(reported(WEFT_REPORT_MISUSE, "somebody waits for semaphore"));
	expire_now(t);
	CHECK_EQ(weft_sem_post(&sem), 0);
	CHECK_EQ(join(t), -ETIMEDOUT);
	CHECK_EQ(weft_sem_trywait(&sem), 0); /* the unit is still there */
	return 0;
}

TEST(a_deadline_either_took_a_unit_or_did_not)
{
	catch_reports();
	run_with(2, expire_before_and_after);
}

static atomic_long taken;
static atomic_int takers;

static void take_with_deadlines(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;

	for (long i = 0; i < races() / 4; i++) {
		int rc = weft_sem_wait_until(&sem, soon(&seed));

		CHECK(rc == 0 || rc == -ETIMEDOUT);
		if (rc == 0)
			atomic_fetch_add(&taken, 1);
		if (random_below(&seed, 4) == 0)
			weft_yield();
	}
	atomic_fetch_sub(&takers, 1);
}

static int taker(void *seed)
{
	take_with_deadlines(seed);
	return 0;
}

static int count_units(void *unused)
{
	uint64_t seed = TEST_SEED;
	struct foreign f;
	weft_thread *t[3];
	long posted = 0, left = 0;

	(void)unused;
	weft_sem_init(&sem, 0);
	atomic_store(&taken, 0);
	atomic_store(&takers, many_colors ? 4 : 3);
	for (int i = 0; i < 3; i++)
		t[i] = start(taker, (void *)(uintptr_t)test_random(&seed));
	if (many_colors)
		foreign_start(&f, take_with_deadlines, (void *)(uintptr_t)test_random(&seed));
	while (atomic_load(&takers) > 0) {
		CHECK_EQ(weft_sem_post(&sem), 0);
		posted++;
		for (uint64_t n = random_below(&seed, 6); n > 0; n--)
			weft_yield();
	}
	for (int i = 0; i < 3; i++)
		join(t[i]);
	if (many_colors)
		foreign_join(&f);
	while (weft_sem_trywait(&sem) == 0)
		left++;
	CHECK_EQ(atomic_load(&taken) + left, posted);
	return 0;
}

TEST(all_units_are_accounted_for)
{
	run_all(count_units);
}

/* Between a thread and the offload pool, in turns. */
static weft_sem there, back;

static int answer(void *unused)
{
	(void)unused;
	CHECK(weft_worker_current() < 0);
	for (int i = 0; i < TEST_SIZE(1000); i++) {
		CHECK_EQ(weft_sem_wait(&there), 0);
		CHECK_EQ(weft_sem_post(&back), 0);
	}
	return 7;
}

static int answer_in_pool(void *unused)
{
	return weft_offload(answer, unused);
}

static int ask_the_pool(void *unused)
{
	weft_thread *t = start(answer_in_pool, unused);

	for (int i = 0; i < TEST_SIZE(1000); i++) {
		CHECK_EQ(weft_sem_post(&there), 0);
		CHECK_EQ(weft_sem_wait(&back), 0);
	}
	return join(t) - 7;
}

TEST(threads_and_the_offload_pool_wait_for_each_other)
{
	run_all(ask_the_pool);
}

TEST_MAIN
