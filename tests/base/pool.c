/* The pool of records: no record twice, none lost, the limit exact. */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/capacity.h"
#include "base/fault.h"
#include "harness/test.h"

enum { OWNED = 0x0ddba11 };

struct record {
	uint64_t owner;
	uint64_t stamp;
};

static struct wf_pool pool;

static struct record *get(struct wf_pool_cache *cache, uint64_t owner, bool must)
{
	struct record *r = wf_pool_get(&pool, cache, must);

	if (r != NULL) {
		CHECK(r->owner != OWNED);
		r->owner = OWNED;
		r->stamp = owner;
	}
	return r;
}

static void put(struct wf_pool_cache *cache, struct record *r, uint64_t owner)
{
	CHECK_EQ(r->owner, OWNED);
	CHECK_EQ(r->stamp, owner);
	r->owner = 0;
	wf_pool_put(&pool, cache, r);
}

/* Random gets and puts by two caches and by somebody without one. */
TEST(no_record_is_handed_out_twice)
{
	uint64_t seed = TEST_SEED;
	struct wf_pool_cache cache[2] = { { 0 } };
	enum { MOST = 2000 };
	static struct record *mine[MOST];
	size_t n = 0, most = 0;

	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 0), 0);
	for (int step = 0; step < 200000; step++) {
		uint64_t who = test_random(&seed) % 3;
		struct wf_pool_cache *c = who < 2 ? &cache[who] : NULL;
		bool up = test_random(&seed) % 1000 < (step / 5000 % 2 ? 300 : 700);

		if (up && n < MOST) {
			mine[n] = get(c, 7, false);
			CHECK(mine[n] != NULL);
			n++;
		} else if (!up && n > 0) {
			size_t i = test_random(&seed) % n;

			put(c, mine[i], 7);
			mine[i] = mine[--n];
		}
		most = n > most ? n : most;
	}
	/* What is free is used before anything new: caches hold a little back. */
	CHECK(pool.fresh <= most + 2 * 2 * WF_POOL_CACHE);
	wf_pool_fini(&pool);
}

TEST(the_limit_counts_records_in_use_and_not_those_in_caches)
{
	struct wf_pool_cache a = { 0 }, b = { 0 };
	struct record *r[4];

	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 4), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++) {
			r[i] = get(&a, 1, false);
			CHECK(r[i] != NULL);
		}
		CHECK(get(&a, 1, false) == NULL);
		CHECK(get(&b, 1, false) == NULL);
		CHECK(get(NULL, 1, false) == NULL);
		for (int i = 0; i < 4; i++)
			put(&a, r[i], 1);
		/* All are free again, if in a's cache: b can have four. */
		for (int i = 0; i < 4; i++) {
			r[i] = get(&b, 2, false);
			CHECK(r[i] != NULL);
		}
		CHECK(get(NULL, 2, false) == NULL);
		for (int i = 0; i < 4; i++)
			put(NULL, r[i], 2);
	}
	wf_pool_fini(&pool);
}

TEST(who_must_have_a_record_gets_one_above_the_limit)
{
	struct record *r[10];

	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 2), 0);
	for (int i = 0; i < 10; i++) {
		r[i] = get(NULL, 3, true);
		CHECK(r[i] != NULL);
	}
	CHECK(get(NULL, 3, false) == NULL);
	for (int i = 0; i < 8; i++) {
		put(NULL, r[i], 3);
		CHECK(get(NULL, 3, false) == NULL);
	}
	put(NULL, r[8], 3);
	r[8] = get(NULL, 3, false);
	CHECK(r[8] != NULL);
	wf_pool_fini(&pool);
}

TEST(a_pool_ends_where_its_room_ends)
{
	size_t n = 0;

	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 1, 0), 0);
	while (wf_pool_get(&pool, NULL, true) != NULL)
		n++;
	CHECK_EQ(n, pool.room);
	CHECK(n >= 1 && n < 10000);
	for (size_t i = 0; i < n; i++)
		wf_pool_put(&pool, NULL, pool.base + i * pool.size);
	for (size_t i = 0; i < n; i++)
		CHECK(wf_pool_get(&pool, NULL, true) != NULL);
	CHECK(wf_pool_get(&pool, NULL, true) == NULL);
	wf_pool_fini(&pool);
}

#ifdef WEFT_DEBUG
static void put_twice_into_a_cache(void)
{
	struct wf_pool_cache cache = { 0 };
	void *one = wf_pool_get(&pool, &cache, false), *two = wf_pool_get(&pool, &cache, false);

	wf_pool_put(&pool, &cache, one);
	wf_pool_put(&pool, &cache, two);
	wf_pool_put(&pool, &cache, one);
}

/* The stock cannot be searched: more are found to come back than were ever given. */
static void put_twice_into_the_stock(void)
{
	void *one = wf_pool_get(&pool, NULL, false), *two = wf_pool_get(&pool, NULL, false);

	wf_pool_put(&pool, NULL, one);
	wf_pool_put(&pool, NULL, two);
	wf_pool_put(&pool, NULL, one);
}

TEST(a_debug_build_aborts_when_a_record_is_put_twice)
{
	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 0), 0);
	CHECK_ABORTS(put_twice_into_a_cache);
	CHECK_ABORTS(put_twice_into_the_stock);
	wf_pool_fini(&pool);
}
#endif

enum { THREADS = 4, KEPT = 300 };

static void *churn(void *arg)
{
	uint64_t me = (uintptr_t)arg, seed = me * 77 + TEST_SEED;
	struct wf_pool_cache own = { 0 }, *cache = me % 2 ? &own : NULL;
	struct record *mine[KEPT];
	size_t n = 0;

	for (int i = 0; i < TEST_SIZE(100000); i++) {
		bool up = test_random(&seed) % 100 < (i / 1000 % 2 ? 30u : 70u);

		if (up && n < KEPT) {
			mine[n] = get(cache, me, false);
			CHECK(mine[n] != NULL);
			n++;
		} else if (!up && n > 0) {
			put(cache, mine[--n], me);
		}
	}
	while (n > 0)
		put(cache, mine[--n], me);
	return NULL;
}

TEST(threads_share_a_pool_without_sharing_records)
{
	pthread_t thread[THREADS];

	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 0), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(pool.fresh <= THREADS * (KEPT + 2 * WF_POOL_CACHE));
	wf_pool_fini(&pool);
}

TEST(a_pool_that_gets_no_space_says_so_and_can_be_ended)
{
#ifdef WEFT_FAULTS
	wf_fault_arm(1);
	CHECK_EQ(wf_pool_init(&pool, sizeof(struct record), 100000, 0), -ENOMEM);
	wf_pool_fini(&pool);
	wf_fault_arm(0);
#endif
	CHECK_EQ(wf_pool_init(&pool, (size_t)1 << 50, 1024, 0), -ENOMEM);
	wf_pool_fini(&pool);
}

TEST_MAIN
