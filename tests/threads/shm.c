/* shm.c - channels between processes: what is sent in one is received in the other. */
/* backends: both */
#include "processes.h"

enum { MANY = 20000 };

/* Requests and replies */

static int ask(void *unused)
{
	weft_channel *ch = open_ints(4);

	(void)unused;
	for (int i = 0; i < TEST_SIZE(MANY); i++) {
		CHECK_EQ(send_int(ch, i), 0);
		CHECK_EQ(receive_int(ch), 2 * i);
	}
	return weft_channel_free(ch);
}

static int answer(void *unused)
{
	weft_channel *ch = open_ints(4);
	int n;

	(void)unused;
	while ((n = receive_int(ch)) >= 0)
		CHECK_EQ(send_int(ch, 2 * n), 0);
	CHECK_EQ(n, -EPIPE);
	return weft_channel_free(ch);
}

TEST(a_request_is_answered_by_another_process)
{
	run_pair(ask, answer);
}

/* Many at a time, in order, both ways at once */

static int send_many(void *channel)
{
	for (int i = 0; i < TEST_SIZE(MANY); i++)
		CHECK_EQ(send_int(channel, i), 0);
	return 0;
}

static int both_ways(void *unused)
{
	weft_channel *ch = open_ints(3);
	weft_thread *sender = start(send_many, ch);
	int end = -1;

	(void)unused;
	CHECK_EQ(weft_channel_capacity(ch), 3);
	for (int i = 0; i < TEST_SIZE(MANY); i++)
		CHECK_EQ(receive_int(ch), i);
	CHECK_EQ(join(sender), 0);
	/* Both have received all when both say so. */
	CHECK_EQ(send_int(ch, end), 0);
	CHECK_EQ(weft_channel_receive(ch, &end), 0);
	return weft_channel_free(ch);
}

TEST(messages_go_both_ways_at_once_and_stay_in_order)
{
	many_colors = false;
	run_pair(both_ways, both_ways);
	many_colors = true;
	run_pair(both_ways, both_ways);
}

/* Large ones, and empty ones */

struct large {
	int first;
	char rest[5000];
	int last;
};

static int send_large(void *unused)
{
	weft_channel *ch = open_side(sizeof(struct large), 2, WEFT_CHANNEL_MAKE);
	struct large m = { 0 };

	(void)unused;
	for (m.first = 0; m.first < 100; m.first++) {
		m.last = -m.first;
		CHECK_EQ(weft_channel_send(ch, &m), 0);
	}
	CHECK_EQ(weft_channel_close(ch), 0);
	CHECK_EQ(weft_channel_close(ch), -EALREADY);
	CHECK_EQ(weft_channel_send(ch, &m), -EPIPE);
	return weft_channel_free(ch);
}

static int receive_large(void *unused)
{
	weft_channel *ch = open_side(sizeof(struct large), 0, WEFT_CHANNEL_JOIN);
	struct large m;

	(void)unused;
	CHECK_EQ(weft_channel_capacity(ch), 2);
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(weft_channel_receive(ch, &m), 0);
		CHECK_EQ(m.first, i);
		CHECK_EQ(m.last, -i);
	}
	CHECK_EQ(weft_channel_receive(ch, &m), -EPIPE);
	CHECK_EQ(weft_channel_send(ch, &m), -EPIPE);
	return weft_channel_free(ch);
}

TEST(what_was_sent_before_a_close_is_received)
{
	run_pair(send_large, receive_large);
}

static int send_empty(void *unused)
{
	weft_channel *ch = open_side(0, 0, WEFT_CHANNEL_EITHER);

	(void)unused;
	CHECK_EQ(weft_channel_capacity(ch), 64);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_channel_send(ch, NULL), 0);
	CHECK_EQ(weft_channel_receive(ch, NULL), 0);
	return weft_channel_free(ch);
}

static int receive_empty(void *unused)
{
	weft_channel *ch = open_side(0, 0, WEFT_CHANNEL_EITHER);

	(void)unused;
	for (int i = 0; i < 100; i++)
		CHECK_EQ(weft_channel_receive(ch, NULL), 0);
	CHECK_EQ(weft_channel_try_receive(ch, NULL), -EAGAIN);
	CHECK_EQ(weft_channel_send(ch, NULL), 0);
	CHECK_EQ(weft_channel_receive(ch, NULL), -EPIPE);
	return weft_channel_free(ch);
}

TEST(empty_messages_are_counted)
{
	run_pair(send_empty, receive_empty);
}

/* Two in one process are a pair like any other; easier to see into. */

static weft_channel *ends[2];

static int open_other(void *unused)
{
	(void)unused;
	ends[1] = open_ints(2);
	return 0;
}

static void open_both(void)
{
	weft_thread *t;

	fresh_name();
	t = start(open_other, NULL);
	ends[0] = open_ints(2);
	join(t);
}

static void free_both(void)
{
	CHECK_EQ(weft_channel_free(ends[0]), 0);
	CHECK_EQ(weft_channel_free(ends[1]), 0);
}

/* Whether the kernel would tell who waits. */
static bool armed(weft_channel *ch)
{
	enum wf_home_how how = wf_home_enter(&ch->home);
	bool is = ch->shm->armed;

	wf_home_leave(&ch->home, how);
	return is;
}

static int try_forms(void *unused)
{
	(void)unused;
	open_both();
	CHECK_EQ(try_receive_int(ends[1]), -EAGAIN);
	CHECK_EQ(try_send_int(ends[0], 1), 0);
	CHECK_EQ(weft_channel_length(ends[0]), 0);
	CHECK_EQ(weft_channel_length(ends[1]), 1);
	CHECK_EQ(try_send_int(ends[0], 2), 0);
	CHECK_EQ(try_send_int(ends[0], 3), -EAGAIN);
	CHECK_EQ(try_receive_int(ends[0]), -EAGAIN);
	CHECK_EQ(try_receive_int(ends[1]), 1);
	CHECK_EQ(try_send_int(ends[0], 4), 0);
	CHECK_EQ(try_receive_int(ends[1]), 2);
	CHECK_EQ(weft_channel_free(ends[0]), 0);
	CHECK_EQ(try_send_int(ends[1], 5), -EPIPE);
	CHECK_EQ(try_receive_int(ends[1]), 4);
	CHECK_EQ(try_receive_int(ends[1]), -EPIPE);
	return weft_channel_free(ends[1]);
}

TEST(try_forms_do_what_needs_no_waiting)
{
	run_with(2, try_forms, NULL);
}

static int deadlines(void *unused)
{
	int value = 7;

	(void)unused;
	open_both();
	CHECK_EQ(weft_channel_receive_until(ends[0], &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(value, 7);
	CHECK_EQ(weft_channel_receive_until(ends[0], &value, 1), -ETIMEDOUT);
	CHECK_EQ(send_int(ends[0], 1), 0);
	CHECK_EQ(send_int(ends[0], 2), 0);
	CHECK_EQ(weft_channel_send_until(ends[0], &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(receive_int(ends[1]), 1);
	CHECK_EQ(receive_int(ends[1]), 2);
	CHECK_EQ(try_receive_int(ends[1]), -EAGAIN);
	free_both();
	return 0;
}

TEST(a_deadline_takes_nothing_and_leaves_nothing)
{
	run_with(2, deadlines, NULL);
}

static int receive_it(void *result)
{
	int value = 7, rc = weft_channel_receive(ends[0], &value);

	CHECK_EQ(value, 7);
	*(int *)result = rc;
	return 0;
}

static int send_it(void *result)
{
	*(int *)result = weft_channel_send(ends[0], &(int){ 3 });
	return 0;
}

static int cancelling(void *unused)
{
	int received = 1, sent = 1, late = 1;
	weft_scope scope;

	(void)unused;
	open_both();
	CHECK_EQ(send_int(ends[0], 1), 0);
	CHECK_EQ(send_int(ends[0], 2), 0);
	weft_scope_begin(&scope);
	CHECK_EQ(weft_async_call(receive_it, &received), 0);
	CHECK_EQ(weft_async_call(send_it, &sent), 0);
	YIELD_UNTIL(armed(ends[0]));
	CHECK_EQ(weft_scope_cancel(&scope), 0);
	CHECK_EQ(weft_async_call(receive_it, &late), 0);
	CHECK_EQ(weft_scope_end(&scope), 0);
	CHECK_EQ(received, -ECANCELED);
	CHECK_EQ(sent, -ECANCELED);
	CHECK_EQ(late, -ECANCELED);
	CHECK_EQ(receive_int(ends[1]), 1);
	CHECK_EQ(receive_int(ends[1]), 2);
	CHECK_EQ(try_receive_int(ends[1]), -EAGAIN);
	CHECK_EQ(send_int(ends[1], 8), 0);
	CHECK_EQ(receive_int(ends[0]), 8);
	free_both();
	return 0;
}

TEST(a_cancelled_scope_ends_waits_that_took_and_left_nothing)
{
	run_with(2, cancelling, NULL);
}

static int open_it(void *result)
{
	weft_channel *ch;

	*(int *)result = weft_channel_open(&ch, shm_name, 4, NULL);
	CHECK(ch == NULL);
	return 0;
}

static int cancel_opening(void *unused)
{
	weft_scope scope;
	int result = 1;

	(void)unused;
	fresh_name();
	weft_scope_begin(&scope);
	CHECK_EQ(weft_async_call(open_it, &result), 0);
	CHECK_EQ(result, 1);
	CHECK_EQ(weft_scope_cancel(&scope), 0);
	CHECK_EQ(weft_scope_end(&scope), 0);
	CHECK_EQ(result, -ECANCELED);
	return 0;
}

TEST(a_cancelled_scope_ends_an_opening)
{
	run_with(2, cancel_opening, NULL);
}

static int in_order_of_coming(void *unused)
{
	struct call calls[4];

	(void)unused;
	open_both();
	for (unsigned i = 0; i < 4; i++)
		start_receive(&calls[i], ends[0], i);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(send_int(ends[1], 10 + i), 0);
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(join(calls[i].thread), 0);
		CHECK_EQ(calls[i].value, 10 + i);
	}
	CHECK_EQ(send_int(ends[0], 0), 0);
	CHECK_EQ(send_int(ends[0], 1), 0);
	for (unsigned i = 0; i < 4; i++)
		start_send(&calls[i], ends[0], 2 + (int)i, i);
	for (int i = 0; i < 6; i++)
		CHECK_EQ(receive_int(ends[1]), i);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(join(calls[i].thread), 0);
	free_both();
	return 0;
}

TEST(who_has_waited_longest_is_served_first)
{
	run_both(in_order_of_coming);
}

static int closing(void *unused)
{
	struct call calls[4];

	(void)unused;
	open_both();
	start_receive(&calls[0], ends[0], 0);
	start_receive(&calls[1], ends[1], 0);
	CHECK_EQ(weft_channel_close(ends[0]), 0);
	CHECK_EQ(join(calls[0].thread), -EPIPE);
	CHECK_EQ(join(calls[1].thread), -EPIPE);
	free_both();

	open_both();
	CHECK_EQ(send_int(ends[0], 1), 0);
	CHECK_EQ(send_int(ends[0], 2), 0);
	start_send(&calls[2], ends[0], 3, 0);
	CHECK_EQ(weft_channel_close(ends[1]), 0);
	CHECK_EQ(join(calls[2].thread), -EPIPE);
	CHECK_EQ(receive_int(ends[1]), 1);
	CHECK_EQ(receive_int(ends[1]), 2);
	CHECK_EQ(receive_int(ends[1]), -EPIPE);
	CHECK_EQ(weft_channel_close(ends[0]), -EALREADY);
	free_both();
	return 0;
}

TEST(closing_one_side_closes_it_for_all_who_wait_on_both)
{
	run_both(closing);
}

static int choosing(void *unused)
{
	weft_channel *local = weft_channel_new(sizeof(int), 1);
	int a = -1, b = -1, out = 5;
	weft_case cases[3];
	struct call call;

	(void)unused;
	open_both();
	cases[0] = weft_case_receive(local, &a);
	cases[1] = weft_case_receive(ends[0], &b);
	CHECK_EQ(weft_try_select(cases, 2), -EAGAIN);
	CHECK_EQ(weft_select_until(cases, 2, weft_now() + WEFT_MS), -ETIMEDOUT);
	call = (struct call){ .ch = ends[1], .deadline = WEFT_FOREVER, .value = 9 };
	call.thread = start(call_send, &call);
	CHECK_EQ(weft_select(cases, 2), 1);
	CHECK_EQ(cases[1].result, 0);
	CHECK_EQ(b, 9);
	CHECK_EQ(join(call.thread), 0);
	call.ch = local;
	call.thread = start(call_send, &call);
	CHECK_EQ(weft_select(cases, 2), 0);
	CHECK_EQ(a, 9);
	CHECK_EQ(join(call.thread), 0);
	cases[2] = weft_case_send(ends[0], &out);
	CHECK_EQ(weft_select(cases, 3), 2);
	CHECK_EQ(receive_int(ends[1]), 5);
	CHECK_EQ(weft_channel_close(ends[1]), 0);
	CHECK_EQ(weft_select(cases, 2), 1);
	CHECK_EQ(cases[1].result, -EPIPE);
	free_both();
	return weft_channel_free(local);
}

TEST(select_chooses_among_channels_of_both_kinds)
{
	run_both(choosing);
}

static int opening(void *unused)
{
	weft_channel_attr bad = { .side = 3 }, join_it = { .side = WEFT_CHANNEL_JOIN },
			  huge = { .capacity = SIZE_MAX };
	uint64_t soon = weft_now() + 3 * WEFT_MS;
	weft_channel *ch;
	char name[80];

	(void)unused;
	fresh_name();
	CHECK_EQ(weft_channel_open(&ch, "tcp:1", 1, NULL), -EINVAL);
	CHECK_EQ(weft_channel_open(&ch, "shm:", 1, NULL), -EINVAL);
	CHECK_EQ(weft_channel_open(&ch, NULL, 1, NULL), -EINVAL);
	snprintf(name, sizeof name, "shm:%070d", 0);
	CHECK_EQ(weft_channel_open(&ch, name, 1, NULL), -EINVAL);
	CHECK_EQ(weft_channel_open(&ch, shm_name, 1, &bad), -EINVAL);
	CHECK_EQ(weft_channel_open(&ch, shm_name, 1, &huge), -EINVAL);
	CHECK_EQ(weft_channel_open_until(&ch, shm_name, 1, NULL, soon), -ETIMEDOUT);
	CHECK(ch == NULL);
	soon = weft_now() + 3 * WEFT_MS;
	CHECK_EQ(weft_channel_open_until(&ch, shm_name, 1, &join_it, soon), -ETIMEDOUT);
	return 0;
}

TEST(opening_tells_what_is_wrong)
{
	run_with(2, opening, NULL);
}

static int open_shorts(void *unused)
{
	weft_channel *ch;

	(void)unused;
	return weft_channel_open(&ch, shm_name, sizeof(short), NULL);
}

static int mismatch(void *unused)
{
	weft_thread *t;
	weft_channel *ch;

	(void)unused;
	fresh_name();
	t = start(open_shorts, NULL);
	CHECK_EQ(weft_channel_open(&ch, shm_name, sizeof(int), NULL), -EMSGSIZE);
	CHECK_EQ(join(t), -EMSGSIZE);
	return 0;
}

TEST(two_sizes_of_message_do_not_match)
{
	run_with(2, mismatch, NULL);
}

/* A channel outlives a run: it goes on in the next. */

static int wait_in_vain(void *unused)
{
	int value;

	(void)unused;
	CHECK_EQ(weft_channel_receive_until(ends[0], &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	return 0;
}

static int opened(void *unused)
{
	open_both();
	return wait_in_vain(unused);
}

static int echo(void *unused)
{
	int n;

	(void)unused;
	while ((n = receive_int(ends[1])) >= 0)
		CHECK_EQ(send_int(ends[1], n), 0);
	return n;
}

static int use_them(void *unused)
{
	weft_thread *t = start(echo, NULL);

	(void)unused;
	for (int i = 0; i < 100; i++) {
		CHECK_EQ(send_int(ends[0], i), 0);
		CHECK_EQ(receive_int(ends[0]), i);
	}
	CHECK_EQ(weft_channel_close(ends[0]), 0);
	CHECK_EQ(join(t), -EPIPE);
	return 0;
}

static int stop_waiting(void *unused)
{
	struct call call;

	(void)unused;
	open_both();
	start_receive(&call, ends[0], 0);
	YIELD_UNTIL(armed(ends[0]));
	return weft_stop();
}

TEST(a_channel_outlives_a_run)
{
	run_with(2, opened, NULL);
	run_with(2, wait_in_vain, NULL);
	run_with(2, use_them, NULL);
	free_both();
	run_with(2, stop_waiting, NULL);
	free_both();
}

TEST_MAIN
