/* Events of rendezvous: waited for one at a time, cancelled and given back. After a cancel no slot
 * changes (R3), a function that ends takes its rendezvous with it (R4), slots live as long as
 * an event may write to them (R2, I2), and each event is used once (I3). */
#include "handmade.h"

static int reports(void)
{
	return atomic_load(&caught.count[WEFT_REPORT_MISUSE]);
}

static void expect_report(const char *text)
{
	CHECK_EQ(reports(), 1);
	if (!reported(WEFT_REPORT_MISUSE, text))
		CHECK_STR(caught.last[WEFT_REPORT_MISUSE], text);
	atomic_store(&caught.count[WEFT_REPORT_MISUSE], 0);
}

#define TWICE "collect.tame.c:7: mkevent(r, i, k->slot) of collect() is triggered a second time"

static void run_caught(int (*fn)(void *))
{
	catch_reports();
	CHECK_EQ(run_on(1, fn, NULL), 0);
	CHECK_EQ(reports(), 0);
}

static void nothing_left(void)
{
	settle();
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	CHECK_EQ(reports(), 0);
}

/* Waiting */

static int in_order(void *unused)
{
	struct collection k = { .n = 3, .wanted = 3 };

	(void)unused;
	collect(&k);
	CHECK_EQ(k.count, 0);
	weft_trigger(k.made[2], 30);
	CHECK_EQ(k.count, 0);
	CHECK_EQ(k.slot, 30);
	settle();
	CHECK_EQ(k.count, 1);
	weft_trigger(k.made[0], 10);
	weft_trigger(k.made[1], 20);
	nothing_left();
	CHECK(k.ended);
	CHECK_EQ(k.id[0], 2);
	CHECK_EQ(k.value[0], 30);
	CHECK_EQ(k.id[1], 0);
	CHECK_EQ(k.id[2], 1);
	CHECK_EQ(k.value[2], 20);
	return 0;
}

TEST(events_come_in_the_order_of_their_triggers_with_their_ids)
{
	run_caught(in_order);
}

TEST(events_come_in_the_order_of_their_triggers_without_checks)
{
	setenv("WEFT_TAME", "no", 1);
	run_caught(in_order);
}

static int from_elsewhere(void *unused)
{
	struct collection k = { .n = 2, .wanted = 2 };

	(void)unused;
	collect(&k);
	foreign(trigger_5, &k.made[1]);
	CHECK_EQ(k.slot, 0); /* it is on its way */
	foreign(trigger_5, &k.made[0]);
	nothing_left();
	CHECK(k.ended);
	CHECK_EQ(k.id[0], 1);
	CHECK_EQ(k.slot, 5);
	CHECK_EQ(atomic_load(&delivered_in), WEFT_MAIN);
	return 0;
}

TEST(events_come_from_foreign_threads)
{
	run_caught(from_elsewhere);
}

static int no_events(void *unused)
{
	struct collection k = { .n = 0, .wanted = 1 };

	(void)unused;
	collect(&k);
	expect_report("collect.tame.c:3: collect() waits forever for rendezvous 'r': it has no "
		      "events");
	k.made[0] = collect_mk1(k.r->closure_, k.r, 4, &k.slot); /* as another function may */
	trigger_5(&k.made[0]);
	nothing_left();
	CHECK_EQ(k.id[0], 4);
	return 0;
}

TEST(a_wait_with_nothing_outstanding_is_told_of)
{
	run_caught(no_events);
}

/* Cancelling */

static int end_with_events(void *unused)
{
	struct collection k = { .n = 3, .wanted = 1 };

	(void)unused;
	collect(&k);
	trigger_5(&k.made[0]);
	settle();
	CHECK(k.ended);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 2);
	expect_report("collect.tame.c:3: collect() ends with 2 events of rendezvous 'r' not "
		      "triggered, the first of collect.tame.c:7: mkevent(r, i, k->slot); "
		      "cancelled");
	k.slot = 0;
	trigger_5(&k.made[1]);
	foreign(trigger_5, &k.made[2]);
	nothing_left();
	CHECK_EQ(k.slot, 0);
	return 0;
}

TEST(a_function_that_ends_cancels_its_events_and_that_is_told_of)
{
	run_caught(end_with_events);
}

static int cancel_all_states(void *unused)
{
	struct collection k = { .n = 6, .wanted = 1, .cancels = true };

	(void)unused;
	collect(&k);
	trigger_5(&k.made[0]);          /* waited for */
	weft_trigger(k.made[1], 6);     /* triggered, never waited for */
	foreign(trigger_5, &k.made[2]); /* on its way */
	foreign(drop_it, &k.made[3]);   /* on its way back */
	settle();
	CHECK(k.ended);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 2);
	CHECK_EQ(k.slot, 6);
	foreign(trigger_5, &k.made[4]);
	drop_it(&k.made[5]);
	nothing_left();
	CHECK_EQ(k.slot, 6);
	return 0;
}

TEST(no_slot_changes_after_a_cancel)
{
	/* The body runs before what is on its way: posted first. */
	run_caught(cancel_all_states);
}

static int cancel_by_itself(void *unused)
{
	struct collection k = { .n = 2, .wanted = 2, .cancels = true };

	(void)unused;
	collect(&k);
	foreign(trigger_5, &k.made[0]);
	weft_tame_rendezvous_cancel(k.r); /* by another, while it waits */
	expect_report("collect() waits forever for rendezvous 'r': its events were cancelled");
	CHECK_EQ(events(), 2);
	settle();
	CHECK_EQ(events(), 1);
	CHECK_EQ(k.slot, 0);
	drop_it(&k.made[1]);
	settle();
	CHECK_EQ(events(), 0);
	k.made[0] = collect_mk1(k.r->closure_, k.r, 4, &k.slot);
	k.made[1] = collect_mk1(k.r->closure_, k.r, 5, &k.slot);
	trigger_5(&k.made[0]);
	trigger_5(&k.made[1]);
	nothing_left();
	return 0;
}

TEST(a_cancel_while_somebody_waits_is_told_of)
{
	run_caught(cancel_by_itself);
}

/* Control comes to the declaration again. */
static int declare_again(void *unused)
{
	struct collection k = { .n = 2, .wanted = 2 };
	weft_tame_rendezvous *r;

	(void)unused;
	collect(&k);
	r = k.r;
	trigger_5(&k.made[0]);
	weft_tame_rendezvous_init(r, r->closure_, &collect_r);
	expect_report("collect() ends with 1 event of rendezvous 'r' not triggered");
	CHECK_EQ(events(), 1);
	drop_it(&k.made[1]);
	settle();
	expect_report("it has no events");
	k.made[0] = collect_mk1(r->closure_, r, 1, &k.slot);
	k.made[1] = collect_mk1(r->closure_, r, 1, &k.slot);
	trigger_5(&k.made[0]);
	trigger_5(&k.made[1]);
	nothing_left();
	return 0;
}

TEST(a_declaration_that_is_reached_again_cancels_what_there_was)
{
	run_caught(declare_again);
}

/* Giving back */

static int give_back(void *unused)
{
	struct collection k = { .n = 4, .wanted = 1 };

	(void)unused;
	collect(&k);
	drop_it(&k.made[0]);
	foreign(drop_it, &k.made[1]);
	settle();
	CHECK_EQ(events(), 2);
	CHECK_EQ(reports(), 0);
	drop_it(&k.made[3]);
	trigger_5(&k.made[2]);
	nothing_left();
	CHECK_EQ(k.id[0], 2);
	return 0;
}

TEST(an_event_that_is_given_back_is_one_less)
{
	run_caught(give_back);
}

static int give_back_last(void *from_foreign)
{
	struct collection k = { .n = 1, .wanted = 1 };

	collect(&k);
	if (from_foreign != NULL)
		foreign(drop_it, &k.made[0]);
	else
		drop_it(&k.made[0]);
	settle();
	CHECK_EQ(events(), 0);
	expect_report("collect() waits forever for rendezvous 'r': its last event was given back");
	k.made[0] = collect_mk1(k.r->closure_, k.r, 1, &k.slot);
	trigger_5(&k.made[0]);
	nothing_left();
	return 0;
}

TEST(the_last_event_given_back_is_told_of)
{
	catch_reports();
	CHECK_EQ(run_on(1, give_back_last, NULL), 0);
	CHECK_EQ(run_on(1, give_back_last, ""), 0);
}

/* Double triggers */

static int twice(void *unused)
{
	struct collection k = { .n = 3, .wanted = 3 };

	(void)unused;
	collect(&k);
	trigger_5(&k.made[0]);
	trigger_5(&k.made[0]); /* not waited for yet */
	expect_report(TWICE);
	foreign(trigger_5, &k.made[1]);
	foreign(trigger_5, &k.made[1]); /* on its way */
	expect_report(TWICE);
	trigger_5(&k.made[1]);
	expect_report(TWICE);
	foreign(drop_it, &k.made[1]);
	expect_report(TWICE);
	settle();
	trigger_5(&k.made[1]); /* out of use */
	expect_report(TWICE);
	drop_it(&k.made[0]);
	expect_report(TWICE);
	CHECK_EQ(k.count, 2);
	trigger_5(&k.made[2]);
	nothing_left();
	return 0;
}

TEST(a_second_trigger_is_told_of_wherever_the_first_has_come)
{
	run_caught(twice);
}

static int twice_cancelled(void *unused)
{
	struct collection k = { .n = 1, .wanted = 0, .cancels = true };

	(void)unused;
	collect(&k);
	trigger_5(&k.made[0]);
	CHECK_EQ(reports(), 0);
	trigger_5(&k.made[0]);
	expect_report(TWICE);
	nothing_left();
	return 0;
}

TEST(a_second_trigger_is_told_of_after_a_cancel_too)
{
	run_caught(twice_cancelled);
}

/* Two at once; as in the tests of events they do not look at the trigger function. */
static _Atomic long gate_now;
static weft_tame_event *_Atomic race_event;

static void *race(void *rounds)
{
	for (long i = 1; i <= (intptr_t)rounds; i++) {
		WAIT_FOR(atomic_load(&gate_now) >= i);
		weft_tame_trigger(atomic_load(&race_event));
	}
	return NULL;
}

static int races(void *foreigners)
{
	long n = (intptr_t)foreigners, rounds = TEST_SIZE(300);
	pthread_t threads[2];

	for (int i = 0; i < n; i++)
		threads[i] = thread_start(race, (void *)(intptr_t)rounds);
	for (long i = 1; i <= rounds; i++) {
		struct collection k = { .n = 2, .wanted = 2 };
		int before = reports();

		collect(&k);
		((struct made_of_r *)(uintptr_t)k.made[0])->value = 5;
		atomic_store(&race_event, (weft_tame_event *)(uintptr_t)k.made[0]);
		atomic_store(&gate_now, i);
		if (n == 1)
			weft_tame_trigger(atomic_load(&race_event));
		YIELD_UNTIL(reports() == before + 1);
		trigger_5(&k.made[1]);
		YIELD_UNTIL(k.ended);
		CHECK_EQ(reports(), before + 1);
	}
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

/* Slots elsewhere */

static int lent(void *unused)
{
	struct collection k = { .n = 0, .wanted = 2 };
	int *slot[2];

	(void)unused;
	k.n = 1;
	collect(&k);
	lend(k.r, 7, &k.made[1], &slot[0]);
	lend(k.r, 8, &k.made[2], &slot[1]);
	CHECK_EQ(closures(), 3); /* their functions have ended */
	trigger_5(&k.made[1]);
	CHECK_EQ(closures(), 2);
	settle();
	CHECK_EQ(k.id[0], 7);
	trigger_5(&k.made[0]);
	settle();
	CHECK(k.ended);
	expect_report("collect() ends with 1 event of rendezvous 'r' not triggered");
	CHECK_EQ(closures(), 0);
	drop_it(&k.made[2]);
	nothing_left();
	return 0;
}

TEST(a_closure_lives_until_events_of_others_rendezvous_have_its_slots_no_more)
{
	run_caught(lent);
}

static int lent_and_given_back(void *unused)
{
	struct collection k = { .n = 1, .wanted = 1 };
	int *slot;

	(void)unused;
	collect(&k);
	lend(k.r, 7, &k.made[1], &slot);
	foreign(drop_it, &k.made[1]);
	CHECK_EQ(closures(), 2);
	settle();
	CHECK_EQ(closures(), 1);
	lend(k.r, 7, &k.made[1], &slot);
	foreign(trigger_5, &k.made[1]);
	CHECK_EQ(*slot, 0);
	CHECK_EQ(closures(), 2);
	settle();
	CHECK(k.ended);
	expect_report("collect() ends with 1 event of rendezvous 'r' not triggered");
	drop_it(&k.made[0]);
	nothing_left();
	return 0;
}

TEST(a_closure_with_slots_of_others_lives_until_they_are_given_back)
{
	run_caught(lent_and_given_back);
}

static struct collection of_9;

static void collect_it(void *unused)
{
	(void)unused;
	collect(&of_9);
}

static int wrong_color(void *unused)
{
	struct collection *k = &of_9;
	int_event e;
	int *slot;

	(void)unused;
	*k = (struct collection){ .n = 1, .wanted = 1 };
	CHECK_EQ(weft_hop(9), 0);
	collect_it(NULL);
	CHECK_EQ(weft_hop(WEFT_MAIN), 0);
	lend(k->r, 1, &e, &slot);
	expect_report("collect.tame.c:7: mkevent(r, i, k->slot): rendezvous 'r' belongs to another "
		      "color");
	CHECK_EQ(closures(), 1);
	trigger_5(&e);
	CHECK_EQ(events(), 1);
	weft_tame_rendezvous_cancel(k->r);
	expect_report("collect.tame.c:3: rv_cancel: rendezvous 'r' belongs to another color");
	trigger_5(&k->made[0]);
	CHECK_EQ(weft_hop(9), 0);
	nothing_left();
	CHECK(k->ended);
	return 0;
}

TEST(a_rendezvous_of_another_color_is_left_alone)
{
	run_caught(wrong_color);
}

static int two_wait(void *unused)
{
	struct collection k = { .n = 2, .wanted = 2 }, other = { .n = 0, .wanted = 0 };
	struct collect_c *c;

	(void)unused;
	collect(&k);
	collect(&other);
	c = (struct collect_c *)weft_tame_enter(&collect_f);
	CHECK(!weft_tame_next(k.r, &c->c, NULL, 0));
	expect_report("collect() and collect() wait for rendezvous 'r': one of them forever");
	CHECK(!weft_tame_next(k.r, k.r->closure_, NULL, 0));
	expect_report("one of them forever");
	weft_tame_leave(&c->c);
	trigger_5(&k.made[0]);
	trigger_5(&k.made[1]);
	nothing_left();
	return 0;
}

TEST(two_that_wait_for_one_rendezvous_are_told_of)
{
	run_caught(two_wait);
}

TEST_MAIN
