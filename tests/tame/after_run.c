/* Objects for which events waited when the run was stopped. The events are gone with the memory
 * that they were in. Each call with such an object returns an error and is reported, outside of
 * runs and in the next run, until the object is made new.
 */
#include "tame/primitives.h"

static const weft_options one = { .workers = 1, .stall_ms = -1 };

static weft_tame_lock lock = WEFT_TAME_LOCK_INIT;
static weft_mutex mutex = WEFT_MUTEX_INIT, owned = WEFT_MUTEX_INIT;
static weft_channel *channel;
static int value;

static int wait_and_stop(void *unused)
{
	struct fn f;
	int rc;

	(void)unused;
	fn_begin(&f);
	CHECK_EQ(weft_trylock(&lock), 0);
	weft_lock_ev(&lock, of_none(&f, 1));
	weft_lock_shared_ev(&lock, of_none(&f, 2));
	weft_mutex_lock_ev(&owned, of_int(&f, 3, &rc));
	CHECK_EQ(next(&f), 3);
	CHECK_EQ(rc, 0);
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	weft_mutex_lock_ev(&mutex, of_int(&f, 4, &rc));
	weft_channel_receive_ev(channel, &value, of_int(&f, 5, &rc));
	CHECK_EQ(weft_stop(), 0);
	return next(&f); /* never */
}

static int reports(void)
{
	return atomic_exchange(&caught.count[WEFT_REPORT_MISUSE], 0);
}

#define LEFT_IN_USE(call) \
	do { \
		CHECK_EQ(call, -EOWNERDEAD); \
		CHECK_EQ(reports(), 1); \
		CHECK(reported(WEFT_REPORT_MISUSE, "after_run.c:")); \
	} while (0)

static void use_all(void)
{
	LEFT_IN_USE(weft_trylock(&lock));
	LEFT_IN_USE(weft_trylock_shared(&lock));
	LEFT_IN_USE(weft_unlock(&lock));
	LEFT_IN_USE(weft_mutex_trylock(&mutex));
	LEFT_IN_USE(weft_mutex_unlock(&mutex));
	LEFT_IN_USE(weft_mutex_trylock(&owned));
	LEFT_IN_USE(weft_mutex_unlock(&owned));
	LEFT_IN_USE(weft_channel_try_send(channel, &value));
	LEFT_IN_USE(weft_channel_try_receive(channel, &value));
}

/* Events are asked for by tamed functions, whose line is that of the event. */
static void use_by_events(struct fn *f)
{
	int rc;

	for (int i = 0; i < 100; i++) { /* now and then one does not try at once */
		weft_mutex_lock_ev(&mutex, of_int(f, 1, &rc));
		CHECK_EQ(next(f), 1);
		CHECK_EQ(rc, -EOWNERDEAD);
		CHECK_EQ(reports(), 1);
		weft_channel_receive_ev(channel, &value, of_int(f, 2, &rc));
		CHECK_EQ(next(f), 2);
		CHECK_EQ(rc, -EOWNERDEAD);
		CHECK_EQ(reports(), 1);
		weft_lock_ev(&lock, of_none(f, 3));
		CHECK(reports() >=
		      1); /* the event is given back, which a rendezvous reports, too */
		CHECK(!has_next(f));
	}
	CHECK(reported(WEFT_REPORT_MISUSE, "test.tame.c:"));
}

static int use_and_make_new(void *unused)
{
	struct fn f;

	(void)unused;
	use_all();
	fn_begin(&f);
	use_by_events(&f);
	CHECK_EQ(weft_tame_lock_fini(&lock), 0);
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	CHECK_EQ(weft_mutex_fini(&owned), 0);
	CHECK_EQ(weft_channel_free(channel), 0);
	weft_lock_ev(&lock, of_none(&f, 1));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(weft_unlock(&lock), 0);
	fn_end(&f);
	CHECK_EQ(reports(), 0);
	return 0;
}

TEST(what_events_waited_for_in_a_stopped_run_is_an_error_and_a_report_until_it_is_made_new)
{
	catch_reports();
	for (int round = 0; round < 2; round++) {
		CHECK((channel = weft_channel_new(sizeof value, 2)) != NULL);
		CHECK_EQ(weft_run(wait_and_stop, NULL, &one), 0);
		CHECK_EQ(reports(), 0);
		use_all();
		CHECK_EQ(weft_run(use_and_make_new, NULL, &one), 0);
	}
}

TEST_MAIN
