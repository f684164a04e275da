/* Threads: they begin in the right color, are atomic between waits, give their
 * result to one who joins, and leave nothing behind.
 */
#include "scheduler/common.h"

#include <fenv.h>
#include <stdio.h>

#include "threads/thread.h"

static int give(void *arg)
{
	return (int)(intptr_t)arg;
}

static int run(int (*fn)(void *), int workers)
{
	weft_options opt = { .workers = workers };

	return weft_run(fn, NULL, &opt);
}

/* Colors */

static weft_color seen[2];

static int note_color(void *slot)
{
	*(weft_color *)slot = weft_color_current();
	return 0;
}

static void start_in_handler(void *unused)
{
	(void)unused;
	CHECK(weft_self() == NULL);
	CHECK_EQ(weft_go(note_color, &seen[0]), 0);
	CHECK_EQ(weft_go_on(9, note_color, &seen[1]), 0);
}

static int post_starter(void *unused)
{
	(void)unused;
	CHECK(weft_self() != NULL);
	CHECK_EQ(weft_post(5, start_in_handler, NULL), 0);
	return 3;
}

TEST(a_thread_starts_in_its_creators_color_or_the_one_named)
{
	CHECK_EQ(run(post_starter, 2), 3);
	CHECK_EQ(seen[0], 5);
	CHECK_EQ(seen[1], 9);
}

static long plain_counter;

/* Without a wait in between, nobody of the color can come in between. */
static int increment(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++) {
		long was = plain_counter;

		sched_yield();
		plain_counter = was + 1;
		weft_yield();
	}
	return 0;
}

static int start_incrementers(void *unused)
{
	int n = TEST_SIZE(1000);

	(void)unused;
	for (int i = 0; i < n; i++)
		CHECK_EQ(weft_go(increment, NULL), 0);
	return n;
}

TEST(threads_of_one_color_lose_nothing_without_a_lock)
{
	long n = run(start_incrementers, 2);

	CHECK_EQ(plain_counter, 100 * n);
}

/* Hopping: the variable belongs to color 77, whoever comes there. */
static int hop_and_increment(void *unused)
{
	weft_color home = weft_color_current();

	(void)unused;
	for (int i = 0; i < 100; i++) {
		long was;

		CHECK_EQ(weft_hop(77), 0);
		CHECK_EQ(weft_color_current(), 77);
		was = plain_counter;
		sched_yield();
		plain_counter = was + 1;
		CHECK_EQ(weft_hop(home), 0);
		CHECK_EQ(weft_color_current(), home);
	}
	return 0;
}

static int start_hoppers(void *unused)
{
	(void)unused;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_go_on(weft_color_new(), hop_and_increment, NULL), 0);
	return 0;
}

TEST(a_thread_that_hops_is_bound_by_the_color_it_is_in)
{
	CHECK_EQ(run(start_hoppers, 4), 0);
	CHECK_EQ(plain_counter, 100 * 100);
}

static int hop_astray(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hop(UINT64_MAX), -EINVAL);
	CHECK_EQ(weft_color_current(), WEFT_MAIN);
	CHECK_EQ(weft_hop(WEFT_MAIN), 0);
	return 0;
}

TEST(a_hop_to_a_color_never_made_is_refused)
{
	catch_reports();
	CHECK_EQ(run(hop_astray, 1), 0);
	CHECK(reported(WEFT_REPORT_MISUSE, __FILE__));
}

/* Joining */

static int join_some(void *unused)
{
	weft_thread *t, *never = NULL;
	int result;

	(void)unused;
	for (int i = 0; i < 100; i++) {
		weft_thread_attr attr = { .on = i % 2 != 0, .color = (weft_color)i };

		CHECK_EQ(weft_thread_start(&t, &attr, give, (void *)(intptr_t)i), 0);
		if (i % 3 == 0)
			weft_yield();
		CHECK_EQ(weft_join(t, &result), 0);
		CHECK_EQ(result, i);
	}
	CHECK_EQ(weft_join(weft_self(), NULL), -EDEADLK);
	CHECK_EQ(weft_thread_start(&never, NULL, NULL, NULL), -EINVAL);
	CHECK(never == NULL);
	return 0;
}

TEST(a_join_gives_the_result_whether_the_thread_has_ended_or_not)
{
	catch_reports();
	CHECK_EQ(run(join_some, 1), 0);
	CHECK_EQ(run(join_some, 3), 0);
}

static weft_thread *held;

static int park_until_released(void *gate)
{
	while (!atomic_load((atomic_bool *)gate))
		weft_yield();
	return 8;
}

static int second_joiner(void *unused)
{
	(void)unused;
	return weft_join(held, NULL);
}

static int join_twice(void *unused)
{
	atomic_bool gate = false;
	weft_thread *other;
	int result;

	(void)unused;
	CHECK_EQ(weft_thread_start(&held, NULL, park_until_released, &gate), 0);
	CHECK_EQ(weft_join_until(held, &result, 0), -ETIMEDOUT);
	CHECK_EQ(weft_thread_start(&other, NULL, second_joiner, NULL), 0);
	weft_yield();
	CHECK_EQ(weft_join(held, &result), -EBUSY);
	CHECK_EQ(weft_detach(held), -EBUSY);
	atomic_store(&gate, true);
	CHECK_EQ(weft_join(other, &result), 0);
	CHECK_EQ(result, 0);
	return 0;
}

TEST(one_thread_joins_another_and_a_deadline_gives_the_bond_back)
{
	CHECK_EQ(run(join_twice, 2), 0);
}

static int detach_some(void *unused)
{
	atomic_bool gate = false;
	weft_thread *t;

	(void)unused;
	CHECK_EQ(weft_thread_start(&t, NULL, park_until_released, &gate), 0);
	CHECK_EQ(weft_detach(t), 0);
	CHECK_EQ(weft_detach(t), -EINVAL);
	CHECK_EQ(weft_join(t, NULL), -EINVAL);
	atomic_store(&gate, true);
	CHECK_EQ(weft_thread_start(&t, NULL, give, NULL), 0);
	for (int i = 0; i < 10; i++)
		weft_yield();
	CHECK_EQ(weft_detach(t), 0);
	return 0;
}

TEST(a_detached_thread_is_freed_whether_it_has_ended_or_not)
{
	CHECK_EQ(run(detach_some, 1), 0);
}

/* Order */

static char order[32];

static int append_letters(void *letter)
{
	for (int i = 0; i < 3; i++) {
		size_t n = strlen(order);

		order[n] = *(const char *)letter;
		weft_yield();
	}
	return 0;
}

static int alternate(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_go(append_letters, (void *)(uintptr_t) "a"), 0);
	CHECK_EQ(weft_go(append_letters, (void *)(uintptr_t) "b"), 0);
	return 0;
}

TEST(threads_of_one_color_take_turns)
{
	CHECK_EQ(run(alternate, 2), 0);
	CHECK_STR(order, "ababab");
}

static int append_one(void *letter)
{
	order[strlen(order)] = *(const char *)letter;
	return 0;
}

static int yield_to_the_last(void *unused)
{
	weft_thread *t[3];

	(void)unused;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_thread_start(&t[i], NULL, append_one, &"abc"[i]), 0);
	CHECK_EQ(weft_yield_to(t[2]), 0);
	order[strlen(order)] = '.';
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_join(t[i], NULL), 0);
	return 0;
}

TEST(yield_to_lets_that_thread_run_first)
{
	weft_options opt = { .workers = 1, .batch = 100 };

	CHECK_EQ(weft_run(yield_to_the_last, NULL, &opt), 0);
	CHECK_STR(order, "cab.");
}

/* Time */

static int sleep_and_look(void *until)
{
	uint64_t when = *(uint64_t *)until;

	CHECK_EQ(weft_sleep_until(when), 0);
	CHECK(weft_now() >= when);
	CHECK_EQ(weft_sleep(0), 0);
	return 0;
}

static int start_sleepers(void *unused)
{
	static uint64_t when[200];

	(void)unused;
	for (int i = 0; i < 200; i++) {
		when[i] = weft_now() + (uint64_t)(i % 7) * WEFT_MS;
		CHECK_EQ(weft_go_on((weft_color)(i % 9), sleep_and_look, &when[i]), 0);
	}
	return 0;
}

TEST(a_sleeper_is_never_early)
{
	CHECK_EQ(run(start_sleepers, 2), 0);
}

/* Slots and cleanups */

static weft_key key;
static int destroyed;

static void destroy(void *value)
{
	destroyed += (int)(intptr_t)value;
	if (destroyed < 100) /* a destructor may set a slot again */
		CHECK_EQ(weft_key_set(key, (void *)100), 0);
}

static int use_slot(void *value)
{
	CHECK(weft_key_get(key) == NULL);
	CHECK_EQ(weft_key_set(key, value), 0);
	weft_yield();
	CHECK(weft_key_get(key) == value);
	return 0;
}

static int use_slots(void *unused)
{
	weft_thread *t[5];
	weft_key old;

	(void)unused;
	CHECK_EQ(weft_key_new(&key, destroy), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_thread_start(&t[i], NULL, use_slot, (void *)(intptr_t)(i + 1)), 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(weft_join(t[i], NULL), 0);
	CHECK(destroyed >= 100);
	CHECK_EQ(weft_key_free(key), 0);
	CHECK_EQ(weft_key_free(key), -EINVAL);
	old = key;
	CHECK_EQ(weft_key_new(&key, NULL), 0);
	CHECK(key != old);
	CHECK_EQ(weft_key_set(old, &old), -EINVAL);
	CHECK(weft_key_get(key) == NULL);
	CHECK_EQ(weft_key_free(key), 0);
	return 0;
}

TEST(each_thread_has_its_own_value_in_a_slot)
{
	CHECK_EQ(run(use_slots, 1), 0);
	CHECK_EQ(weft_key_set(1, NULL), -EPERM);
	CHECK(weft_key_get(1) == NULL);
}

TEST(slots_run_out_with_an_error)
{
	static weft_key keys[1024];
	weft_key more;

	for (int i = 0; i < 1024; i++)
		CHECK_EQ(weft_key_new(&keys[i], NULL), 0);
	CHECK_EQ(weft_key_new(&more, NULL), -EAGAIN);
	for (int i = 0; i < 1024; i++)
		CHECK_EQ(weft_key_free(keys[i]), 0);
}

static void append_cleanup(void *letter)
{
	order[strlen(order)] = *(const char *)letter;
}

static void exit_deeper(void)
{
	weft_cleanup c;

	CHECK_EQ(weft_cleanup_push(&c, append_cleanup, (void *)(uintptr_t) "c"), 0);
	weft_exit(77);
}

static void exit_deep(void)
{
	weft_cleanup c;

	CHECK_EQ(weft_cleanup_push(&c, append_cleanup, (void *)(uintptr_t) "c"), 0);
	exit_deeper();
}

static int leave_early(void *unused)
{
	weft_cleanup a, b;

	(void)unused;
	CHECK_EQ(weft_cleanup_push(&a, append_cleanup, (void *)(uintptr_t) "a"), 0);
	CHECK_EQ(weft_cleanup_push(&b, append_cleanup, (void *)(uintptr_t) "b"), 0);
	CHECK_EQ(weft_cleanup_pop(true), 0);
	exit_deep();
	return 0;
}

static int join_the_leaver(void *unused)
{
	weft_thread *t;
	int result;

	(void)unused;
	CHECK_EQ(weft_thread_start(&t, NULL, leave_early, NULL), 0);
	CHECK_EQ(weft_join(t, &result), 0);
	CHECK_EQ(weft_cleanup_pop(false), -ENOENT);
	return result;
}

TEST(cleanups_run_last_pushed_first_when_a_thread_exits)
{
	CHECK_EQ(run(join_the_leaver, 1), 77);
	CHECK_STR(order, "bcca");
	CHECK_EQ(weft_cleanup_pop(true), -EPERM);
}

static int look_at_names(void *unused)
{
	weft_thread_attr attr = { .name = "a name longer than fifteen letters" };
	weft_thread *t;

	(void)unused;
	CHECK_STR(weft_thread_name(weft_self()), "main");
	CHECK_EQ(weft_thread_set_name(NULL, "me"), 0);
	CHECK_STR(weft_thread_name(weft_self()), "me");
	CHECK_EQ(weft_thread_start(&t, &attr, give, NULL), 0);
	CHECK_STR(weft_thread_name(t), "a name longer t");
	return weft_join(t, NULL);
}

TEST(threads_have_names)
{
	CHECK_EQ(run(look_at_names, 1), 0);
	CHECK_EQ(weft_thread_set_name(NULL, "nobody"), -EPERM);
}

/* Where threads cannot be */

static void wait_in_handler(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_yield(), -EPERM);
	CHECK_EQ(weft_sleep(1), -EPERM);
	CHECK_EQ(weft_hop(3), -EPERM);
	CHECK_EQ(weft_join(held, NULL), -EPERM);
}

static int post_waiter(void *unused)
{
	(void)unused;
	return weft_post(4, wait_in_handler, NULL);
}

TEST(calls_that_wait_are_refused_outside_of_threads)
{
	CHECK_EQ(run(post_waiter, 1), 0);
	CHECK_EQ(weft_yield(), -EPERM);
	CHECK_EQ(weft_go(give, NULL), -ESHUTDOWN);
	CHECK(weft_self() == NULL);
}

static atomic_int started_here;

static int count_start(void *unused)
{
	(void)unused;
	atomic_fetch_add(&started_here, 1);
	return 0;
}

static void *foreign(void *unused)
{
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_go_on((weft_color)i, count_start, NULL), 0);
	CHECK_EQ(weft_drop(), 0);
	return unused;
}

static int hold_for_foreign(void *thread)
{
	CHECK_EQ(weft_hold(), 0);
	*(pthread_t *)thread = thread_start(foreign, NULL);
	return 0;
}

TEST(foreign_kernel_threads_may_start_threads)
{
	pthread_t thread;

	CHECK_EQ(weft_run(hold_for_foreign, &thread, NULL), 0);
	thread_join(thread);
	CHECK_EQ(atomic_load(&started_here), 100);
}

/* The end of a run */

static weft_thread *pair[2];

static int join_the_other(void *me)
{
	return weft_join(pair[1 - (intptr_t)me], NULL);
}

static int wait_for_each_other(void *unused)
{
	(void)unused;
	for (intptr_t i = 0; i < 2; i++)
		CHECK_EQ(weft_thread_start(&pair[i], NULL, join_the_other, (void *)i), 0);
	return 6;
}

static int wait_for_nothing(void *unused)
{
	struct wf_wait wait = { .what = "nothing" };

	(void)unused;
	wf_park(&wait);
	return 1;
}

TEST(a_run_whose_threads_wait_for_nothing_ends_and_says_so)
{
	catch_reports();
	CHECK_EQ(run(wait_for_nothing, 2), -EDEADLK);
	CHECK(reported(WEFT_REPORT_MISUSE, "deadlock"));
	CHECK_EQ(run(wait_for_each_other, 1), 6);
}

static int sleep_for_ever(void *unused)
{
	void *memory = malloc(10);

	(void)unused;
	CHECK_EQ(weft_sleep_until(WEFT_FOREVER - 1), 0);
	free(memory);
	return 0;
}

static int stop_sleepers(void *unused)
{
	weft_thread *t;

	(void)unused;
	for (int i = 0; i < 50; i++)
		CHECK_EQ(weft_thread_start(&t, NULL, sleep_for_ever, NULL), 0);
	for (int i = 0; i < 3; i++)
		weft_yield();
	CHECK_EQ(weft_stop(), 0);
	CHECK_EQ(weft_go(give, NULL), -ESHUTDOWN);
	return 12;
}

TEST(a_stop_ends_the_run_under_threads_that_wait)
{
	CHECK_EQ(run(stop_sleepers, 2), 12);
}

/* Registers */

static int round_up_and_yield(void *unused)
{
	(void)unused;
	CHECK_EQ(fesetround(FE_UPWARD), 0);
	weft_yield();
	CHECK_EQ(fesetround(FE_TONEAREST), 0);
	return 0;
}

static int start_rounder(void *unused)
{
	(void)unused;
	CHECK_EQ(weft_go(round_up_and_yield, NULL), 0);
	weft_yield();
	return 0;
}

TEST(a_thread_that_waits_with_its_own_rounding_mode_is_told)
{
	catch_reports();
	CHECK_EQ(run(start_rounder, 1), 0);
	CHECK(reported(WEFT_REPORT_MISUSE, "rounding mode"));
}

/* Values that live in registers across the wait, integers and doubles. */
static int keep_registers(void *arg)
{
	uint64_t a = (uintptr_t)arg, b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13;
	double x = (double)a / 3, y = (double)a / 7, z = x * y;

	for (uint64_t i = 0; i < 200; i++) {
		uint64_t sum = a + b + c + d + e + f;
		double area = x * y + z;

		weft_yield();
		CHECK_EQ(a + b + c + d + e + f, sum);
		CHECK(x * y + z == area);
		a += i, b ^= a, c += b, d ^= c, e += d, f ^= e;
		x += 0.5, y -= 0.25, z = x / (y * y + 1);
	}
	return 0;
}

static int start_keepers(void *unused)
{
	(void)unused;
	for (uintptr_t i = 1; i <= 50; i++)
		CHECK_EQ(weft_go_on((weft_color)(i % 5), keep_registers, (void *)i), 0);
	return 0;
}

TEST(what_is_in_registers_is_kept_across_waits)
{
	CHECK_EQ(run(start_keepers, 3), 0);
}

TEST_MAIN
