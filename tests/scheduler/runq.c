/* A worker's queue of colors, against a naive one. */
#include "scheduler/runq.h"

#include "base/capacity.h"
#include "common.h"

enum { PLACES = 40 };

static struct wf_runq queue;
static struct wf_place places[PLACES];

/* What is known of each place without the queue's help. */
static struct {
	bool in;
	unsigned level, worth;
	uint64_t left;
	int64_t number; /* lower: queued earlier */
	int64_t order;  /* in its lane */
} model[PLACES];
static int64_t now;
static struct wf_rotation model_rotation;
static unsigned model_newest;

/* The first of a lane, or -1. */
static int first_of(unsigned worth, unsigned level)
{
	int best = -1;

	for (int i = 0; i < PLACES; i++)
		if (model[i].in && model[i].worth == worth && model[i].level == level &&
		    (best < 0 || model[i].order < model[best].order))
			best = i;
	return best;
}

/* The last of a lane, or -1. */
static int last_of(unsigned worth, unsigned level)
{
	int best = -1;

	for (int i = 0; i < PLACES; i++)
		if (model[i].in && model[i].worth == worth && model[i].level == level &&
		    (best < 0 || model[i].order > model[best].order))
			best = i;
	return best;
}

/* Of the last of a level's lanes, the one queued last. */
static int newest_of(unsigned level)
{
	int best = -1;

	for (unsigned worth = 0; worth <= WF_WORTHS; worth++) {
		int i = last_of(worth, level);

		if (i >= 0 && (best < 0 || model[i].number > model[best].number))
			best = i;
	}
	return best;
}

/* Of the first of the lanes of the level that comes next, the one queued first. */
static int expect_pop(enum wf_order order)
{
	unsigned levels = 0, level, other = order == WF_CPU_FIRST ? 0 : 1;
	int best = -1;

	for (int i = 0; i < PLACES; i++)
		levels |= model[i].in ? 1u << (model[i].level ^ other) : 0;
	if (levels == 0)
		return -1;
	level = wf_policy_pick(&model_rotation, levels) ^ other;
	if (order == WF_IO_NEWEST && ++model_newest % WF_SKIPS != 0)
		return newest_of(level);
	for (unsigned worth = 0; worth <= WF_WORTHS; worth++) {
		int i = first_of(worth, level);

		if (i >= 0 && (best < 0 || model[i].number < model[best].number))
			best = i;
	}
	return best;
}

/* The first of the worthiest lane, of the highest level; pinned ones are left out. */
static int expect_steal(unsigned least)
{
	for (int worth = WF_WORTHS - 1; worth >= (int)least; worth--)
		for (int level = WF_LEVELS - 1; level >= 0; level--)
			if (first_of((unsigned)worth, (unsigned)level) >= 0)
				return first_of((unsigned)worth, (unsigned)level);
	return -1;
}

static void check_sums(void)
{
	uint64_t time = 0, occupied = 0;
	unsigned colors = 0;

	for (int i = 0; i < PLACES; i++) {
		CHECK_EQ(places[i].at == &queue, model[i].in);
		if (!model[i].in)
			continue;
		colors++;
		CHECK_EQ(places[i].level, model[i].level);
		CHECK_EQ(places[i].worth, model[i].worth);
		occupied |= (uint64_t)1 << (model[i].worth * WF_LEVELS + model[i].level);
		if (wf_runq_is_worthy(model[i].worth))
			time += model[i].left;
	}
	CHECK_EQ(queue.colors, colors);
	CHECK_EQ(queue.occupied, occupied);
	CHECK_EQ(queue.steal_time, time);
}

/* Into a lane: behind the others, but the oldest goes ahead. */
static void model_enter(int i, unsigned level, unsigned worth, uint64_t left)
{
	int first;

	model[i].in = false;
	first = first_of(worth, level);
	model[i].in = true;
	model[i].level = level;
	model[i].worth = worth;
	model[i].left = left;
	model[i].order = first >= 0 && model[i].number < model[first].number ? -now : now;
}

static void push(int i, uint64_t *seed) WF_REQUIRES(queue.lock)
{
	unsigned level = (unsigned)random_below(seed, WF_LEVELS);
	unsigned worth = (unsigned)random_below(seed, WF_WORTHS + 1);
	uint64_t left = random_below(seed, 10000);

	model[i].number = now;
	model_enter(i, level, worth, left);
	wf_runq_push(&queue, &places[i], level, worth, left);
}

static void move(int i, uint64_t *seed) WF_REQUIRES(queue.lock)
{
	unsigned level = (unsigned)random_below(seed, WF_LEVELS);
	unsigned worth = (unsigned)random_below(seed, WF_WORTHS);
	uint64_t left = random_below(seed, 10000);

	wf_runq_move(&queue, &places[i], level, worth, left);
	if (level > model[i].level || worth > model[i].worth)
		model_enter(i, level > model[i].level ? level : model[i].level,
			    worth > model[i].worth ? worth : model[i].worth, left);
}

static void check_taken(struct wf_place *place, int expected)
{
	CHECK_EQ(place != NULL ? place - places : -1, expected);
	if (expected >= 0)
		model[expected].in = false;
}

TEST(the_queue_does_what_a_naive_one_does)
{
	uint64_t seed = TEST_SEED;

	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	for (now = 1; now < TEST_SIZE(300000); now++) {
		int i = (int)random_below(&seed, PLACES);

		switch (random_below(&seed, 8)) {
		case 0:
		case 1: {
			enum wf_order order = (enum wf_order)random_below(&seed, 3);

			check_taken(wf_runq_pop(&queue, order), expect_pop(order));
			break;
		}
		case 2: {
			unsigned least = (unsigned)random_below(&seed, WF_WORTHS);

			check_taken(wf_runq_steal(&queue, wf_loot_lanes(least)),
				    expect_steal(least));
			break;
		}
		default:
			if (model[i].in)
				move(i, &seed);
			else
				push(i, &seed);
		}
		check_sums();
	}
	while (queue.colors != 0)
		check_taken(wf_runq_pop(&queue, WF_CPU_FIRST), expect_pop(WF_CPU_FIRST));
	check_sums();
	wf_lock_give(&queue.lock);
}

TEST(an_empty_queue_gives_nothing)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	CHECK(wf_runq_pop(&queue, WF_CPU_FIRST) == NULL);
	CHECK(wf_runq_steal(&queue, wf_loot_lanes(0)) == NULL);
	wf_lock_give(&queue.lock);
}

TEST(a_pinned_color_is_found_by_its_worker_and_by_no_thief)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	wf_runq_push(&queue, &places[0], 3, WF_WORTH_PINNED, 1000000);
	CHECK(wf_runq_steal(&queue, wf_loot_lanes(0)) == NULL);
	CHECK_EQ(queue.steal_time, 0);
	CHECK(wf_runq_pop(&queue, WF_CPU_FIRST) == &places[0]);
	wf_lock_give(&queue.lock);
}

TEST(who_was_queued_first_runs_first_also_when_numbers_wrap)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	queue.number = UINT32_MAX - 2;
	for (int i = 0; i < 6; i++)
		wf_runq_push(&queue, &places[i], 3, i % 2 ? 2 : 0, 1000);
	for (int i = 0; i < 6; i++)
		CHECK(wf_runq_pop(&queue, WF_CPU_FIRST) == &places[i]);
	wf_lock_give(&queue.lock);
}

TEST(a_color_that_gets_worth_stealing_does_not_lose_its_turn)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	for (int i = 0; i < 6; i++)
		wf_runq_push(&queue, &places[i], 3, i % 2 ? 2 : 0, 1000);
	wf_runq_move(&queue, &places[0], 3, 2, 2000);
	CHECK(wf_runq_pop(&queue, WF_CPU_FIRST) == &places[0]);
	CHECK(wf_runq_pop(&queue, WF_CPU_FIRST) == &places[1]);
	wf_lock_give(&queue.lock);
}

TEST(stand_ins_run_what_the_kernel_brings_before_what_handlers_post)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	wf_runq_push(&queue, &places[0], wf_policy_level(WEFT_PRIORITY_NORMAL, WF_FROM_CPU), 2, 1);
	wf_runq_push(&queue, &places[1], wf_policy_level(WEFT_PRIORITY_NORMAL, WF_FROM_IO), 0, 1);
	CHECK(wf_runq_pop(&queue, WF_IO_FIRST) == &places[1]);
	CHECK(wf_runq_pop(&queue, WF_IO_FIRST) == &places[0]);
	wf_lock_give(&queue.lock);
}

TEST(a_reserve_runs_the_newest_first_and_the_oldest_now_and_then)
{
	int before_the_oldest = 0;

	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	wf_runq_push(&queue, &places[0], 0, 2, 1);
	for (;;) {
		struct wf_place *place;

		wf_runq_push(&queue, &places[1], 0, 0, 1);
		place = wf_runq_pop(&queue, WF_IO_NEWEST);
		if (place == &places[0])
			break;
		CHECK(place == &places[1]);
		before_the_oldest++;
	}
	CHECK_EQ(before_the_oldest, WF_SKIPS - 1);
	wf_lock_give(&queue.lock);
}

TEST_MAIN
