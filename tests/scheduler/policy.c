/* The scheduler's decisions, one by one. */
#include "scheduler/policy.h"

#include "base/capacity.h"
#include "common.h"

TEST(levels_put_priority_first_and_cpu_events_ahead_of_io)
{
	static const unsigned rising[] = { WEFT_PRIORITY_LOW, WEFT_PRIORITY_NORMAL,
					   WEFT_PRIORITY_HIGH, WEFT_PRIORITY_URGENT };

	for (unsigned i = 0; i < 4; i++) {
		unsigned io = wf_policy_level(rising[i], WF_FROM_IO);
		unsigned cpu = wf_policy_level(rising[i], WF_FROM_CPU);

		CHECK(io < cpu && cpu < WF_LEVELS);
		if (i > 0)
			CHECK(io > wf_policy_level(rising[i - 1], WF_FROM_CPU));
	}
}

TEST(the_highest_level_is_picked_and_an_only_one_always)
{
	struct wf_rotation r = { 0 };

	for (unsigned level = 0; level < WF_LEVELS; level++) {
		for (int i = 0; i < 100; i++)
			CHECK_EQ(wf_policy_pick(&r, 1u << level), level);
	}
	r = (struct wf_rotation){ 0 };
	for (int i = 1; i < WF_SKIPS; i++)
		CHECK_EQ(wf_policy_pick(&r, 0x83), 7);
}

/* With the same levels occupied all the time: the highest gets most turns, and
 * everyone below gets one in a known number of turns (S3). */
TEST(no_occupied_level_waits_for_ever)
{
	for (unsigned mask = 1; mask < 1u << WF_LEVELS; mask++) {
		struct wf_rotation r = { .skipped = (uint8_t)(mask % WF_SKIPS),
					 .cursor = (uint8_t)(mask % WF_LEVELS) };
		unsigned picks[WF_LEVELS] = { 0 };
		unsigned levels = (unsigned)__builtin_popcount(mask);
		unsigned top = 31u - (unsigned)__builtin_clz(mask);
		unsigned turns = WF_SKIPS * levels;

		for (unsigned i = 0; i < turns; i++) {
			unsigned level = wf_policy_pick(&r, mask);

			CHECK(mask >> level & 1);
			picks[level]++;
		}
		for (unsigned level = 0; level < WF_LEVELS; level++)
			CHECK_EQ(picks[level] > 0, mask >> level & 1);
		CHECK(picks[top] >= turns - levels);
	}
}

TEST(a_lower_level_gets_its_turn_though_the_occupied_ones_change)
{
	uint64_t seed = TEST_SEED;
	struct wf_rotation r = { 0 };
	unsigned waited = 0;

	for (int i = 0; i < 100000; i++) {
		unsigned mask = 1u | (unsigned)random_below(&seed, 256) | 0x80;

		waited = wf_policy_pick(&r, mask) == 0 ? 0 : waited + 1;
		CHECK(waited <= WF_SKIPS * 2 * WF_LEVELS);
	}
}

static unsigned parsed(const char *text)
{
	unsigned flags = 0xdead;

	CHECK_EQ(wf_policy_parse_steal(text, &flags), 0);
	return flags;
}

TEST(stealing_is_chosen_by_name)
{
	CHECK_EQ(parsed("off"), 0);
	CHECK_EQ(parsed("base"), WF_STEAL_ON);
	CHECK_EQ(parsed("all"), WF_STEAL_ALL);
	CHECK_EQ(parsed("locality"), WF_STEAL_ON | WF_STEAL_LOCALITY);
	CHECK_EQ(parsed("time"), WF_STEAL_ON | WF_STEAL_TIME);
	CHECK_EQ(parsed("time+locality"), WF_STEAL_ON | WF_STEAL_TIME | WF_STEAL_LOCALITY);
	CHECK_EQ(parsed("locality+time+penalty"), WF_STEAL_ALL);
	/* A penalty lessens a time: it means nothing without. */
	CHECK(parsed("penalty") & WF_STEAL_TIME);
}

TEST(wrong_names_of_heuristics_are_refused)
{
	static const char *const wrong[] = { "",         "of",      "offf",
					     "OFF",      "all ",    "+",
					     "time+",    "+time",   "time++penalty",
					     "none",     "on",      "time,penalty",
					     "off+time", "all+off", "base+time" };
	unsigned flags = 0xdead;

	for (size_t i = 0; i < WF_COUNT(wrong); i++) {
		CHECK_EQ(wf_policy_parse_steal(wrong[i], &flags), -EINVAL);
		CHECK_EQ(flags, 0xdead);
	}
}

TEST(a_color_is_worth_stealing_when_its_work_exceeds_the_trip)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL, .fixed_steal_cost = 1000 };

	CHECK_EQ(wf_policy_worth(&p, 0, WF_FROM_CPU), 0);
	CHECK_EQ(wf_policy_worth(&p, 1000, WF_FROM_CPU), 0);
	CHECK_EQ(wf_policy_worth(&p, 1001, WF_FROM_CPU), WF_WORTH_KEPT + 1);
	CHECK_EQ(wf_policy_worth(&p, 4000, WF_FROM_CPU), WF_WORTH_KEPT + 1);
	CHECK_EQ(wf_policy_worth(&p, 4001, WF_FROM_CPU), WF_WORTH_KEPT + 2);
	CHECK_EQ(wf_policy_worth(&p, 16000, WF_FROM_CPU), WF_WORTH_KEPT + 2);
	CHECK_EQ(wf_policy_worth(&p, 16001, WF_FROM_CPU), WF_WORTHS - 1);
	CHECK_EQ(wf_policy_worth(&p, UINT64_MAX, WF_FROM_CPU), WF_WORTHS - 1);
	CHECK_EQ(wf_policy_least_worth(&p, false, false), WF_WORTH_KEPT + 1);
	CHECK_EQ(wf_policy_least_worth(&p, true, false), 0); /* a stuck worker is emptied */
	p.steal = WF_STEAL_ON | WF_STEAL_LOCALITY;
	CHECK_EQ(wf_policy_worth(&p, UINT64_MAX, WF_FROM_CPU), 0);
	CHECK_EQ(wf_policy_least_worth(&p, false, false), 0);
}

TEST(what_the_kernel_brings_and_is_short_is_kept_by_a_worker_that_copes)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL, .steal_cost = 250, .kept = 8000 };

	CHECK_EQ(wf_policy_worth(&p, 1000, WF_FROM_IO), 0);
	CHECK_EQ(wf_policy_worth(&p, 1001, WF_FROM_IO), WF_WORTH_KEPT);
	CHECK_EQ(wf_policy_worth(&p, 8000, WF_FROM_IO), WF_WORTH_KEPT);
	CHECK_EQ(wf_policy_worth(&p, 8001, WF_FROM_IO), WF_WORTH_KEPT + 2);
	CHECK(wf_policy_least_worth(&p, false, false) > WF_WORTH_KEPT);
	CHECK_EQ(wf_policy_least_worth(&p, false, true), WF_WORTH_KEPT);
	CHECK_EQ(wf_policy_least_worth(&p, true, false), 0);
}

TEST(nothing_is_kept_where_the_user_says_what_a_trip_costs)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL };

	wf_policy_init(&p, 1000, 1000);
	CHECK(wf_policy_worth(&p, 1001, WF_FROM_IO) > WF_WORTH_KEPT);
	wf_policy_init(&p, 1000, 0);
	CHECK_EQ(wf_policy_worth(&p, p.kept, WF_FROM_IO), WF_WORTH_KEPT);
}

TEST(a_measured_trip_counts_for_the_victim_too)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL, .steal_cost = 1000 };

	CHECK_EQ(wf_policy_worth(&p, 1000 * WF_STEAL_BOTH_PAY, WF_FROM_CPU), 0);
	CHECK_EQ(wf_policy_worth(&p, 1000 * WF_STEAL_BOTH_PAY + 1, WF_FROM_CPU), WF_WORTH_KEPT + 1);
}

TEST(a_sleeper_is_woken_for_more_than_its_waking_costs)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL, .fixed_steal_cost = 1000, .wake_cost = 5000 };

	CHECK(!wf_policy_worth_waking(&p, 6000));
	CHECK(wf_policy_worth_waking(&p, 6001));
	p.steal = WF_STEAL_ON;
	CHECK(wf_policy_worth_waking(&p, 0));
	p.steal = 0;
	CHECK(!wf_policy_worth_waking(&p, UINT64_MAX));
}

TEST(a_penalty_divides_the_reckoned_time_if_it_is_switched_on)
{
	struct wf_policy p = { .steal = WF_STEAL_ALL };

	CHECK_EQ(wf_policy_event_cost(&p, 1000, 0), 1000);
	CHECK_EQ(wf_policy_event_cost(&p, 1000, 1), 1000);
	CHECK_EQ(wf_policy_event_cost(&p, 1000, 10), 100);
	CHECK_EQ(wf_policy_event_cost(&p, UINT64_MAX, 1), UINT32_MAX);
	p.steal = WF_STEAL_ON | WF_STEAL_TIME;
	CHECK_EQ(wf_policy_event_cost(&p, 1000, 10), 1000);
}

TEST(the_measured_cost_of_a_steal_follows_slowly_and_within_bounds)
{
	struct wf_policy p = { 0 };
	uint64_t first;

	wf_policy_init(&p, 2500, 0);
	first = p.steal_cost;
	CHECK_EQ(first, 1000);
	wf_policy_steal_took(&p, 5000);
	CHECK(p.steal_cost > first && p.steal_cost < 2 * first);
	for (int i = 0; i < 200; i++)
		wf_policy_steal_took(&p, UINT64_MAX);
	CHECK(p.steal_cost > p.most_cost / 2 && p.steal_cost <= p.most_cost);
	for (int i = 0; i < 200; i++)
		wf_policy_steal_took(&p, 0);
	CHECK(p.steal_cost > 0 && p.steal_cost <= 2 * p.least_cost);
	wf_policy_init(&p, 2500, 777);
	wf_policy_steal_took(&p, 5000);
	CHECK_EQ(p.steal_cost, 777);
}

TEST(a_slow_counter_gives_costs_that_can_still_be_corrected)
{
	struct wf_policy p = { 0 };

	wf_policy_init(&p, 1, 0);
	CHECK(p.steal_cost >= 8);
	CHECK(p.least_cost >= 8);
}

TEST(limits_count_what_is_queued_ahead_and_zero_means_none)
{
	struct wf_policy none = { 0 },
			 p = { .color_depth = 3, .queue_depth = 10, .queue_delay = 100 };

	CHECK(!wf_policy_too_deep(&none, UINT64_MAX, UINT64_MAX));
	CHECK(!wf_policy_too_late(&none, UINT64_MAX / 2));
	CHECK(!wf_policy_too_deep(&p, 2, 9));
	CHECK(wf_policy_too_deep(&p, 3, 0));
	CHECK(wf_policy_too_deep(&p, 0, 10));
	CHECK(!wf_policy_too_late(&p, 100));
	CHECK(wf_policy_too_late(&p, 101));
	/* Counters of two CPUs may differ a little: before posting is not late. */
	CHECK(!wf_policy_too_late(&p, (uint64_t)-5));
}

TEST_MAIN
