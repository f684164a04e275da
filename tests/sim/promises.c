/* promises.c - S1, S2, S3, S5, S6 and C1, each by itself on virtual cores. */
#include "base/capacity.h"
#include "harness/test.h"
#include "scheduler/table.h"
#include "sim.h"

TEST(a_seed_repeats_its_schedule)
{
	struct sim_stats stats[3];

	for (int i = 0; i < 3; i++) {
		struct sim *sim = sim_start(.workers = 4, .seed = i == 2 ? 6 : 5, .jitter = 50);

		for (weft_color color = 0; color < 20; color++)
			sim_post(sim, .color = color, .count = 10);
		sim_run_until_idle(sim);
		sim_stats(sim, &stats[i]);
		sim_stop(sim);
	}
	CHECK_EQ(stats[0].time, stats[1].time);
	CHECK_EQ(stats[0].steps, stats[1].steps);
	CHECK(stats[0].time != stats[2].time);
}

/* S1 */

struct crowd {
	struct sim *sim;
	bool shared;
};

static void post_to_seven(void *arg)
{
	const struct crowd *crowd = arg;

	for (int i = 0; i < 20; i++)
		sim_post(crowd->sim, .color = 7, .ticks = 500, .shared = crowd->shared);
}

/* On every core a handler posts to color 7. */
static struct sim *crowd_run(bool shared)
{
	static struct crowd crowd;

	crowd = (struct crowd){ sim_start(.workers = 8, .seed = TEST_SEED, .jitter = 20), shared };
	for (int i = 0; i < 8; i++)
		sim_post(crowd.sim, .worker = i, .color = 100 + (weft_color)i, .run = post_to_seven,
			 .arg = &crowd);
	sim_run_until_idle(crowd.sim);
	CHECK_EQ(sim_events_run(crowd.sim), 8 + 8 * 20);
	return crowd.sim;
}

TEST(S1_events_of_one_color_never_run_at_the_same_time)
{
	struct sim *sim = crowd_run(false);

	CHECK_EQ(sim_most_at_once(sim, 7), 1);
	CHECK(sim_most_running(sim) > 1);
	sim_stop(sim);
}

TEST(S1_shared_events_run_beside_each_other)
{
	struct sim *sim = crowd_run(true);

	CHECK(sim_most_at_once(sim, 7) > 1);
	sim_stop(sim);
}

TEST(S1_shared_events_never_run_beside_an_exclusive_one)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED, .jitter = 100);

	for (int i = 0; i < 200; i++)
		sim_post(sim, .color = 7, .shared = i % 5 != 0, .worker = i % 4, .at = 1 + 300 * i);
	sim_run_until_idle(sim); /* which ends the test at the first breach */
	CHECK_EQ(sim_events_run(sim), 200);
	CHECK(sim_most_at_once(sim, 7) > 1);
	sim_stop(sim);
}

/* S2 */

TEST(S2_events_run_in_the_order_posted_from_whatever_core)
{
	struct sim *sim = crowd_run(false);

	CHECK(sim_ran_in_post_order(sim, 7));
	sim_stop(sim);
}

static void post_behind_others(void *arg)
{
	sim_spend(arg, 5000); /* while the outside posts */
	sim_post(arg, .color = 7);
}

TEST(S2_an_owner_does_not_overtake_those_who_posted_before)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED);

	sim_post(sim, .color = 7, .run = post_behind_others, .arg = sim);
	sim_post(sim, .color = 7, .count = 5, .at = 2000, .worker = 1);
	sim_run_until_idle(sim);
	CHECK(sim_ran_in_post_order(sim, 7));
	CHECK_EQ(sim_events_run(sim), 7);
	sim_stop(sim);
}

TEST(S2_and_S5_a_stolen_color_stays_whole_and_in_order)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED);

	sim_post(sim, .worker = 0, .color = 7, .count = 100);
	sim_post(sim, .worker = 0, .color = 8, .count = 100);
	sim_run_until_idle(sim);

	CHECK(sim_steals(sim) > 0);
	CHECK_EQ(sim_most_at_once(sim, 7), 1);
	CHECK(sim_ran_in_post_order(sim, 7));
	CHECK_EQ(sim_events_run(sim), 200);
	sim_stop(sim);
}

/* S3 */

struct chain {
	struct sim *sim;
	weft_color color;
	unsigned priority;
	unsigned left;
};

static void chain_step(void *arg)
{
	struct chain *chain = arg;

	if (chain->left > 0 && --chain->left > 0)
		sim_post(chain->sim, .color = chain->color, .ticks = 50, .run = chain_step,
			 .arg = chain, .priority = chain->priority);
}

static void start_chains(void *arg)
{
	struct chain *chains = arg;

	for (int i = 0; i < 2; i++)
		sim_post(chains[i].sim, .color = chains[i].color, .run = chain_step,
			 .arg = &chains[i]);
}

TEST(S3_a_busy_color_yields_to_the_next_after_a_batch)
{
	struct sim *sim = sim_start(.workers = 1, .seed = TEST_SEED, .batch = 5);
	struct chain chains[2] = { { sim, 1, 0, 500 }, { sim, 2, 0, 500 } };

	sim_post(sim, .color = 3, .run = start_chains, .arg = chains);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_events_run(sim), 1001);
	CHECK_EQ(sim_longest_row(sim), 5);
	sim_stop(sim);
}

static void note_left(void *arg)
{
	struct chain *chain = arg;

	chain->sim = NULL;
	chain->color = chain->left;
	chain->left = 0; /* ends it */
}

TEST(S3_an_urgent_color_does_not_starve_a_low_one)
{
	struct sim *sim = sim_start(.workers = 1, .seed = TEST_SEED);
	struct chain urgent = { sim, 1, WEFT_PRIORITY_URGENT, 100000 };

	sim_post(sim, .color = 1, .run = chain_step, .arg = &urgent,
		 .priority = WEFT_PRIORITY_URGENT);
	sim_post(sim, .color = 2, .run = note_left, .arg = &urgent, .priority = WEFT_PRIORITY_LOW);
	sim_run_until_idle(sim);
	CHECK(urgent.color > 100000 - 10 * WF_SKIPS * 3);
	sim_stop(sim);
}

static struct sim *machine;

static void note_time(void *ran_at)
{
	*(uint64_t *)ran_at = sim_time(machine);
}

/* Whenever a thief comes an urgent color has just been queued ahead of the low one, and each
 * worker is kept busy until the other has come. */
TEST(S3_a_low_color_is_not_stolen_to_and_fro_behind_urgent_ones)
{
	enum { ROUNDS = 40, STEP = 600000 };
	uint64_t ran_at = 0, begin;

	machine = sim_start(.workers = 2, .seed = TEST_SEED, .steal_cost = 100);
	/* How long they take. */
	sim_post(machine, .color = 1, .ticks = STEP);
	sim_post(machine, .color = 1, .ticks = 3 * STEP, .run = note_time, .arg = &ran_at);
	sim_run_until_idle(machine);
	begin = sim_time(machine);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(sim_pin(machine, (weft_color)(1 + i), i), 0);
		sim_post(machine, .worker = i, .color = (weft_color)(1 + i),
			 .ticks = (uint64_t)(2 + i) * STEP);
	}
	sim_post(machine, .at = begin + STEP, .worker = 1, .color = 3, .ticks = 1000,
		 .priority = WEFT_PRIORITY_LOW, .run = note_time, .arg = &ran_at);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t at = begin + (uint64_t)(2 + i) * STEP;
		int thief = i % 2;

		sim_post(machine, .at = at - STEP / 6, .worker = 1 - thief,
			 .color = (weft_color)(10 + i), .ticks = STEP / 3 * 5,
			 .priority = WEFT_PRIORITY_URGENT);
		sim_post(machine, .at = at + STEP / 3 * 4, .worker = thief,
			 .color = (weft_color)(1 + thief), .ticks = STEP / 3,
			 .priority = WEFT_PRIORITY_URGENT);
	}
	sim_run_until_idle(machine);
	CHECK(ran_at - begin < (uint64_t)ROUNDS / 2 * STEP);
	sim_stop(machine);
}

static unsigned phase;

/* Urgent, but low whenever the lower levels have their turn. */
static void chain_dodge(void *arg)
{
	struct chain *chain = arg;

	if (chain->left > 0 && --chain->left > 0)
		sim_post(chain->sim, .color = chain->color, .ticks = 50, .run = chain_dodge,
			 .arg = chain,
			 .priority = (chain->left + phase) % WF_SKIPS ? WEFT_PRIORITY_URGENT
								      : WEFT_PRIORITY_LOW);
}

TEST(S3_a_color_that_changes_its_priority_does_not_starve_another)
{
	for (phase = 0; phase < WF_SKIPS; phase++) {
		struct sim *sim = sim_start(.workers = 1, .seed = TEST_SEED, .batch = 1);
		struct chain dodger = { sim, 1, 0, 10000 };

		sim_post(sim, .color = 1, .run = chain_dodge, .arg = &dodger,
			 .priority = WEFT_PRIORITY_URGENT);
		sim_post(sim, .color = 2, .run = note_left, .arg = &dodger);
		sim_run_until_idle(sim);
		CHECK(dodger.color > 10000 - WF_SKIPS * 10);
		sim_stop(sim);
	}
}

TEST(S3_work_posted_to_a_sleeping_machine_wakes_it)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED);

	for (int i = 0; i < 50; i++) {
		sim_run_until_idle(sim);
		sim_post(sim, .worker = i % 4, .color = 3);
	}
	sim_run_until_idle(sim);
	CHECK_EQ(sim_events_run(sim), 50);
	sim_stop(sim);
}

TEST(S3_an_event_that_is_refused_does_not_run_and_others_do)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED, .max_colors = 1);

	CHECK(sim_post(sim, .color = 1) != NULL);
	CHECK(sim_post(sim, .color = 2) == NULL);
	CHECK(sim_post(sim, .color = 1) != NULL);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_events_run(sim), 2);
	CHECK(sim_post(sim, .color = 2) != NULL);
	sim_run_until_idle(sim);
	sim_stop(sim);
}

/* S5 */

static void short_work(void *arg)
{
	sim_spend(arg, 100);
}

static void long_work(void *arg)
{
	sim_spend(arg, 50000);
}

TEST(S5_colors_that_are_not_worth_the_trip_are_not_stolen)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED, .steal_cost = 1000);

	CHECK_EQ(weft_handler_time(short_work, 43), 0);
	for (weft_color color = 1; color <= 200; color++)
		sim_post(sim, .color = color, .run = short_work, .arg = sim);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_steals(sim), 0);
	CHECK_EQ(sim_ran_on(sim, 0), 200);
	sim_stop(sim);
}

TEST(S5_among_short_colors_the_long_ones_are_stolen)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED, .steal_cost = 1000);

	CHECK_EQ(weft_handler_time(short_work, 43), 0);
	CHECK_EQ(weft_handler_time(long_work, 21500), 0);
	for (weft_color color = 1; color <= 200; color++)
		sim_post(sim, .color = color, .run = color % 50 ? short_work : long_work,
			 .arg = sim);
	sim_run_until_idle(sim);
	/* They are the only ones, and the owner runs one at most. */
	CHECK(sim_steals(sim) >= 3);
	CHECK(sim_steals(sim) <= 4);
	sim_stop(sim);
}

TEST(S5_with_stealing_off_nothing_is_stolen)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED, .steal = "off");

	for (weft_color color = 1; color <= 50; color++)
		sim_post(sim, .color = color, .ticks = 100000);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_ran_on(sim, 0), 50);
	sim_stop(sim);
}

TEST(a_thief_robs_its_nearest_neighbour_first)
{
	struct sim *sim = sim_start(.workers = 8, .seed = TEST_SEED, .steal = "locality");

	/* Cores 2 and 6 have work for two; cores 3 and 7 share their caches. All
	 * others are kept busy. */
	for (int i = 0; i < 8; i++) {
		weft_color color = 100 + (weft_color)i;

		if (i % 4 == 3)
			continue;
		sim_pin(sim, color, i);
		sim_post(sim, .worker = i, .color = color, .ticks = 1000000);
	}
	sim_post(sim, .worker = 2, .color = 1);
	sim_post(sim, .worker = 6, .color = 2);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_ran_on(sim, 3), 1);
	CHECK_EQ(sim_ran_on(sim, 7), 1);
	sim_stop(sim);
}

/* What the kernel brings, in colors of its own, is no thief's business as long as it is short
 * and its worker has time now and then. */
static void come_at_once(struct sim *sim, int count)
{
	for (int i = 0; i < count; i++)
		sim_post(sim, .color = (weft_color)(i + 1), .ticks = 20000);
	sim_run_until_idle(sim);
}

TEST(S5_short_work_of_the_kernel_stays_until_its_worker_is_swamped)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED);
	uint64_t steals;

	come_at_once(sim, 1); /* now it is known how long they take */
	steals = sim_steals(sim);
	come_at_once(sim, 100);
	CHECK_EQ(sim_steals(sim), steals);
	CHECK_EQ(sim_most_running(sim), 1);
	come_at_once(sim, 20000);
	CHECK(sim_steals(sim) > steals);
	CHECK_EQ(sim_most_running(sim), 2);
	sim_stop(sim);
}

/* C1, pins, priorities, sleep */

TEST(C1_colors_of_one_shard_do_not_share_a_queue)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED);
	weft_color other = 8;

	while ((wf_color_hash(other) ^ wf_color_hash(7)) % (WF_COLOR_SHARDS * 16))
		other++;
	sim_post(sim, .color = 7, .ticks = 100000);
	sim_post(sim, .color = other, .ticks = 100000);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_most_running(sim), 2);
	sim_stop(sim);
}

TEST(a_color_costs_nothing_when_it_is_not_used)
{
	struct sim *sim = sim_start(.workers = 2, .seed = TEST_SEED);

	for (weft_color color = 1; color <= 10000; color++)
		sim_post(sim, .color = color << 20);
	CHECK_EQ(sim_colors_known(sim), 10000);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_colors_known(sim), 0);
	sim_stop(sim);
}

TEST(a_pinned_color_never_leaves_its_worker)
{
	struct sim *sim = sim_start(.workers = 4, .seed = TEST_SEED, .steal = "base");

	CHECK_EQ(sim_pin(sim, 5, 1), 0);
	sim_post(sim, .worker = 0, .color = 5, .count = 100);
	sim_run_until_idle(sim);
	CHECK_EQ(sim_ran_on(sim, 1), 100);
	CHECK_EQ(sim_steals(sim), 0);
	sim_stop(sim);
}

static weft_color ran_first;

static void note_first(void *arg)
{
	if (ran_first == 0)
		ran_first = (weft_color)(uintptr_t)arg;
}

TEST(of_two_colors_the_more_urgent_runs_first)
{
	struct sim *sim = sim_start(.workers = 1, .seed = TEST_SEED);

	sim_post(sim, .color = 1, .run = note_first, .arg = (void *)1);
	sim_post(sim, .color = 2, .run = note_first, .arg = (void *)2,
		 .priority = WEFT_PRIORITY_HIGH);
	sim_run_until_idle(sim);
	CHECK_EQ(ran_first, 2);
	sim_stop(sim);
}

TEST(S6_a_machine_with_nothing_to_do_stands_still)
{
	struct sim *sim = sim_start(.workers = 64, .seed = TEST_SEED);
	struct sim_stats before, after;

	sim_run_until_idle(sim);
	sim_stats(sim, &before);
	sim_post(sim, .color = 1, .ticks = 1000000, .worker = 5);
	sim_run_until_idle(sim);
	sim_stats(sim, &after);
	CHECK_EQ(after.parks - before.parks, 1);
	CHECK(after.steps - before.steps < 50);
	sim_stop(sim);
}

TEST_MAIN
