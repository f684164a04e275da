/* Threaded functions: they wait on their stack, go home to the color of their closure where they
 * have to, and do not return before their events. */
#include "handmade.h"

static int_event made[MADE_MAX];

static void post_trigger(void *color)
{
	CHECK_EQ(weft_post((weft_color)(uintptr_t)color, trigger_5, &made[0]), 0);
}

static void trigger_foreign(void *unused)
{
	(void)unused;
	foreign(trigger_5, &made[0]);
}

static int waits(void *unused)
{
	(void)unused;
	CHECK_EQ(wait_for(&made[0], trigger_5, &made[0]), 5);
	CHECK_EQ(wait_for(&made[0], post_trigger, (void *)WEFT_MAIN), 5);
	CHECK_EQ(wait_for(&made[0], post_trigger, (void *)7), 5);
	CHECK_EQ(wait_for(&made[0], trigger_foreign, NULL), 5);
	CHECK_EQ(events(), 0);
	CHECK_EQ(closures(), 0);
	return 0;
}

TEST(a_threaded_function_waits_for_its_event_from_wherever_it_comes)
{
	for (int workers = 1; workers <= 2; workers++)
		CHECK_EQ(run_on(workers, waits, NULL), 0);
}

/* Hopping */

static weft_fn *then;

static void hop_and_then(void *color)
{
	CHECK_EQ(weft_hop((weft_color)(uintptr_t)color), 0);
	then(&made[0]);
}

static int hops_in_block(void *unused)
{
	(void)unused;
	then = trigger_5;
	CHECK_EQ(wait_for(&made[0], hop_and_then, (void *)7), 5);
	CHECK_EQ(weft_color_current(), 7);
	CHECK_EQ(atomic_load(&delivered_in), WEFT_MAIN);
	CHECK_EQ(wait_for(&made[0], trigger_5, &made[0]), 5);
	CHECK_EQ(weft_color_current(), 7);
	CHECK_EQ(atomic_load(&delivered_in), 7);
	CHECK_EQ(wait_for(&made[0], hop_and_then, (void *)WEFT_MAIN), 5);
	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	return 0;
}

TEST(a_thread_may_hop_in_a_block)
{
	for (int workers = 1; workers <= 2; workers++)
		CHECK_EQ(run_on(workers, hops_in_block, NULL), 0);
}

/* Makes events of one block in several colors, while those made before are triggered: the
 * counter must not be touched in two colors at once. */
static void *trigger_as_they_come(void *unused)
{
	static const int n = 32;

	(void)unused;
	for (int i = 0; i < n; i++) {
		_Atomic int_event *e = (_Atomic int_event *)&made[i];

		WAIT_FOR(atomic_load(e) != NULL);
		weft_trigger(atomic_load(e), i);
	}
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static int makes_everywhere(void *unused)
{
	struct wait_c c;
	int x[32], sum_of = 0;
	pthread_t thread;

	(void)unused;
	memset(made, 0, sizeof made);
	CHECK_EQ(weft_hold(), 0);
	thread = thread_start(trigger_as_they_come, NULL);
	weft_tame_thread_enter(&c.t, &wait_f);
	CHECK_EQ(weft_hop(9), 0);
	weft_tame_thread_block(&c.t, &c.join);
	CHECK_EQ(c.t.c.color_, 9);
	for (int i = 0; i < 32; i++) {
		CHECK_EQ(weft_hop((weft_color)i % 4), 0);
		atomic_store((_Atomic int_event *)&made[i], wait_mk1(&c, &x[i]));
		CHECK_EQ(weft_color_current(), (weft_color)i % 4);
	}
	weft_tame_thread_join(&c.t, &c.join);
	CHECK_EQ(weft_color_current(), 3);
	weft_tame_thread_block(&c.t, &c.join); /* nothing is out: it has come along */
	CHECK_EQ(c.t.c.color_, 3);
	weft_tame_thread_join(&c.t, &c.join);
	weft_tame_thread_leave(&c.t);
	thread_join(thread);
	for (int i = 0; i < 32; i++)
		sum_of += x[i];
	CHECK_EQ(sum_of, 31 * 16);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_thread_that_hops_makes_events_where_its_closure_is)
{
	for (int i = 0; i < 6; i++)
		CHECK_EQ(run_on(i % 2 + 1, makes_everywhere, NULL), 0);
}

/* Rendezvous */

static int rendezvous_of_thread(void *hops)
{
	weft_tame_thread_closure t;
	weft_tame_rendezvous r;
	int x = 0, id = -1;

	weft_tame_thread_enter(&t, &wait_f);
	CHECK_EQ(weft_hop(3), 0);
	weft_tame_rendezvous_init(&r, &t.c, &collect_r);
	CHECK_EQ(t.c.color_, 3);
	if (hops != NULL)
		CHECK_EQ(weft_hop(4), 0);
	for (int i = 0; i < 4; i++)
		made[i] = collect_mk1(&t.c, &r, i, &x);
	CHECK_EQ(weft_post(7, trigger_5, &made[2]), 0);
	weft_tame_thread_next(&t, &r, &id, sizeof id);
	CHECK_EQ(id, 2);
	CHECK_EQ(x, 5);
	CHECK_EQ(atomic_load(&delivered_in), 3);
	foreign(trigger_5, &made[1]);
	weft_tame_thread_next(&t, &r, &id, sizeof id);
	CHECK_EQ(id, 1);
	trigger_5(&made[0]);
	weft_tame_thread_next(&t, &r, NULL, 0);
	CHECK_EQ(weft_color_current(), hops != NULL ? 4 : 3);
	x = 0;
	weft_tame_rendezvous_cancel(&r);
	trigger_5(&made[3]);
	CHECK_EQ(x, 0);
	CHECK_EQ(events(), 0);
	weft_tame_thread_leave(&t);
	CHECK_EQ(weft_color_current(), hops != NULL ? 4 : 3);
	return 0;
}

TEST(a_thread_waits_for_its_rendezvous)
{
	for (int workers = 1; workers <= 2; workers++) {
		CHECK_EQ(run_on(workers, rendezvous_of_thread, NULL), 0);
		CHECK_EQ(run_on(workers, rendezvous_of_thread, ""), 0);
	}
}

static int leaves_events(void *unused)
{
	weft_tame_thread_closure t;
	weft_tame_rendezvous r;
	int x = 0;

	(void)unused;
	weft_tame_thread_enter(&t, &wait_f);
	weft_tame_rendezvous_init(&r, &t.c, &collect_r);
	made[0] = collect_mk1(&t.c, &r, 0, &x);
	CHECK_EQ(weft_hop(4), 0);
	weft_tame_thread_leave(&t);
	CHECK(reported(WEFT_REPORT_MISUSE,
		       "wait_for() ends with 1 event of rendezvous 'r' not triggered"));
	trigger_5(&made[0]);
	CHECK_EQ(x, 0);
	return 0;
}

TEST(a_threaded_function_that_ends_cancels_its_events)
{
	catch_reports();
	CHECK_EQ(run_on(1, leaves_events, NULL), 0);
}

/* Its slots are on the stack: it must not return while another's rendezvous has them. */
static bool returned;

static void trigger_if_there(void *e)
{
	CHECK(!returned);
	trigger_5(e);
}

static int lends_slot(void *unused)
{
	struct collection k = { .n = 0, .wanted = 1 };
	weft_tame_thread_closure t;
	int x = 0;

	(void)unused;
	catch_reports();
	collect(&k);
	weft_tame_thread_enter(&t, &wait_f);
	made[0] = collect_mk1(&t.c, k.r, 3, &x);
	made[1] = collect_mk1(&t.c, k.r, 4, &x);
	drop_it(&made[1]);
	CHECK_EQ(weft_post(WEFT_MAIN, trigger_if_there, &made[0]), 0);
	returned = false;
	weft_tame_thread_leave(&t);
	returned = true;
	CHECK_EQ(x, 5);
	settle();
	CHECK(k.ended);
	CHECK_EQ(k.id[0], 3);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_threaded_function_returns_only_when_its_slots_are_free)
{
	CHECK_EQ(run_on(1, lends_slot, NULL), 0);
}

/* And in the meantime it hops about. */
static int lends_and_hops(void *unused)
{
	struct collection k = { .n = 0, .wanted = 4 };
	weft_tame_thread_closure t;
	int x[4];

	(void)unused;
	catch_reports();
	collect(&k);
	weft_tame_thread_enter(&t, &wait_f);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(weft_hop(WEFT_MAIN), 0); /* the rendezvous is there */
		made[i] = collect_mk1(&t.c, k.r, i, &x[i]);
		CHECK_EQ(weft_hop(4), 0);
		CHECK_EQ(weft_post(7, trigger_5, &made[i]), 0);
		CHECK_EQ(weft_yield(), 0);
		CHECK_EQ(t.c.color_, WEFT_MAIN);
	}
	weft_tame_thread_leave(&t);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(x[i], 5);
	CHECK_EQ(weft_hop(WEFT_MAIN), 0);
	settle();
	CHECK(k.ended);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_threaded_function_whose_slots_are_out_belongs_to_its_color)
{
	for (int i = 0; i < 6; i++)
		CHECK_EQ(run_on(i % 2 + 1, lends_and_hops, NULL), 0);
}

/* Misuse */

static void call_in_handler(void *unused)
{
	(void)unused;
	wait_for(&made[0], trigger_5, &made[0]);
}

static int post_call(void *unused)
{
	(void)unused;
	return weft_post(WEFT_MAIN, call_in_handler, NULL);
}

static void run_post_call(void)
{
	run_on(1, post_call, NULL);
}

TEST(a_threaded_function_outside_of_a_thread_ends_the_process)
{
	CHECK_ABORTS(run_post_call);
}

static int twice(void *unused)
{
	(void)unused;
	CHECK_EQ(wait_for(&made[0], trigger_5, &made[0]), 5);
	trigger_5(&made[0]);
	CHECK(reported(WEFT_REPORT_MISUSE,
		       "wait.tame.c:4: mkevent(x) of wait_for() is triggered a second time"));
	return 0;
}

TEST(a_second_trigger_is_told_of_when_the_thread_has_gone_on)
{
	catch_reports();
	CHECK_EQ(run_on(1, twice, NULL), 0);
}

TEST_MAIN
