/* Who is to trigger an event can be told that nobody waits any more: in its own color, once, and
 * not after it has let the event go. */
#include "handmade.h"

static struct collection k;
static _Atomic int told;
static _Atomic weft_color told_in;

/* Makes an event and hands it to color 7, or keeps it. */
static void begin(void)
{
	atomic_store(&told, 0);
	k = (struct collection){ .n = 1, .wanted = 1 };
	collect(&k);
}

static void cancel(void)
{
	weft_tame_rendezvous_cancel(k.r);
}

/* Its function ends. */
static void end(void)
{
	k.made[0] = collect_mk1(k.r->closure_, k.r, 0, &k.slot);
	trigger_5(&k.made[0]);
	settle();
	CHECK(k.ended);
}

static void nothing_left(void)
{
	settle();
	CHECK_EQ(closures(), 0);
	CHECK_EQ(events(), 0);
}

static void tell(void *unused)
{
	(void)unused;
	atomic_fetch_add(&told, 1);
	atomic_store(&told_in, weft_color_current());
}

static void tell_and_trigger(void *e)
{
	tell(NULL);
	trigger_5(e);
}

static void tell_and_drop(void *e)
{
	tell(NULL);
	drop_it(e);
}

#define TWICE "is triggered a second time"

static void run(int (*fn)(void *))
{
	catch_reports();
	CHECK_EQ(run_on(1, fn, NULL), 0);
	CHECK(!reported(WEFT_REPORT_MISUSE, TWICE));
	CHECK_EQ(run_on(2, fn, NULL), 0);
	CHECK(!reported(WEFT_REPORT_MISUSE, TWICE));
}

static int_event e;

static int hook_then_cancel(void *unused)
{
	(void)unused;
	begin();
	e = k.made[0];
	weft_on_cancel(e, tell, NULL);
	cancel();
	CHECK_EQ(atomic_load(&told), 0); /* later */
	settle();
	CHECK_EQ(atomic_load(&told), 1);
	CHECK_EQ(events(), 1);
	trigger_5(&e);
	CHECK_EQ(events(), 0);
	end();
	CHECK_EQ(atomic_load(&told), 1);
	nothing_left();
	return 0;
}

TEST(a_cancel_is_told_and_then_the_event_is_let_go)
{
	run(hook_then_cancel);
}

static int cancel_then_hook(void *unused)
{
	(void)unused;
	begin();
	e = k.made[0];
	cancel();
	weft_on_cancel(e, tell_and_trigger, &e);
	CHECK_EQ(atomic_load(&told), 0);
	settle();
	CHECK_EQ(atomic_load(&told), 1);
	CHECK_EQ(events(), 0);
	end();
	nothing_left();
	return 0;
}

TEST(who_asks_after_the_cancel_is_told)
{
	run(cancel_then_hook);
}

static int trigger_before_told(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		begin();
		e = k.made[0];
		weft_on_cancel(e, tell, NULL);
		cancel();
		(i == 0 ? trigger_5 : drop_it)(&e); /* while the word is on its way */
		settle();
		CHECK_EQ(atomic_load(&told), 0);
		CHECK_EQ(events(), 0);
		end();
		nothing_left();
	}
	return 0;
}

TEST(who_has_let_the_event_go_is_not_told)
{
	run(trigger_before_told);
}

static int hook_then_trigger(void *unused)
{
	(void)unused;
	begin();
	weft_on_cancel(k.made[0], tell, NULL);
	trigger_5(&k.made[0]);
	nothing_left();
	CHECK(k.ended);
	CHECK_EQ(k.slot, 5);

	begin();
	weft_on_cancel(k.made[0], tell, NULL);
	drop_it(&k.made[0]);
	end();
	nothing_left();
	CHECK_EQ(atomic_load(&told), 0);
	return 0;
}

TEST(who_triggers_in_time_is_not_told)
{
	run(hook_then_trigger);
}

static void tell_wrong(void *unused)
{
	(void)unused;
	atomic_fetch_add(&told, 100);
}

static int hook_twice(void *unused)
{
	(void)unused;
	begin();
	e = k.made[0];
	weft_on_cancel(e, tell_wrong, NULL);
	weft_on_cancel(e, tell, NULL);
	cancel();
	settle();
	CHECK_EQ(atomic_load(&told), 1);
	weft_on_cancel(e, tell, NULL); /* again, after it was told */
	settle();
	CHECK_EQ(atomic_load(&told), 2);
	weft_on_cancel(e, tell_wrong, NULL);
	weft_on_cancel(e, tell_and_drop, &e); /* while the word is on its way */
	settle();
	CHECK_EQ(atomic_load(&told), 3);
	CHECK_EQ(events(), 0);
	end();
	nothing_left();
	return 0;
}

TEST(the_last_one_who_asked_is_told)
{
	run(hook_twice);
}

/* The event is in the hands of color 7. */
static _Atomic int steps;

static void hook_in_7(void *unused)
{
	(void)unused;
	weft_on_cancel(e, tell_and_drop, &e);
	atomic_fetch_add(&steps, 1);
}

static int hook_elsewhere(void *order)
{
	begin();
	e = k.made[0];
	atomic_store(&steps, 0);
	if (order != NULL)
		cancel();
	CHECK_EQ(weft_post(7, hook_in_7, NULL), 0);
	if (order == NULL) {
		YIELD_UNTIL(atomic_load(&steps) == 1);
		cancel();
	}
	YIELD_UNTIL(atomic_load(&told) == 1);
	YIELD_UNTIL(events() == 0);
	CHECK_EQ(atomic_load(&told_in), 7);
	end();
	nothing_left();
	return 0;
}

TEST(it_is_told_in_the_color_of_who_asked)
{
	for (int workers = 1; workers <= 2; workers++)
		for (int order = 0; order < 2; order++) {
			catch_reports();
			CHECK_EQ(run_on(workers, hook_elsewhere, order ? "" : NULL), 0);
		}
}

static void trigger_hooked(void *unused)
{
	(void)unused;
	foreign(trigger_5, &e);
}

static int hook_here_trigger_there(void *unused)
{
	(void)unused;
	begin();
	e = k.made[0];
	weft_on_cancel(e, tell, NULL);
	trigger_hooked(NULL);
	CHECK(reported(WEFT_REPORT_MISUSE,
		       "collect.tame.c:7: mkevent(r, i, k->slot) of collect() is used in another "
		       "color than the one that is told if it is cancelled"));
	nothing_left();
	return 0;
}

TEST(a_trigger_in_another_color_than_the_one_that_is_told_is_misuse)
{
	run(hook_here_trigger_there);
}

static int hook_after_trigger(void *unused)
{
	(void)unused;
	begin();
	trigger_5(&k.made[0]);
	weft_on_cancel(k.made[0], tell, NULL);
	CHECK(reported(WEFT_REPORT_MISUSE, TWICE));
	nothing_left();
	CHECK_EQ(atomic_load(&told), 0);
	return 0;
}

TEST(who_asks_after_the_trigger_is_told_of_that)
{
	catch_reports();
	CHECK_EQ(run_on(1, hook_after_trigger, NULL), 0);
}

static _Atomic int result;

static int hook_block(void *unused)
{
	int_event made;

	(void)unused;
	sum(1, &made, &result);
	weft_on_cancel(made, tell, NULL);
	trigger_5(&made);
	nothing_left();
	CHECK_EQ(atomic_load(&told), 0);
	return 0;
}

TEST(events_of_blocks_are_never_cancelled)
{
	run(hook_block);
}

/* Notes: events that tell of a cancel. Of a rendezvous of their own. */

static struct collection notes;
static plain_event note;

static void trigger_note(weft_tame_event *self)
{
	trigger_of_r(self, 9);
}

static void make_note(void)
{
	weft_tame_event *first;

	notes = (struct collection){ .n = 2, .wanted = 1, .cancels = true };
	collect(&notes);
	first = (weft_tame_event *)(uintptr_t)notes.made[0];
	weft_tame_event_init(first, trigger_note, &collect_s1);
	note = (plain_event)first;
}

static void begin_with_note(void)
{
	make_note();
	begin();
	e = k.made[0];
	weft_tell_cancel(e, note);
}

static int note_told(void *unused)
{
	(void)unused;
	begin_with_note();
	cancel();
	settle();
	CHECK(notes.ended);
	CHECK_EQ(notes.id[0], 0);
	CHECK_EQ(notes.value[0], 9);
	CHECK_EQ(events(), 2);
	drop_it(&notes.made[1]);
	drop_it(&e);
	end();
	nothing_left();
	return 0;
}

TEST(a_note_is_triggered_by_the_cancel)
{
	run(note_told);
}

static int note_dropped(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		begin_with_note();
		if (i == 2)
			cancel(); /* the word of it will be too late */
		(i == 1 ? drop_it : trigger_5)(&e);
		settle();
		CHECK_EQ(notes.count, 0);
		trigger_5(&notes.made[1]);
		settle();
		CHECK(notes.ended);
		if (i > 0)
			end();
		nothing_left();
	}
	return 0;
}

TEST(a_note_is_given_back_when_the_event_is_let_go)
{
	run(note_dropped);
}

static int note_of_block(void *unused)
{
	int_event made;

	(void)unused;
	make_note();
	sum(1, &made, &result);
	weft_tell_cancel(made, note);
	CHECK_EQ(events(), 2);
	trigger_5(&made);
	trigger_5(&notes.made[1]);
	nothing_left();
	CHECK(notes.ended);
	return 0;
}

TEST(a_note_for_an_event_of_a_block_is_given_back_at_once)
{
	run(note_of_block);
}

static int note_replaced(void *unused)
{
	(void)unused;
	begin_with_note();
	weft_on_cancel(e, tell, NULL);
	CHECK_EQ(events(), 2); /* e and the other note */
	trigger_5(&notes.made[1]);
	trigger_5(&e);
	nothing_left();
	return 0;
}

TEST(a_note_is_given_back_when_another_asks)
{
	run(note_replaced);
}

TEST_MAIN
