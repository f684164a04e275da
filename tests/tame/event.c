/* Events of twait blocks: their values come to the closure in its color (S1), who waits goes on
 * later, and a second trigger is told of with file and line (T2: I3), whoever does it. */
#include "handmade.h"

static int_event made[MADE_MAX];
static _Atomic int result;

static void once_in_7(weft_fn *fn, void *arg)
{
	weft_color back = weft_color_current();

	CHECK_EQ(weft_hop(7), 0);
	fn(arg);
	CHECK_EQ(weft_hop(back), 0);
}

static _Atomic bool shared_done;
static void trigger_shared(void *e)
{
	trigger_5(e);
	atomic_store(&shared_done, true);
}

/* Calls sum in color 3, and triggers its events from all sides. */
static void from_all_sides(void)
{
	atomic_store(&result, 0);
	weft_ton(3, sum, 4, made, &result);
	CHECK_EQ(weft_hop(3), 0);
	CHECK_EQ(weft_hop(WEFT_MAIN), 0); /* behind its beginning */
	trigger_5(&made[0]);
	foreign(trigger_5, &made[1]);
	once_in_7(trigger_5, &made[2]);
	atomic_store(&shared_done, false);
	CHECK_EQ(weft_post_shared(3, trigger_shared, &made[3]), 0);
	YIELD_UNTIL(atomic_load(&result) != 0);
	CHECK_EQ(atomic_load(&result), 20);
	CHECK_EQ(atomic_load(&delivered_in), 3);
}

static int all_sides(void *unused)
{
	(void)unused;
	for (int i = 0; i < 50; i++)
		from_all_sides();
	YIELD_UNTIL(closures() == 0);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(events_are_triggered_from_all_sides)
{
	CHECK_EQ(run_on(1, all_sides, NULL), 0);
	CHECK_EQ(run_on(2, all_sides, NULL), 0);
}

TEST(events_are_triggered_from_all_sides_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	CHECK_EQ(run_on(1, all_sides, NULL), 0);
	CHECK_EQ(run_on(2, all_sides, NULL), 0);
}

static int later(void *unused)
{
	(void)unused;
	atomic_store(&result, 0);
	sum(1, made, &result);
	trigger_5(made);
	CHECK_EQ(atomic_load(&result), 0);
	CHECK_EQ(weft_yield(), 0);
	return atomic_load(&result);
}

TEST(who_waited_goes_on_later_and_not_inside_of_trigger)
{
	CHECK_EQ(run_on(1, later, NULL), 5);
}

/* A slot has its value when trigger returns, in the color of the closure. */
static int at_once(void *unused)
{
	struct made_apart *e;

	(void)unused;
	sum(2, made, &result);
	e = (struct made_apart *)(uintptr_t)made[0];
	trigger_5(&made[0]);
	CHECK_EQ(*e->slot, 5);
	trigger_5(&made[1]);
	return 0;
}

TEST(a_value_comes_to_its_slot_at_once_in_the_color_of_the_closure)
{
	CHECK_EQ(run_on(1, at_once, NULL), 0);
}

/* Double triggers */

#define TWICE_SUM "sum.tame.c:4: mkevent(v[i]) of sum() is triggered a second time"
#define TWICE_ADD "add.tame.c:4: mkevent(a) of add() is triggered a second time"

static int reports(void)
{
	return atomic_load(&caught.count[WEFT_REPORT_MISUSE]);
}

static void expect_report(const char *text)
{
	CHECK_EQ(reports(), 1);
	CHECK(reported(WEFT_REPORT_MISUSE, text));
	atomic_store(&caught.count[WEFT_REPORT_MISUSE], 0);
}

/* Of two events one is triggered twice, the second time by `again`; the other then once. */
static void twice(weft_fn *again, void *arg)
{
	atomic_store(&result, 0);
	sum(2, made, &result);
	weft_trigger(made[0], 1);
	again(arg);
	expect_report(TWICE_SUM);
	settle();
	CHECK_EQ(atomic_load(&result), 0);
	weft_trigger(made[1], 2);
	settle();
	CHECK_EQ(atomic_load(&result), 3);
	CHECK_EQ(events(), 0);
	CHECK_EQ(closures(), 0);
}

static void again_foreign(void *e)
{
	foreign(trigger_5, e);
}

static void again_drop(void *e)
{
	drop_it(e);
}

static int twice_apart(void *unused)
{
	(void)unused;
	twice(trigger_5, &made[0]);
	twice(again_foreign, &made[0]);
	twice(again_drop, &made[0]);
	return 0;
}

TEST(a_second_trigger_of_an_event_with_its_own_memory_is_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, twice_apart, NULL), 0);
}

static int twice_inside(void *unused)
{
	(void)unused;
	add(1, &made[0], NULL);
	trigger_5(&made[0]);
	trigger_5(&made[0]);
	expect_report(TWICE_ADD);
	settle();
	CHECK_EQ(closures(), 0); /* and now the memory of the closure is out of use */
	trigger_5(&made[0]);
	expect_report(TWICE_ADD);
	foreign(trigger_5, &made[0]);
	expect_report(TWICE_ADD);
	drop_it(&made[0]);
	expect_report(TWICE_ADD);
	return 0;
}

TEST(a_second_trigger_of_an_event_in_the_closure_is_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, twice_inside, NULL), 0);
}

static int twice_remote(void *unused)
{
	(void)unused;
	sum(2, made, &result);
	foreign(trigger_5, &made[0]);
	foreign(trigger_5, &made[0]); /* while the first is on its way */
	expect_report(TWICE_SUM);
	trigger_5(&made[0]);
	expect_report(TWICE_SUM);
	settle();
	trigger_5(&made[0]);
	expect_report(TWICE_SUM);
	trigger_5(&made[1]);
	settle();
	CHECK_EQ(events(), 0);
	return atomic_load(&result);
}

TEST(a_second_trigger_of_an_event_on_its_way_is_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, twice_remote, NULL), 10);
}

/* While less was freed than is kept, what was freed is not in other use. */
static int after_some_more(void *unused)
{
	int_event first;

	(void)unused;
	sum(1, &first, &result);
	trigger_5(&first);
	for (int i = 0; i < WF_TAME_QUARANTINE / 2 - 1; i++) {
		sum(1, made, &result);
		CHECK(made[0] != first);
		trigger_5(made);
		settle();
	}
	trigger_5(&first);
	expect_report(TWICE_SUM);
	return 0;
}

TEST(a_second_trigger_is_told_of_after_much_else_was_freed)
{
	catch_reports();
	CHECK_EQ(run_on(1, after_some_more, NULL), 0);
}

/* Two at once. They call the trigger function itself, as both may have read it before the other
 * came; nobody has written that down in a way that TSan understands. */
struct racer {
	_Atomic int *gate;
	weft_tame_event *_Atomic *event;
	long rounds;
};

static void *race(void *arg)
{
	struct racer *r = arg;

	for (long i = 1; i <= r->rounds; i++) {
		WAIT_FOR(atomic_load(r->gate) >= i);
		weft_tame_trigger(atomic_load(r->event));
	}
	return NULL;
}

static _Atomic int gate_now;
static weft_tame_event *_Atomic race_event;

static void one_race(long i, bool here)
{
	int before = reports();

	atomic_store(&result, 0);
	sum(2, made, &result);
	((struct made_apart *)(uintptr_t)made[0])->value = 5;
	atomic_store(&race_event, (weft_tame_event *)(uintptr_t)made[0]);
	atomic_store(&gate_now, (int)i);
	if (here)
		weft_tame_trigger(atomic_load(&race_event));
	YIELD_UNTIL(reports() == before + 1);
	trigger_5(&made[1]);
	YIELD_UNTIL(atomic_load(&result) != 0);
	CHECK_EQ(atomic_load(&result), 10);
	CHECK_EQ(reports(), before + 1);
}

static int races(void *foreigners)
{
	struct racer r = { &gate_now, &race_event, TEST_SIZE(300) };
	int n = (int)(intptr_t)foreigners;
	pthread_t threads[2];

	atomic_store(&gate_now, 0);
	for (int i = 0; i < n; i++)
		threads[i] = thread_start(race, &r);
	for (long i = 1; i <= r.rounds; i++)
		one_race(i, n == 1);
	for (int i = 0; i < n; i++)
		thread_join(threads[i]);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(of_two_foreign_threads_that_trigger_at_once_one_is_told)
{
	catch_reports();
	CHECK_EQ(run_on(1, races, (void *)2), 0);
}

TEST(of_a_foreign_thread_and_the_color_itself_that_trigger_at_once_one_is_told)
{
	catch_reports();
	CHECK_EQ(run_on(1, races, (void *)1), 0);
}

/* Giving back */

static int drop_block(void *unused)
{
	(void)unused;
	sum(1, made, &result);
	drop_it(&made[0]);
	return 0;
}

TEST(an_event_of_a_block_that_is_given_back_is_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, drop_block, NULL), 0);
	CHECK_EQ(reports(), 2); /* and at the end that it waits */
	CHECK(reported(WEFT_REPORT_MISUSE, "sum() waits at sum.tame.c:4"));
}

/* Foreign threads trigger whether the run goes on or not. */

enum { SPREAD = 16 };
static int_event spread[SPREAD];
static _Atomic bool offered, enough;

static void *trigger_on_and_on(void *unused)
{
	(void)unused;
	while (!atomic_load(&enough)) {
		if (!atomic_load(&offered)) {
			sched_yield();
			continue;
		}
		for (int i = 0; i < SPREAD; i++)
			weft_trigger(spread[i], i);
		atomic_store(&offered, false);
	}
	return NULL;
}

/* Ends while its events are triggered, or are not yet. */
static int offer_and_stop(void *rounds)
{
	for (long i = 0; i < (intptr_t)rounds; i++) {
		int yields = (int)(i % 3);

		YIELD_UNTIL(!atomic_load(&offered));
		sum(SPREAD, spread, &result);
		atomic_store(&offered, true);
		while (yields-- > 0)
			weft_yield();
	}
	return weft_stop();
}

TEST(foreign_threads_trigger_while_the_run_ends)
{
	pthread_t thread = thread_start(trigger_on_and_on, NULL);

	for (intptr_t i = 0; i < TEST_SIZE(60); i++) {
		CHECK_EQ(run_on(1, offer_and_stop, (void *)(i % 4 + 1)), 0);
		/* Events of a run are not triggered in the next one. */
		WAIT_FOR(!atomic_load(&offered));
	}
	atomic_store(&enough, true);
	thread_join(thread);
}

TEST_MAIN
