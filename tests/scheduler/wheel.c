/* The timing wheel against a model that looks at every timer. */
#include "scheduler/wheel.h"

#include <stdlib.h>

#include "harness/test.h"

#define GRAIN ((uint64_t)1 << WF_WHEEL_GRAIN)
#define NO_LIMIT UINT32_MAX

static struct wf_wheel wheel;

/* When a timer must have fired at the latest: at the next full tick. */
static uint64_t due(uint64_t when)
{
	return (when + GRAIN - 1) / GRAIN * GRAIN;
}

static void add(weft_timer *t, uint64_t when)
{
	t->when = when;
	wf_wheel_add(&wheel, t);
}

static unsigned count(const weft_timer *list)
{
	unsigned n = 0;

	for (; list != NULL; list = list->next_)
		n++;
	return n;
}

TEST(an_empty_wheel_never_asks_to_be_looked_at)
{
	wf_wheel_init(&wheel, 123456789);
	CHECK(wf_wheel_next(&wheel) == UINT64_MAX);
	CHECK(wf_wheel_expire(&wheel, UINT64_MAX, NO_LIMIT) == NULL);
	CHECK(wf_wheel_next(&wheel) == UINT64_MAX);
}

TEST(a_lone_timer_at_any_distance_asks_for_one_look)
{
	for (int bit = 0; bit < 63; bit++) {
		uint64_t now = 1000003, when = now + ((uint64_t)1 << bit);
		weft_timer t = { 0 };

		wf_wheel_init(&wheel, now);
		add(&t, when);
		CHECK(wf_wheel_next(&wheel) == due(when));
		CHECK(wf_wheel_expire(&wheel, when - 1, NO_LIMIT) == NULL);
		CHECK(wf_wheel_next(&wheel) == due(when));
		CHECK(wf_wheel_expire(&wheel, due(when), NO_LIMIT) == &t);
		CHECK(t.next_ == NULL);
		CHECK(wf_wheel_next(&wheel) == UINT64_MAX);
	}
}

TEST(a_timer_of_100_us_fires_within_the_grain)
{
	weft_timer t = { 0 };

	wf_wheel_init(&wheel, 777);
	add(&t, 777 + 100 * WEFT_US);
	CHECK(wf_wheel_expire(&wheel, 777 + 100 * WEFT_US - 1, NO_LIMIT) == NULL);
	CHECK(wf_wheel_next(&wheel) < 777 + 120 * WEFT_US);
	CHECK(wf_wheel_expire(&wheel, wf_wheel_next(&wheel), NO_LIMIT) == &t);
}

TEST(a_timer_in_the_past_is_due_at_once)
{
	weft_timer a = { 0 }, b = { 0 };

	wf_wheel_init(&wheel, 100 * GRAIN);
	add(&a, 0);
	add(&b, 100 * GRAIN);
	CHECK(wf_wheel_next(&wheel) <= 100 * GRAIN);
	CHECK(wf_wheel_expire(&wheel, 100 * GRAIN, NO_LIMIT) == &a);
	CHECK(a.next_ == &b && b.next_ == NULL);
	add(&a, 3);
	CHECK(wf_wheel_expire(&wheel, 100 * GRAIN, NO_LIMIT) == &a);
}

TEST(the_end_of_time_is_a_valid_time)
{
	weft_timer t = { 0 };

	wf_wheel_init(&wheel, 5);
	add(&t, UINT64_MAX);
	CHECK(wf_wheel_next(&wheel) > UINT64_MAX / 2);
	CHECK(wf_wheel_expire(&wheel, UINT64_MAX / 2, NO_LIMIT) == NULL);
	CHECK(wf_wheel_expire(&wheel, UINT64_MAX, NO_LIMIT) == &t);
}

TEST(timers_of_one_instant_fire_in_the_order_added)
{
	enum { TIMERS = 100 };
	static weft_timer t[TIMERS];
	uint64_t when = 50 * WEFT_SEC;
	weft_timer *list;

	wf_wheel_init(&wheel, 0);
	for (int i = 0; i < TIMERS; i++) {
		/* Early ones sit in high levels, late ones in low ones. */
		wf_wheel_expire(&wheel, when / TIMERS * (uint64_t)i, NO_LIMIT);
		add(&t[i], when);
	}
	list = wf_wheel_expire(&wheel, when + GRAIN, NO_LIMIT);
	for (int i = 0; i < TIMERS; i++, list = list->next_)
		CHECK(list == &t[i]);
	CHECK(list == NULL);
}

TEST(a_small_budget_fires_everything_in_more_calls)
{
	enum { TIMERS = 1000 };
	static weft_timer t[TIMERS];
	uint64_t now = 2 * WEFT_SEC;
	unsigned fired = 0, calls = 0;

	wf_wheel_init(&wheel, 0);
	for (int i = 0; i < TIMERS; i++)
		add(&t[i], WEFT_SEC + (uint64_t)(i % 7) * WEFT_MS);
	while (wf_wheel_next(&wheel) <= now) {
		unsigned n = count(wf_wheel_expire(&wheel, now, 10));

		CHECK(n <= 10);
		fired += n;
		CHECK(++calls < TIMERS);
	}
	CHECK_EQ(fired, TIMERS);
}

TEST(a_removed_timer_leaves_nothing_to_look_for)
{
	weft_timer near = { 0 }, far = { 0 };

	wf_wheel_init(&wheel, 0);
	add(&near, WEFT_MS);
	add(&far, WEFT_SEC);
	wf_wheel_remove(&wheel, &near);
	CHECK(wf_wheel_next(&wheel) == due(WEFT_SEC));
	wf_wheel_remove(&wheel, &far);
	CHECK(wf_wheel_next(&wheel) == UINT64_MAX);
}

/* The model: all timers in one array, looked at one by one. */
enum { TIMERS = 300 };

struct model {
	weft_timer timer[TIMERS];
	bool in[TIMERS];
	uint64_t now, random;
};

static uint64_t model_earliest(const struct model *m)
{
	uint64_t earliest = UINT64_MAX;

	for (int i = 0; i < TIMERS; i++)
		if (m->in[i] && due(m->timer[i].when) < earliest)
			earliest = due(m->timer[i].when);
	return earliest;
}

/* A span of any magnitude up to ten days. */
static uint64_t some_span(struct model *m)
{
	return test_random(&m->random) >> (14 + test_random(&m->random) % 50);
}

static void model_toggle(struct model *m)
{
	int i = (int)(test_random(&m->random) % TIMERS);
	uint64_t span = some_span(m);

	if (m->in[i] && test_random(&m->random) % 2) {
		wf_wheel_move(&wheel, &m->timer[i], m->now + span);
		return;
	}
	if (m->in[i])
		wf_wheel_remove(&wheel, &m->timer[i]);
	else if (test_random(&m->random) % 8 == 0)
		add(&m->timer[i], m->now - (span < m->now ? span : m->now));
	else
		add(&m->timer[i], m->now + span);
	m->in[i] = !m->in[i];
}

static void model_fire(struct model *m, const weft_timer *t, uint64_t *last)
{
	int i = (int)(t - m->timer);

	CHECK(i >= 0 && i < TIMERS);
	CHECK(m->in[i]);
	CHECK(t->when <= m->now);
	CHECK(due(t->when) >= *last);
	*last = due(t->when);
	m->in[i] = false;
}

/* Timers that were added for the past come first, in the order added. */
static void model_fire_past(struct model *m)
{
	weft_timer *list = wf_wheel_expire(&wheel, m->now, NO_LIMIT);

	for (; list != NULL; list = list->next_)
		model_fire(m, list, &(uint64_t){ 0 });
}

static void model_advance(struct model *m)
{
	uint64_t span = some_span(m), last = 0;
	unsigned calls = 0;
	weft_timer *list;

	/* Often just to the time that the wheel asked for. */
	if (test_random(&m->random) % 2 && wf_wheel_next(&wheel) < m->now + span)
		span = wf_wheel_next(&wheel) > m->now ? wf_wheel_next(&wheel) - m->now : 0;
	model_fire_past(m);
	m->now += span;
	do {
		list = wf_wheel_expire(&wheel, m->now, 1 + test_random(&m->random) % 40);
		for (; list != NULL; list = list->next_)
			model_fire(m, list, &last);
		CHECK(++calls < TIMERS * (WF_WHEEL_LEVELS + 1));
	} while (wf_wheel_next(&wheel) <= m->now);
	CHECK(model_earliest(m) > m->now);
	CHECK(wf_wheel_next(&wheel) <= model_earliest(m));
}

/* Looking whenever the wheel asks fires all, after few looks. */
static void model_drain(struct model *m)
{
	unsigned looks = 0;

	model_fire_past(m);
	while (model_earliest(m) != UINT64_MAX) {
		uint64_t next = wf_wheel_next(&wheel), last = 0;
		weft_timer *list;

		CHECK(next <= model_earliest(m));
		m->now = next > m->now ? next : m->now;
		for (list = wf_wheel_expire(&wheel, m->now, NO_LIMIT); list; list = list->next_)
			model_fire(m, list, &last);
		/* Once at its old time, once at its new one. */
		CHECK(++looks <= 2 * TIMERS * WF_WHEEL_LEVELS);
	}
	CHECK(wf_wheel_next(&wheel) == UINT64_MAX);
}

TEST(random_use_agrees_with_the_model)
{
	static struct model m;
	uint64_t seeds = TEST_SEED;

	for (int round = 0; round < TEST_SIZE(200); round++) {
		memset(&m, 0, sizeof m);
		m.random = test_random(&seeds);
		m.now = some_span(&m);
		wf_wheel_init(&wheel, m.now);
		for (int step = 0; step < 2000; step++) {
			if (test_random(&m.random) % 8)
				model_toggle(&m);
			else
				model_advance(&m);
		}
		model_drain(&m);
	}
}

TEST(a_timer_that_was_put_off_fires_at_its_new_time_only)
{
	static weft_timer t;

	wf_wheel_init(&wheel, 0);
	add(&t, WEFT_SEC);
	wf_wheel_move(&wheel, &t, 3 * WEFT_SEC);
	CHECK(wf_wheel_expire(&wheel, 2 * WEFT_SEC, NO_LIMIT) == NULL);
	CHECK_EQ(wf_wheel_next(&wheel), due(3 * WEFT_SEC));
	CHECK(wf_wheel_expire(&wheel, 4 * WEFT_SEC, NO_LIMIT) == &t);
}

TEST(a_timer_moved_to_an_earlier_time_fires_then)
{
	static weft_timer t;

	wf_wheel_init(&wheel, 0);
	add(&t, 3 * WEFT_SEC);
	wf_wheel_move(&wheel, &t, WEFT_SEC);
	CHECK_EQ(wf_wheel_next(&wheel), due(WEFT_SEC));
	CHECK(wf_wheel_expire(&wheel, 2 * WEFT_SEC, NO_LIMIT) == &t);
}

/* What a step costs must not depend on how many timers there are: counted in
 * steps of budget, not in time. */
TEST(a_million_timers_take_a_few_steps_each)
{
	const unsigned timers = TEST_SIZE(1000000), budget = 1000;
	weft_timer *t = calloc(timers, sizeof *t);
	uint64_t random = TEST_SEED, now = 0;
	unsigned fired = 0, calls = 0;

	CHECK(t != NULL);
	wf_wheel_init(&wheel, 0);
	for (unsigned i = 0; i < timers; i++)
		add(&t[i], test_random(&random) % (10 * WEFT_SEC));
	while (wf_wheel_next(&wheel) != UINT64_MAX) {
		now += 10 * WEFT_MS;
		while (wf_wheel_next(&wheel) <= now) {
			fired += count(wf_wheel_expire(&wheel, now, budget));
			calls++;
		}
	}
	CHECK_EQ(fired, timers);
	CHECK(now >= 10 * WEFT_SEC);
	/* Ten seconds are four levels away; and each look may end with some left. */
	CHECK(calls <= timers / budget * 4 + 1100);
	free(t);
}

TEST_MAIN
