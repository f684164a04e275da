/* Adapters: a deadline on any event, the first of several, all of several, trying again. What they
 * were given is triggered once; what they made is cancelled with it. */
#include "tame/common.h"

#include <unistd.h>

#include "base/fault.h"
#include "tame/tame.h"

static int lost, lost_sum;

static void lose(int value)
{
	lost++;
	lost_sum += value;
}

#include <weft/add_timeout.tame.h>
#include <weft/all_of.tame.h>
#include <weft/first_of.tame.h>

#define WEFT_T int
#define WEFT_LOST(value) lose(value)
#include <weft/add_timeout.tame.h>
#include <weft/all_of.tame.h>
#include <weft/first_of.tame.h>
#include <weft/retry.tame.h>
#undef WEFT_LOST
#undef WEFT_T

#define WEFT_T struct in_addr
#define WEFT_NAME ip
#include <weft/add_timeout.tame.h>
#undef WEFT_NAME
#undef WEFT_T

#define WEFT_T int
#define WEFT_T2 int
#define WEFT_NAME two
#include <weft/add_timeout.tame.h>
#undef WEFT_NAME
#undef WEFT_T2
#undef WEFT_T

#define NEVER (1000 * WEFT_SEC)

/* Work that never comes to an end, and knows when it was cancelled. */
static int begun, cancelled;

struct endless {
	event(int) e;
};

static void end_endless(void *arg)
{
	struct endless *w = arg;

	cancelled++;
	weft_event_drop(w->e);
	free(w);
}

static void endless(event(int) e)
{
	struct endless *w = malloc(sizeof *w);

	begun++;
	w->e = e;
	weft_on_cancel(e, end_endless, w);
}

/* Everything is done that was begun, when weft_run returns. */
static tamed (*running)(event(int));

static threaded int run_it(void *unused)
{
	int result = -1;

	(void)unused;
	twait
	{
		running(mkevent(result));
	}
	YIELD_UNTIL(wf_tame_events_in_use == 0);
	return result;
}

static int result_of(tamed (*f)(event(int)))
{
	int result;

	running = f;
	result = weft_run(run_it, NULL, NULL);
	CHECK_EQ(begun, cancelled);
	return result;
}

static tamed comes_in_time(event(int) done)
{
	event(struct in_addr) resolved;
	struct in_addr addr;
	event(int) base;
	event() plain;
	_Bool ok[3] = { false };
	int x = 0;

	twait
	{
		add_timeout_int(NEVER, &base, mkevent(ok[0], x));
		later(7, base);
		add_timeout_ip(NEVER, &resolved, mkevent(ok[1], addr));
		weft_resolve_ev("127.0.0.8", resolved);
		add_timeout(NEVER, &plain, mkevent(ok[2]));
		soon(plain);
	}
	CHECK(ok[0] && ok[1] && ok[2]);
	trigger(done, x + (int)(ntohl(addr.s_addr) & 0xff));
}

TEST(what_comes_before_its_deadline_is_told_with_its_value)
{
	CHECK_EQ(result_of(comes_in_time), 15);
}

static char *const argv_true[] = { (char *)(intptr_t) "true", NULL };

static tamed child_in_time(event(int) done)
{
	event(int, int) ended;
	int rc = -1, status = -1;
	_Bool ok = false;

	twait
	{
		add_timeout_two(NEVER, &ended, mkevent(ok, rc, status));
		weft_spawn_ev("true", argv_true, NULL, NULL, NULL, ended);
	}
	CHECK(ok);
	CHECK_EQ(rc, 0);
	trigger(done, status);
}

TEST(an_event_of_two_values_has_a_deadline_too)
{
	CHECK_EQ(result_of(child_in_time), 0);
}

static tamed comes_too_late(event(int) done)
{
	event(int) base;
	event() plain;
	_Bool ok = true, ok2 = true;
	int x = 5;

	twait
	{
		add_timeout_int(1000, &base, mkevent(ok, x));
		endless(base);
		add_timeout(1000, &plain, mkevent(ok2));
		weft_sleep_ev(NEVER, plain);
	}
	CHECK(!ok && !ok2);
	trigger(done, x);
}

TEST(what_does_not_come_before_its_deadline_is_cancelled)
{
	CHECK_EQ(result_of(comes_too_late), 0);
	CHECK_EQ(begun, 1);
}

static event(int) kept;

static void trigger_kept(void *unused)
{
	(void)unused;
	trigger(kept, 9);
}

/* Both come while the adapter is on its way. */
static tamed comes_at_the_deadline(event(int) done)
{
	event(int) base;
	_Bool ok;
	int x;

	twait
	{
		add_timeout_int(0, &base, mkevent(ok, x));
		kept = base;
		weft_after(0, weft_color_current(), trigger_kept, NULL);
	}
	if (ok)
		CHECK_EQ(x, 9);
	trigger(done, 1);
}

TEST(what_comes_at_its_deadline_is_told_or_cancelled)
{
	for (int i = 0; i < 20; i++)
		CHECK_EQ(result_of(comes_at_the_deadline), 1);
	CHECK_EQ(lost, 0);
}

static tamed takes_the_first(event(int) done)
{
	event(int) base[4];
	event() plain[3];
	int which = -1, x = 0, which2 = -1;

	twait
	{
		first_of_int(base, 4, mkevent(which, x));
		endless(base[0]);
		later(5, base[2]);
		endless(base[1]);
		endless(base[3]);
		first_of(plain, 3, mkevent(which2));
		weft_sleep_ev(NEVER, plain[0]);
		soon(plain[1]);
		weft_sleep_ev(NEVER, plain[2]);
	}
	CHECK_EQ(which2, 1);
	trigger(done, which * 10 + x);
}

TEST(the_first_of_several_wins_and_the_others_are_cancelled)
{
	CHECK_EQ(result_of(takes_the_first), 25);
	CHECK_EQ(begun, 3);
	CHECK_EQ(lost, 0);
}

static tamed several_at_once(event(int) done)
{
	event(int) base[3];
	int which = -1, x = 0;

	twait
	{
		first_of_int(base, 3, mkevent(which, x));
		trigger(base[1], 100);
		trigger(base[0], 10);
		trigger(base[2], 1);
	}
	trigger(done, which * 1000 + x);
}

TEST(values_that_come_behind_the_first_are_lost_by_the_users_function)
{
	CHECK_EQ(result_of(several_at_once), 1100);
	CHECK_EQ(lost, 2);
	CHECK_EQ(lost_sum, 11);
}

static tamed waits_for_all(event(int) done)
{
	event(int) base[3];
	event() plain[2];
	int value[3], rc = -1, rc2 = -1, rc3 = -1, rc4 = -1;

	twait
	{
		all_of_int(base, value, 3, mkevent(rc));
		later(1, base[2]);
		later(2, base[0]);
		trigger(base[1], 3);
		all_of(plain, 2, mkevent(rc2));
		soon(plain[1]);
		soon(plain[0]);
		all_of(NULL, 0, mkevent(rc3));
		all_of_int(NULL, NULL, 0, mkevent(rc4));
	}
	CHECK_EQ(rc, 0);
	CHECK_EQ(rc2, 0);
	CHECK_EQ(rc3, 0);
	CHECK_EQ(rc4, 0);
	trigger(done, value[0] * 100 + value[1] * 10 + value[2]);
}

TEST(all_of_several_are_waited_for)
{
	CHECK_EQ(result_of(waits_for_all), 231);
}

static int calls, good_at;

static void try_work(void *arg, event(int) e)
{
	CHECK(arg == &calls);
	calls++;
	if (calls == good_at)
		trigger(e, calls);
	else
		later(-EAGAIN, e);
}

static tamed tries_again(event(int) done)
{
	int x;

	twait
	{
		retry_int(try_work, &calls, 3, 1000, mkevent(x));
	}
	trigger(done, x);
}

TEST(an_operation_that_fails_is_tried_again)
{
	good_at = 3;
	CHECK_EQ(result_of(tries_again), 3);
	CHECK_EQ(calls, 3);
}

TEST(an_operation_that_always_fails_is_given_up)
{
	CHECK_EQ(result_of(tries_again), -EAGAIN);
	CHECK_EQ(calls, 3);
}

/* Cancelling goes through adapters on adapters. */
static void endless_work(void *unused, event(int) e)
{
	(void)unused;
	endless(e);
}

static tamed gives_up(event(int) done)
{
	event(int) base[2], in_time;
	int which, x, rc, value[2];
	rendezvous(int) r;
	_Bool ok;

	first_of_int(base, 2, mkevent(r, 1, which, x));
	endless(base[0]);
	weft_event_drop(base[1]);
	add_timeout_int(NEVER, &in_time, mkevent(r, 3, ok, x));
	retry_int(endless_work, NULL, 5, 1000, in_time);
	all_of_int(base, value, 2, mkevent(r, 4, rc));
	endless(base[0]);
	trigger(base[1], 6);
	twait
	{
		weft_sleep_ev(1000, mkevent());
	}
	CHECK_EQ(begun, 3);
	CHECK_EQ(cancelled, 0);
	rv_cancel(r);
	trigger(done, 1);
}

TEST(what_an_adapter_made_is_cancelled_with_what_it_was_given)
{
	catch_reports();
	CHECK_EQ(result_of(gives_up), 1);
	CHECK_EQ(cancelled, 3);
	CHECK_EQ(lost_sum, 6);
	CHECK_EQ(caught.count[WEFT_REPORT_MISUSE], 0);
}

/* The nth allocation fails: each event is triggered once all the same. */
static tamed without_memory(event(int) done)
{
	trefused (err) {
		trigger(done, err);
	}
	event(int) base[2], limited;
	int which = -2, x, value[2], rc = 1, y = 1;
	_Bool ok;

	twait
	{
		first_of_int(base, 2, mkevent(which, x));
		later(1, base[0]);
		later(2, base[1]);
	}
	CHECK(which >= -1 && which < 2);
	twait
	{
		all_of_int(base, value, 2, mkevent(rc));
		later(1, base[0]);
		later(2, base[1]);
	}
	CHECK(rc == 0 || rc == -ENOMEM);
	twait
	{
		add_timeout_int(WEFT_MS, &limited, mkevent(ok, x));
		later(1, limited);
	}
	twait
	{
		retry_int(try_work, &calls, 2, 10, mkevent(y));
	}
	CHECK(y == -ENOMEM || y == -EAGAIN);
	trigger(done, 0);
}

/* A thread that is cancelled while it waits for adapters: each tells that nothing came, or what did, and
 * what they began has ended. */
static void work_for_ever(void *arg, event(int) e)
{
	(void)arg;
	endless(e);
}

static threaded int waits_for_adapters(void *unused)
{
	event() plain[2], plain_limited;
	event(int) base[2], limited;
	int value[2] = { 7, 7 }, x = 5, which = 5, which_plain = 5, all = 5, all_plain = 5, y = 5;
	_Bool in_time = true, plain_in_time = true;

	(void)unused;
	twait {
		add_timeout_int(NEVER, &limited, mkevent(in_time, x));
		endless(limited);
		add_timeout(NEVER, &plain_limited, mkevent(plain_in_time));
		weft_sleep_ev(NEVER, plain_limited);
		all_of_int(base, value, 2, mkevent(all));
		endless(base[0]);
		trigger(base[1], 3);
		all_of(plain, 2, mkevent(all_plain));
		weft_sleep_ev(NEVER, plain[0]);
		weft_sleep_ev(NEVER, plain[1]);
		retry_int(work_for_ever, NULL, 3, 1, mkevent(y));
	}
	twait {
		first_of_int(base, 2, mkevent(which, x));
		endless(base[0]);
		endless(base[1]);
		first_of(plain, 2, mkevent(which_plain));
		weft_sleep_ev(NEVER, plain[0]);
		weft_sleep_ev(NEVER, plain[1]);
	}
	CHECK(weft_cancelled());
	CHECK(!in_time && !plain_in_time);
	CHECK_EQ(all, -ECANCELED);
	CHECK_EQ(value[0], 7);
	CHECK_EQ(value[1], 3);
	CHECK_EQ(all_plain, -ECANCELED);
	CHECK_EQ(y, -ECANCELED);
	CHECK_EQ(which, -1);
	CHECK_EQ(which_plain, -1);
	return 0;
}

static int cancels_adapters(void *unused)
{
	weft_scope s;

	(void)unused;
	begun = cancelled = 0;
	weft_scope_begin(&s);
	CHECK_EQ(weft_async_call(waits_for_adapters, NULL), 0);
	CHECK_EQ(weft_scope_cancel(&s), 0);
	CHECK_EQ(weft_scope_end(&s), 0);
	YIELD_UNTIL(atomic_load(&wf_tame_events_in_use) == 0);
	CHECK_EQ(begun, 5);
	CHECK_EQ(cancelled, 5);
	return 0;
}

TEST(a_cancelled_thread_is_told_by_adapters)
{
	CHECK_EQ(weft_run(cancels_adapters, NULL, NULL), 0);
}

TEST(any_one_failure_is_told)
{
	long n = 0;

	do {
		wf_fault_arm(++n);
		calls = 0;
		(void)result_of(without_memory);
	} while (wf_fault_site() != NULL);
	CHECK(n > 3);
}

TEST_MAIN
