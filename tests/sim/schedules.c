/* schedules.c - no promise is broken in many small random programs, each run in a
 * random schedule; sim/ checks S1, S2, S3 and S5 at every step.
 *
 *	WEFT_SIM_SCHEDULES=n  how many (usual: 4000)
 *	WEFT_SIM_SEED=n       only this one, which the report of a breach names
 *
 * A million takes minutes: give WEFT_TEST_LIMIT=3600 with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/test.h"
#include "sim.h"

enum { COLORS = 6, EVENTS = 48, CANCELLABLE = 8 };

/* A small random program: what each event does, it draws when it runs. */
static struct {
	struct sim *sim;
	uint64_t random;
	int workers;
	unsigned left; /* events that may still be posted */
	bool shares, pins, cancels;
	uint64_t longest;
	weft_color colors[COLORS];
	struct sim_event *posted[CANCELLABLE];
	weft_color posted_color[CANCELLABLE];
} program;

static uint64_t draw(uint64_t below)
{
	return test_random(&program.random) % below;
}

static bool chance(unsigned percent)
{
	return draw(100) < percent;
}

static void step(void *arg);
static void step_too(void *arg);

/* One draw a statement: the order must not depend on the compiler. */
static void post_one(uint64_t at)
{
	struct sim_job job = { .at = at };
	uint64_t slot = draw(CANCELLABLE);

	if (program.left == 0)
		return;
	program.left--;
	job.color = program.colors[draw(COLORS)];
	job.ticks = 1 + draw(program.longest);
	job.run = chance(70) ? step : step_too;
	job.priority = chance(70) ? WEFT_PRIORITY_NORMAL : (unsigned)draw(4);
	job.shared = program.shares && chance(50);
	job.worker = (int)draw((uint64_t)program.workers);
	job.deliver = chance(10);
	job.brought = chance(50);
	job.arg = (void *)(uintptr_t)job.color;
	program.posted[slot] = sim_post_with(program.sim, &job);
	program.posted_color[slot] = job.color;
}

/* Only from its own color, and exclusively, can an event be cancelled; what the
 * scheduler says to a try from elsewhere is checked as well. */
static void cancel_one(weft_color mine)
{
	uint64_t slot = draw(CANCELLABLE);
	struct sim_event *e = program.posted[slot];
	weft_color color = program.posted_color[slot];
	int rc;

	if (e == NULL)
		return;
	rc = sim_cancel(program.sim, e);
	CHECK(rc == 0 || rc == -ENOENT || rc == -EPERM);
	if (color != mine)
		CHECK_EQ(rc, -EPERM);
}

static void act(weft_color mine)
{
	if (program.cancels && chance(15))
		cancel_one(mine);
	if (program.pins && chance(5))
		sim_pin(program.sim, program.colors[draw(COLORS)],
			(int)draw((uint64_t)program.workers + 1) - 1);
	for (uint64_t n = draw(3); n > 0; n--)
		post_one(0);
	if (chance(20))
		sim_spend(program.sim, draw(program.longest));
}

static void step(void *arg)
{
	act((weft_color)(uintptr_t)arg);
}

static void step_too(void *arg)
{
	act((weft_color)(uintptr_t)arg);
}

static void choose_program(uint64_t seed)
{
	program.random = seed;
	program.workers = 1 + (int)draw(8);
	program.left = EVENTS;
	program.shares = chance(50);
	program.pins = chance(25);
	program.cancels = chance(50);
	program.longest = chance(50) ? 300 : 20000;
	for (int i = 0; i < COLORS; i++)
		program.colors[i] = chance(50) ? (weft_color)i : test_random(&program.random) >> 1;
	for (int i = 0; i < CANCELLABLE; i++)
		program.posted[i] = NULL;
}

static struct sim *choose_machine(uint64_t seed)
{
	static const char *const steals[] = { "all",      "base",    "time",         "off",
					      "locality", "penalty", "locality+time" };
	static char repeat[64];
	struct sim_options opt = {
		.workers = program.workers, .seed = seed, .repeat = repeat, .max_steps = 1000000
	};

	snprintf(repeat, sizeof repeat, "WEFT_SIM_SEED=%ju", (uintmax_t)seed);
	opt.steal = steals[draw(sizeof steals / sizeof steals[0])];
	opt.batch = chance(50) ? 0 : 1 + (unsigned)draw(3);
	opt.steal_cost = chance(50) ? 0 : 1 + draw(3000);
	opt.jitter = chance(70) ? (unsigned)draw(200) : 0;
	opt.max_colors = chance(10) ? 1 + draw(4) : 0;
	return sim_start_with(&opt);
}

static void run_program(uint64_t seed)
{
	uint64_t first;

	choose_program(seed);
	program.sim = choose_machine(seed);
	first = 4 + draw(16);
	for (uint64_t i = 0; i < first; i++)
		post_one(chance(50) ? 0 : draw(20 * program.longest));
	sim_run_until_idle(program.sim);
	/* Asleep, the machine can be given more. */
	post_one(0);
	sim_run_until_idle(program.sim);
	sim_stop(program.sim);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : otherwise;
}

TEST(no_promise_is_broken_in_many_random_schedules)
{
	uint64_t only = number_from("WEFT_SIM_SEED", 0);
	uint64_t count = number_from("WEFT_SIM_SCHEDULES", TEST_SIZE(4000));
	uint64_t seeds = TEST_SEED;

	if (only != 0) {
		run_program(only);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		run_program(test_random(&seeds));
}

TEST_MAIN
