/* Channels, mutexes, threads, scopes and locks, as events. */
#include "tame/primitives.h"

static int send_two(void *ch)
{
	int x = 1, y = 2;

	CHECK_EQ(weft_channel_send(ch, &x), 0);
	CHECK_EQ(weft_channel_send(ch, &y), 0);
	return 0;
}

THREAD_TEST(messages_come_from_threads_and_go_to_threads, 2)
{
	struct fn f;
	int rc = -1, rc2 = -1, x = 0, y = 0;

	fn_begin(&f);
	for (size_t capacity = 0; capacity < 3; capacity++) {
		weft_channel *ch = weft_channel_new(sizeof(int), capacity);

		CHECK_EQ(weft_go_on(weft_color_new(), send_two, ch), 0);
		BLOCK (&f) {
			weft_channel_receive_ev(ch, &x, in_int(&f, &rc));
			weft_channel_receive_ev(ch, &y, in_int(&f, &rc2));
		}
		CHECK_EQ(rc, 0);
		CHECK_EQ(rc2, 0);
		CHECK_EQ(x, 1);
		CHECK_EQ(y, 2);
		weft_channel_send_ev(ch, &x, of_int(&f, 1, &rc));
		weft_channel_send_ev(ch, &y, of_int(&f, 2, &rc));
		weft_channel_send_ev(ch, &x, of_int(&f, 3, &rc));
		for (int i = 0; i < 3; i++) {
			int z;

			CHECK_EQ(weft_channel_receive(ch, &z), 0);
			CHECK_EQ(z, i == 1 ? 2 : 1);
			CHECK_EQ(next(&f), i + 1);
		}
		BLOCK (&f) {
			weft_channel_receive_ev(ch, &x, in_int(&f, &rc));
			CHECK_EQ(weft_channel_close(ch), 0);
		}
		CHECK_EQ(rc, -EPIPE);
		BLOCK (&f)
			weft_channel_send_ev(ch, &x, in_int(&f, &rc));
		CHECK_EQ(rc, -EPIPE);
		CHECK_EQ(weft_channel_free(ch), 0);
	}
	fn_end(&f);
	return 0;
}

static void *send_outside(void *ch)
{
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(weft_channel_send(ch, &i), 0);
	return NULL;
}

THREAD_TEST(messages_come_from_foreign_threads_in_order, 2)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 3);
	pthread_t thread;
	struct fn f;
	int rc = -1, x = -1;

	fn_begin(&f);
	CHECK_EQ(weft_hold(), 0);
	thread = thread_start(send_outside, ch);
	for (int i = 0; i < 1000; i++) {
		BLOCK (&f)
			weft_channel_receive_ev(ch, &x, in_int(&f, &rc));
		CHECK_EQ(rc, 0);
		CHECK_EQ(x, i);
	}
	thread_join(thread);
	CHECK_EQ(weft_drop(), 0);
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_message_that_came_when_nobody_wanted_it_is_the_next, 1)
{
	struct fn f;

	fn_begin(&f);
	for (size_t capacity = 0; capacity < 4; capacity++) {
		weft_channel *ch =
			weft_channel_new(sizeof(int), capacity < 3 ? capacity : WEFT_UNBOUNDED);
		int *gone = malloc(sizeof *gone), rc = 5, x = 7, y = 0;

		weft_channel_receive_ev(ch, gone, of_int(&f, 1, &rc));
		CHECK_EQ(weft_channel_try_send(ch, &x), 0); /* it has it, and does not know yet */
		x = 8;
		if (capacity > 1)
			CHECK_EQ(weft_channel_try_send(ch, &x), 0);
		cancel(&f);
		free(gone);
		settle();
		CHECK(!has_next(&f));
		CHECK_EQ(rc, 5);
		CHECK_EQ(weft_channel_try_receive(ch, &y), 0);
		CHECK_EQ(y, 7);
		if (capacity > 1) {
			CHECK_EQ(weft_channel_try_receive(ch, &y), 0);
			CHECK_EQ(y, 8);
		}
		CHECK_EQ(weft_channel_try_receive(ch, &y), -EAGAIN);
		settle();
		CHECK_EQ(weft_channel_free(ch), 0);
	}
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_message_that_goes_back_keeps_its_place_around_the_ring, 1)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 4);
	struct fn f;
	int rc = 0, to = 0, sent = 0, got = 0, x;

	fn_begin(&f);
	for (int i = 0; i < 50; i++) {
		weft_channel_receive_ev(ch, &to, of_int(&f, 1, &rc));
		for (int k = 0; k < 1 + i % 4; k++, sent++)
			CHECK_EQ(weft_channel_try_send(ch, &sent), 0);
		cancel(&f);
		settle();
		for (; got < sent; got++) {
			CHECK_EQ(weft_channel_try_receive(ch, &x), 0);
			CHECK_EQ(x, got);
		}
	}
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_message_that_goes_back_to_a_full_channel_is_not_lost, 1)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 2);
	struct fn f;
	int rc = 0, to = 0, sum = 0, x;

	fn_begin(&f);
	weft_channel_receive_ev(ch, &to, of_int(&f, 1, &rc));
	for (x = 1; x <= 4; x *= 2)
		CHECK_EQ(weft_channel_try_send(ch, &x), 0);
	cancel(&f);
	settle();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(weft_channel_try_receive(ch, &x), 0);
		sum += x;
	}
	CHECK_EQ(sum, 7);
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_message_that_goes_back_to_a_full_channel_comes_before_those_who_wait, 1)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 2);
	struct fn f, g;
	int rc = 0, to = 0, rcs[4], x;

	fn_begin(&f);
	fn_begin(&g);
	weft_channel_receive_ev(ch, &to, of_int(&f, 1, &rc));
	for (x = 3; x > 0; x--)
		CHECK_EQ(weft_channel_try_send(ch, &x), 0);
	for (x = 4; x < 8; x++)
		weft_channel_send_ev(ch, &x, of_int(&g, x, &rcs[x - 4]));
	cancel(&f); /* it had 3 */
	settle();
	for (int i = 0; i < 7; i++) {
		static const int order[] = { 2, 1, 3, 4, 5, 6, 7 };

		CHECK_EQ(weft_channel_try_receive(ch, &x), 0);
		CHECK_EQ(x, order[i]);
	}
	for (x = 4; x < 8; x++)
		CHECK_EQ(next(&g), x);
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&g);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_message_that_goes_back_goes_to_who_waits, 1)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct fn f, g;
	int rc = -1, rc2 = -1, x = 3, to = 0, to2 = 0;

	fn_begin(&f);
	fn_begin(&g);
	weft_channel_receive_ev(ch, &to, of_int(&f, 1, &rc));
	weft_channel_receive_ev(ch, &to2, of_int(&g, 2, &rc2));
	CHECK_EQ(weft_channel_try_send(ch, &x), 0);
	cancel(&f);
	CHECK_EQ(next(&g), 2);
	CHECK_EQ(rc2, 0);
	CHECK_EQ(to2, 3);
	CHECK_EQ(to, 0);
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&g);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_cancelled_send_was_not_sent_and_leaves_the_channel, 1)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct fn f;
	int rc = -1, x = 3;

	fn_begin(&f);
	weft_channel_send_ev(ch, &x, of_int(&f, 1, &rc));
	cancel(&f);
	settle();
	CHECK_EQ(weft_channel_try_receive(ch, &x), -EAGAIN);
	CHECK_EQ(weft_channel_free(ch), 0);
	CHECK_EQ(rc, -1);
	fn_end(&f);
	return 0;
}

/* Both ends in one process, which is another one to each. */
static char shm_name[64];

static int answer_twice_as_much(void *unused)
{
	weft_channel_attr attr = { .capacity = 2, .side = WEFT_CHANNEL_JOIN };
	weft_channel *ch;
	int x;

	(void)unused;
	CHECK_EQ(weft_channel_open(&ch, shm_name, sizeof(int), &attr), 0);
	while (weft_channel_receive(ch, &x) == 0) {
		x *= 2;
		CHECK_EQ(weft_channel_send(ch, &x), 0);
	}
	return weft_channel_free(ch);
}

THREAD_TEST(messages_go_to_another_process_and_come_from_there, 2)
{
	weft_channel_attr attr = { .capacity = 2, .side = WEFT_CHANNEL_MAKE };
	weft_channel *ch;
	weft_thread *other;
	struct fn f;
	int rc = -1, x = 0, y = 0;

	fn_begin(&f);
	many_colors = true;
	snprintf(shm_name, sizeof shm_name, "shm:tame-%d", (int)getpid());
	other = start(answer_twice_as_much, NULL);
	CHECK_EQ(weft_channel_open(&ch, shm_name, sizeof(int), &attr), 0);
	for (int i = 0; i < 100; i++) {
		BLOCK (&f)
			weft_channel_send_ev(ch, &i, in_int(&f, &rc));
		CHECK_EQ(rc, 0);
		/* In vain, if it does not come at once: the message must not be lost. */
		x = -1;
		weft_channel_receive_ev(ch, &x, of_int(&f, 1, &rc));
		for (int k = 0; k < i % 7 && !has_next(&f); k++)
			weft_yield();
		if (has_next(&f)) {
			CHECK_EQ(next(&f), 1);
			CHECK_EQ(x, 2 * i);
			continue;
		}
		cancel(&f);
		BLOCK (&f)
			weft_channel_receive_ev(ch, &y, in_int(&f, &rc));
		CHECK_EQ(rc, 0);
		CHECK_EQ(y, 2 * i);
		CHECK_EQ(x, -1);
	}
	BLOCK (&f) {
		weft_channel_receive_ev(ch, &y, in_int(&f, &rc));
		CHECK_EQ(weft_channel_close(ch), 0);
	}
	CHECK_EQ(rc, -EPIPE);
	CHECK_EQ(join(other), 0);
	CHECK_EQ(weft_channel_free(ch), 0);
	fn_end(&f);
	return 0;
}

/* Mutexes */

static weft_mutex mutex = WEFT_MUTEX_INIT;

static int lock_and_unlock(void *count)
{
	CHECK_EQ(weft_mutex_lock(&mutex), 0);
	++*(int *)count;
	weft_yield();
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	return 0;
}

THREAD_TEST(a_mutex_is_locked_by_events_and_threads_in_turn, 1)
{
	struct fn f;
	int rc = -1, rc2 = -1, count = 0;

	fn_begin(&f);
	BLOCK (&f)
		weft_mutex_lock_ev(&mutex, in_int(&f, &rc));
	CHECK_EQ(rc, 0);
	CHECK_EQ(weft_mutex_trylock(&mutex), -EBUSY);
	CHECK_EQ(weft_go(lock_and_unlock, &count), 0);
	weft_mutex_lock_ev(&mutex, of_int(&f, 1, &rc2));
	settle();
	CHECK_EQ(count, 0);
	CHECK(!has_next(&f));
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(rc2, 0);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	YIELD_UNTIL(count == 1);
	settle();
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_cancelled_lock_of_a_mutex_leaves_none_held, 1)
{
	struct fn f;
	int rc = -1;

	fn_begin(&f);
	for (int given = 0; given < 2; given++) {
		CHECK_EQ(weft_mutex_lock(&mutex), 0);
		weft_mutex_lock_ev(&mutex, of_int(&f, 1, &rc));
		settle();
		if (given)
			CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		cancel(&f);
		settle();
		if (!given)
			CHECK_EQ(weft_mutex_unlock(&mutex), 0);
		CHECK_EQ(rc, -1);
		CHECK_EQ(weft_mutex_fini(&mutex), 0);
	}
	fn_end(&f);
	return 0;
}

static atomic_int inside, entered;

static int lock_often(void *unused)
{
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < TEST_SIZE(2000); i++) {
		int rc = -1;

		BLOCK (&f)
			weft_mutex_lock_ev(&mutex, in_int(&f, &rc));
		CHECK_EQ(rc, 0);
		CHECK_EQ(atomic_fetch_add(&inside, 1), 0);
		atomic_fetch_add(&entered, 1);
		if (i % 3 == 0)
			weft_yield();
		atomic_fetch_sub(&inside, 1);
		CHECK_EQ(weft_mutex_unlock(&mutex), 0);
	}
	fn_end(&f);
	(void)unused;
	return 0;
}

THREAD_TEST(a_mutex_has_one_owner_among_events_of_many_colors, 2)
{
	weft_thread *t[4];

	many_colors = true;
	for (int i = 0; i < 4; i++)
		t[i] = start(lock_often, NULL);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(join(t[i]), 0);
	CHECK_EQ(entered, 4 * TEST_SIZE(2000));
	CHECK_EQ(weft_mutex_fini(&mutex), 0);
	return 0;
}

/* Threads and scopes */

static int give(void *arg)
{
	weft_yield();
	return (int)(intptr_t)arg;
}

THREAD_TEST(the_end_of_a_thread_is_an_event, 2)
{
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < 40; i++) {
		int rc = -1, value = -1;
		weft_thread *t;

		many_colors = i % 2;
		t = start(give, (void *)(intptr_t)i);
		for (int k = 0; k < i / 10; k++)
			weft_yield();
		if (i % 4 < 2) {
			BLOCK (&f)
				weft_join_ev(t, in_two(&f, &rc, &value));
		} else {
			weft_join_ev(t, of_two(&f, 1, &rc, &value));
			CHECK_EQ(next(&f), 1);
		}
		CHECK_EQ(rc, 0);
		CHECK_EQ(value, i);
	}
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_thread_whose_join_was_cancelled_can_be_joined, 2)
{
	struct fn f;

	fn_begin(&f);
	for (int i = 0; i < 40; i++) {
		int rc = -1, value = -1;
		weft_thread *t;

		many_colors = i % 2;
		t = start(give, (void *)(intptr_t)i);
		weft_join_ev(t, of_two(&f, 1, &rc, &value));
		for (int k = 0; k < i / 8 && !has_next(&f); k++)
			weft_yield();
		if (has_next(&f)) {
			CHECK_EQ(next(&f), 1);
			CHECK_EQ(value, i);
			continue;
		}
		cancel(&f);
		if (i % 3 != 0)
			settle();
		CHECK_EQ(value, -1);
		for (rc = -EBUSY; rc == -EBUSY;) {
			weft_yield();
			rc = weft_join(t, &value);
		}
		CHECK_EQ(rc, 0);
		CHECK_EQ(value, i);
	}
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_thread_that_cannot_be_joined_is_refused, 1)
{
	weft_thread *t = start(give, NULL);
	struct fn f, g;
	int rc = 0, value;

	fn_begin(&f);
	fn_begin(&g);
	BLOCK (&f)
		weft_join_ev(weft_self(), in_two(&f, &rc, &value));
	CHECK_EQ(rc, -EDEADLK);
	weft_join_ev(t, of_two(&g, 1, &rc, &value));
	BLOCK (&f)
		weft_join_ev(t, in_two(&f, &rc, &value));
	CHECK_EQ(rc, -EBUSY);
	CHECK_EQ(next(&g), 1);
	CHECK_EQ(rc, 0);
	fn_end(&g);
	fn_end(&f);
	return 0;
}

static int ended;

static int wait_long(void *ms)
{
	int rc = weft_sleep_until(weft_now() + (uint64_t)(uintptr_t)ms * WEFT_MS);

	ended++;
	return rc;
}

static int with_children(weft_scope *scope, void *ms)
{
	(void)scope;
	for (int i = 0; i < 3; i++)
		CHECK_EQ(weft_async_call(wait_long, ms), 0);
	return 4;
}

static int hops(weft_scope *scope, void *unused)
{
	(void)unused;
	CHECK_EQ(weft_hop(weft_color_new()), 0);
	return weft_scope_fail(scope, -EDOM);
}

THREAD_TEST(the_end_of_a_scope_is_an_event, 2)
{
	struct fn f;
	int rc = -1;

	fn_begin(&f);
	BLOCK (&f)
		weft_scope_ev(with_children, (void *)1, in_int(&f, &rc));
	CHECK_EQ(rc, 4);
	CHECK_EQ(ended, 3);
	weft_scope_ev(hops, NULL, of_int(&f, 1, &rc));
	CHECK_EQ(next(&f), 1);
	CHECK_EQ(rc, -EDOM);
	fn_end(&f);
	return 0;
}

THREAD_TEST(a_cancelled_scope_is_cancelled_and_one_that_has_not_begun_never_is, 1)
{
	struct fn f;
	int rc = -1;

	fn_begin(&f);
	weft_scope_ev(with_children, (void *)1000000, of_int(&f, 1, &rc));
	weft_yield();
	cancel(&f);
	YIELD_UNTIL(ended == 3);
	weft_scope_ev(with_children, (void *)1000000, of_int(&f, 1, &rc));
	cancel(&f);
	settle();
	CHECK_EQ(ended, 3);
	CHECK_EQ(rc, -1);
	fn_end(&f);
	return 0;
}

TEST_MAIN
