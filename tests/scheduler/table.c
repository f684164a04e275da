/* The table of colors: finds what is there, grows, forgets, respects its limit. */
#include "scheduler/table.h"

#include "base/fault.h"
#include "common.h"
#include "scheduler/color.h"
#include "scheduler/runtime.h"

static struct wf_table table;

static struct wf_color *find(weft_color id)
{
	struct wf_shard *shard = wf_table_shard(&table, id);
	struct wf_color *c;

	wf_lock_take(&shard->lock);
	c = wf_table_find(shard, id);
	wf_lock_give(&shard->lock);
	return c;
}

static struct wf_color *add(weft_color id, struct wf_pool_cache *cache)
{
	struct wf_shard *shard = wf_table_shard(&table, id);
	struct wf_color *c;

	wf_lock_take(&shard->lock);
	c = wf_table_find_or_add(&table, shard, id, cache, false);
	wf_lock_give(&shard->lock);
	return c;
}

static void drop(weft_color id, struct wf_pool_cache *cache)
{
	struct wf_shard *shard = wf_table_shard(&table, id);
	struct wf_color *c;

	wf_lock_take(&shard->lock);
	c = wf_table_find(shard, id);
	CHECK(c != NULL);
	wf_table_remove(&table, shard, c, cache);
	wf_lock_give(&shard->lock);
}

static size_t counted;

static void count_record(struct wf_color *c)
{
	(void)c;
	counted++;
}

/* Records in the table. */
static size_t total(void)
{
	counted = 0;
	wf_table_each(&table, count_record);
	return counted;
}

TEST(a_color_that_was_added_is_found_by_its_value_only)
{
	struct wf_color *c;

	CHECK_EQ(wf_table_init(&table, 0), 0);
	CHECK(find(7) == NULL);
	c = add(7, NULL);
	CHECK(c != NULL);
	CHECK_EQ(c->id, 7);
	CHECK_EQ(c->place.pin, -1);
	CHECK(!c->active);
	CHECK(find(7) == c);
	CHECK(add(7, NULL) == c);
	CHECK(find(7 + WF_COLOR_SHARDS) == NULL);
	CHECK(find(7 | (weft_color)1 << 63) == NULL);
	drop(7, NULL);
	CHECK(find(7) == NULL);
	wf_table_fini(&table);
}

enum { MANY = 100000 };

/* Spread, dense, and differing only in high bits. */
static weft_color many(int i)
{
	uint64_t seed = (uint64_t)i;

	switch (i % 3) {
	case 0:
		return test_random(&seed);
	case 1:
		return (weft_color)i;
	default:
		return (weft_color)i << 40;
	}
}

/* So many that most have no slot, so few that the chains can be searched. */
#ifdef WEFT_TINY
enum { CROWD = 2000 };
#else
enum { CROWD = 10000 };
#endif

static void fill_and_empty(int count, bool growth_fails)
{
	static struct wf_color *record[MANY];
	struct wf_pool_cache cache = { 0 };

	CHECK_EQ(wf_table_init(&table, 0), 0);
	for (int i = 0; i < count; i++) {
		if (growth_fails)
			wf_fault_arm(1);
		record[i] = add(many(i), i % 2 ? &cache : NULL);
		CHECK(record[i] != NULL);
	}
	wf_fault_arm(0);
	CHECK_EQ(total(), count);
	for (int i = 0; i < count; i++)
		CHECK(find(many(i)) == record[i]);
	for (int i = 0; i < count; i += 2)
		drop(many(i), &cache);
	for (int i = 0; i < count; i++)
		CHECK(find(many(i)) == (i % 2 ? record[i] : NULL));
	for (int i = 1; i < count; i += 2)
		drop(many(i), NULL);
	CHECK_EQ(total(), 0);
	wf_table_fini(&table);
}

/* The most slots that finding one of the colors looks at. */
static size_t longest_search(void)
{
	size_t longest = 0;

	for (size_t i = 0; i < WF_COLOR_SHARDS; i++) {
		struct wf_shard *shard = &table.shards[i];

		CHECK(shard->chain == NULL);
		for (size_t at = 0; at <= shard->mask; at++) {
			uint64_t hash = wf_color_hash(shard->slots[at].id) / WF_COLOR_SHARDS;
			size_t n = ((at - hash) & shard->mask) + 1;

			if (shard->slots[at].color != NULL && n > longest)
				longest = n;
		}
	}
	return longest;
}

TEST(a_table_of_many_colors_finds_each_and_forgets_each)
{
	fill_and_empty(MANY, false);
}

TEST(searches_stay_short_however_many_colors_there_are)
{
	CHECK_EQ(wf_table_init(&table, 0), 0);
	for (int i = 0; i < MANY; i++)
		add((weft_color)i, NULL); /* as descriptor numbers are */
	for (int i = 0; i < MANY; i++)
		add(((weft_color)i << 12) + 0x7f0000000000, NULL); /* as addresses are */
	CHECK(longest_search() <= 200);
	wf_table_fini(&table);
}

TEST(a_table_that_cannot_grow_finds_everything_all_the_same)
{
	fill_and_empty(CROWD, true);
}

/* The limit, as users see it */

enum { LIMIT = 10 };

static atomic_int ran;
static weft_event event[2 * LIMIT];

static void count(void *unused)
{
	(void)unused;
	atomic_fetch_add(&ran, 1);
}

static int fill_up(void)
{
	int accepted = 0;

	for (int i = 0; i < 2 * LIMIT; i++) {
		weft_event_init(&event[i], (weft_color)(i + 1), count, NULL);
		if (weft_event_post(&event[i]) == 0)
			accepted++;
		else
			CHECK_EQ(weft_post((weft_color)(i + 1), count, NULL), -ENOMEM);
	}
	/* A color that has a record needs none. */
	CHECK_EQ(weft_post(1, count, NULL), 0);
	CHECK_EQ(weft_color_pin(500, 0), -ENOMEM);
	return accepted;
}

static void again(void *unused)
{
	if (atomic_load(&ran) < LIMIT)
		CHECK_EQ(weft_post(WEFT_MAIN, again, unused), 0);
	else
		CHECK_EQ(fill_up(), LIMIT - 1);
}

static int fill_twice(void *unused)
{
	/* This handler's own color is in use as well. */
	CHECK_EQ(fill_up(), LIMIT - 1);
	return weft_post(WEFT_MAIN, again, unused);
}

TEST(more_colors_than_max_colors_are_refused_until_others_are_done)
{
	weft_options opt = { .workers = 1, .max_colors = LIMIT, .batch = 1 };

	CHECK_EQ(weft_run(fill_twice, NULL, &opt), 0);
	CHECK_EQ(atomic_load(&ran), 2 * LIMIT);
}

TEST_MAIN
