/* A worker's queue of colors, against a naive one. */
#include "scheduler/runq.h"

#include "common.h"

enum { PLACES = 40 };

static struct wf_runq queue;
static struct wf_place places[PLACES];

/* What is known of each place without the queue's help. */
static struct {
	bool in, pinned;
	unsigned level, worth;
	uint64_t left;
	uint64_t level_since, worth_since; /* when it went to the end of its lists */
} model[PLACES];
static uint64_t now;
static struct wf_rotation model_rotation;

static unsigned occupied(void)
{
	unsigned mask = 0;

	for (int i = 0; i < PLACES; i++)
		mask |= model[i].in ? 1u << model[i].level : 0;
	return mask;
}

/* Who has been longest in the level that comes next. */
static int expect_pop(void)
{
	unsigned mask = occupied(), level;
	int best = -1;

	if (mask == 0)
		return -1;
	level = wf_policy_pick(&model_rotation, mask);
	for (int i = 0; i < PLACES; i++) {
		if (model[i].in && model[i].level == level &&
		    (best < 0 || model[i].level_since < model[best].level_since))
			best = i;
	}
	return best;
}

/* Who has been longest in the worthiest list, pinned ones left out. */
static int expect_steal(unsigned least)
{
	int best = -1;

	for (int i = 0; i < PLACES; i++) {
		if (!model[i].in || model[i].pinned || model[i].worth < least)
			continue;
		if (best < 0 || model[i].worth > model[best].worth ||
		    (model[i].worth == model[best].worth &&
		     model[i].worth_since < model[best].worth_since))
			best = i;
	}
	return best;
}

static void check_sums(void)
{
	uint64_t time = 0;
	unsigned worths = 0, colors = 0;

	for (int i = 0; i < PLACES; i++) {
		CHECK_EQ(places[i].at == &queue, model[i].in);
		if (!model[i].in)
			continue;
		colors++;
		CHECK_EQ(places[i].level_at, model[i].level);
		CHECK_EQ(places[i].worth, model[i].pinned ? WF_WORTH_PINNED : model[i].worth);
		if (model[i].pinned)
			continue;
		worths |= 1u << model[i].worth;
		time += model[i].worth > 0 ? model[i].left : 0;
	}
	CHECK_EQ(queue.colors, colors);
	CHECK_EQ(queue.worths, worths);
	CHECK_EQ(queue.steal_time, time);
	CHECK_EQ(queue.occupied, occupied());
}

static void push(int i, uint64_t *seed) WF_REQUIRES(queue.lock)
{
	model[i].in = true;
	model[i].pinned = random_below(seed, 5) == 0;
	model[i].level = (unsigned)random_below(seed, WF_LEVELS);
	model[i].worth = (unsigned)random_below(seed, WF_WORTHS);
	model[i].left = random_below(seed, 10000);
	model[i].level_since = model[i].worth_since = now;
	wf_runq_push(&queue, &places[i], model[i].level,
		     model[i].pinned ? WF_WORTH_PINNED : model[i].worth, model[i].left);
}

static void move(int i, uint64_t *seed) WF_REQUIRES(queue.lock)
{
	unsigned level = (unsigned)random_below(seed, WF_LEVELS);
	unsigned worth = (unsigned)random_below(seed, WF_WORTHS);
	uint64_t left = random_below(seed, 10000);

	wf_runq_move(&queue, &places[i], level, worth, left);
	if (level > model[i].level) {
		model[i].level = level;
		model[i].level_since = now;
	}
	if (worth != model[i].worth) {
		model[i].worth = worth;
		model[i].left = left;
		model[i].worth_since = now;
	}
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
	for (now = 1; now < (uint64_t)TEST_SIZE(300000); now++) {
		int i = (int)random_below(&seed, PLACES);

		switch (random_below(&seed, 8)) {
		case 0:
		case 1:
			check_taken(wf_runq_pop(&queue), expect_pop());
			break;
		case 2: {
			unsigned least = (unsigned)random_below(&seed, WF_WORTHS);

			check_taken(wf_runq_steal(&queue, least), expect_steal(least));
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
		check_taken(wf_runq_pop(&queue), expect_pop());
	check_sums();
	wf_lock_give(&queue.lock);
}

TEST(an_empty_queue_gives_nothing)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	CHECK(wf_runq_pop(&queue) == NULL);
	CHECK(wf_runq_steal(&queue, 0) == NULL);
	wf_lock_give(&queue.lock);
}

TEST(a_pinned_color_is_found_by_its_worker_and_by_no_thief)
{
	wf_runq_init(&queue);
	wf_lock_take(&queue.lock);
	wf_runq_push(&queue, &places[0], 3, WF_WORTH_PINNED, 1000000);
	CHECK(wf_runq_steal(&queue, 0) == NULL);
	CHECK_EQ(queue.steal_time, 0);
	CHECK(wf_runq_pop(&queue) == &places[0]);
	wf_lock_give(&queue.lock);
}

TEST_MAIN
