/* Tamed functions and scopes: bodies and threads wait for events, and a cancel of their scope does
 * not let them return before these. */
#include "handmade.h"

static int_event made[MADE_MAX];
static _Atomic int result;

/* A tamed call inside of a finish block: the block does not wait for it, as nobody in it does. */
static int call_inside(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	atomic_store(&result, 0);
	sum(1, made, &result);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(atomic_load(&result), 0);
	CHECK_EQ(closures(), 1);
	trigger_5(&made[0]);
	settle();
	return atomic_load(&result);
}

TEST(a_tamed_call_outlives_the_block_that_it_was_called_in)
{
	CHECK_EQ(run_on(1, call_inside, NULL), 5);
}

static void call_add(void *done)
{
	add(100, &made[1], *(int_event *)done);
}

static int body_waits(void *sum_of)
{
	atomic_fetch_add((_Atomic int *)sum_of, wait_for(&made[0], call_add, &made[0]));
	return 0;
}

static int wait_in_body(void *unused)
{
	_Atomic int sum_of = 0;
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(body_waits, &sum_of), 0);
	CHECK_EQ(atomic_load(&sum_of), 0);
	CHECK_EQ(closures(), 1);
	CHECK_EQ(weft_post(7, trigger_5, &made[1]), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
	return atomic_load(&sum_of);
}

TEST(a_finish_block_waits_for_a_body_that_waits_for_a_tamed_function)
{
	CHECK_EQ(run_on(1, wait_in_body, NULL), 105);
	CHECK_EQ(run_on(2, wait_in_body, NULL), 105);
}

static int body_at_once(void *sum_of)
{
	atomic_fetch_add((_Atomic int *)sum_of, wait_for(&made[0], trigger_5, &made[0]));
	return 0;
}

static int at_once(void *unused)
{
	_Atomic int sum_of = 0;
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(body_at_once, &sum_of), 0);
	CHECK_EQ(atomic_load(&sum_of), 5); /* it did not have to wait */
	return weft_scope_end(&s);
}

TEST(a_body_that_need_not_wait_for_its_event_has_ended_at_once)
{
	CHECK_EQ(run_on(1, at_once, NULL), 0);
}

/* Cancels */

static _Atomic int ended;

static int twait_and_tell(void *i)
{
	int x = wait_for(&made[(intptr_t)i], nothing, NULL);

	CHECK_EQ(x, 5);
	CHECK(weft_cancelled());
	atomic_fetch_add(&ended, 1);
	CHECK_EQ(weft_sleep(100 * WEFT_SEC), -ECANCELED);
	return 0;
}

static int cancel_while_waiting(void *unused)
{
	weft_scope s;

	(void)unused;
	atomic_store(&ended, 0);
	memset(made, 0, sizeof made);
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(twait_and_tell, (void *)0), 0);
	CHECK_EQ(weft_go(twait_and_tell, (void *)1), 0);
	CHECK_EQ(weft_go_on(4, twait_and_tell, (void *)2), 0);
	YIELD_UNTIL(made[1] != NULL);
	CHECK_EQ(weft_hop(4), 0);
	YIELD_UNTIL(made[2] != NULL);
	CHECK_EQ(weft_hop(WEFT_MAIN), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	settle();
	CHECK_EQ(weft_hop(4), 0);
	settle();
	CHECK_EQ(weft_hop(WEFT_MAIN), 0);
	CHECK_EQ(atomic_load(&ended), 0);
	CHECK_EQ(events(), 3);
	trigger_5(&made[0]);
	foreign(trigger_5, &made[1]);
	CHECK_EQ(weft_post(7, trigger_5, &made[2]), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	CHECK_EQ(atomic_load(&ended), 3);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_cancel_does_not_end_a_wait_for_events)
{
	CHECK_EQ(run_on(1, cancel_while_waiting, NULL), 0);
	CHECK_EQ(run_on(2, cancel_while_waiting, NULL), 0);
}

/* The cancel reaches the operation instead, by a cancel item that triggers the event: so the
 * wait ends soon, and exactly once. */
static void stop_operation(void *e)
{
	weft_trigger(*(int_event *)e, -ECANCELED);
}

static int wait_with_item(void *e)
{
	weft_cancel_item item;
	struct wait_c c;
	int x = 0;

	weft_tame_thread_enter(&c.t, &wait_f);
	weft_tame_thread_block(&c.t, &c.join);
	*(int_event *)e = wait_mk1(&c, &x);
	CHECK_EQ(weft_cancel_item_add(&item, stop_operation, e), 0);
	weft_tame_thread_join(&c.t, &c.join);
	weft_tame_thread_leave(&c.t);
	(void)weft_cancel_item_remove(&item);
	return x;
}

static int cancel_reaches(void *unused)
{
	weft_scope s;

	(void)unused;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(wait_with_item, &made[0]), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	(void)weft_scope_end(&s);
	CHECK_EQ(events(), 0);
	return 0;
}

TEST(a_cancel_item_may_trigger_the_event_that_is_waited_for)
{
	CHECK_EQ(run_on(1, cancel_reaches, NULL), 0);
}

/* The other way round: the end of a scope, told by an event. */
static int finish_then_trigger(void *e)
{
	weft_scope s;

	weft_scope_begin(&s);
	CHECK_EQ(weft_go(twait_and_tell, (void *)1), 0);
	CHECK_EQ(weft_go(twait_and_tell, (void *)2), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	trigger_5(e);
	return 0;
}

static int wait_for_scope(void *unused)
{
	(void)unused;
	atomic_store(&ended, 0);
	memset(made, 0, sizeof made);
	atomic_store(&result, 0);
	sum(1, made, &result);
	CHECK_EQ(weft_go(finish_then_trigger, &made[0]), 0);
	YIELD_UNTIL(made[2] != NULL);
	settle();
	CHECK_EQ(atomic_load(&result), 0);
	trigger_5(&made[1]);
	trigger_5(&made[2]);
	YIELD_UNTIL(atomic_load(&result) != 0);
	CHECK_EQ(atomic_load(&ended), 2);
	return 0;
}

TEST(a_tamed_function_waits_for_the_end_of_a_scope)
{
	CHECK_EQ(run_on(1, wait_for_scope, NULL), 0);
}

TEST_MAIN
