/* channel.c - tests of channels: order, waiting, closing, deadlines, memory. */
#include "base/fault.h"
#include "base/report.h"
#include "channels.h"

static int keeps_order(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), *(size_t *)arg);
	int sent = 0, received = 0;

	CHECK(ch != NULL);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 1 + round % 8; i++)
			CHECK_EQ(send_int(ch, sent++), 0);
		for (int i = 0; i < 1 + round % 8 - (round % 3 == 0); i++)
			CHECK_EQ(receive_int(ch), received++);
		CHECK_EQ(weft_channel_length(ch), sent - received);
	}
	while (received < sent)
		CHECK_EQ(receive_int(ch), received++);
	CHECK_EQ(try_receive_int(ch), -EAGAIN);
	CHECK_EQ(weft_channel_free(ch), 0);
	return 0;
}

TEST(messages_come_out_in_the_order_sent)
{
	size_t bounded = 40, unbounded = WEFT_UNBOUNDED;

	run_with(1, keeps_order, &bounded);
	run_with(1, keeps_order, &unbounded);
}

static int full(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 2);
	struct call late;

	(void)arg;
	CHECK_EQ(weft_channel_capacity(ch), 2);
	CHECK_EQ(send_int(ch, 1), 0);
	CHECK_EQ(send_int(ch, 2), 0);
	CHECK_EQ(try_send_int(ch, 9), -EAGAIN);
	start_send(&late, ch, 3, 0);
	CHECK_EQ(weft_channel_length(ch), 2);

	CHECK_EQ(receive_int(ch), 1);
	/* What was in the waiting hand has the room now: nobody pushes in. */
	CHECK_EQ(weft_channel_length(ch), 2);
	CHECK_EQ(try_send_int(ch, 9), -EAGAIN);
	CHECK_EQ(join(late.thread), 0);
	CHECK_EQ(receive_int(ch), 2);
	CHECK_EQ(receive_int(ch), 3);
	return weft_channel_free(ch);
}

TEST(a_sender_waits_while_the_channel_is_full_and_nobody_pushes_in)
{
	run_both(full);
}

static int empty(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 2);
	struct call c;

	(void)arg;
	CHECK_EQ(try_receive_int(ch), -EAGAIN);
	start_receive(&c, ch, 0);
	CHECK_EQ(send_int(ch, 7), 0);
	CHECK_EQ(weft_channel_length(ch), 0); /* it went by hand */
	CHECK_EQ(join(c.thread), 0);
	CHECK_EQ(c.value, 7);
	return weft_channel_free(ch);
}

TEST(a_receiver_waits_while_the_channel_is_empty)
{
	run_both(empty);
}

static int meets(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct call c;

	(void)arg;
	CHECK_EQ(try_send_int(ch, 1), -EAGAIN);
	CHECK_EQ(try_receive_int(ch), -EAGAIN);
	start_send(&c, ch, 5, 0);
	CHECK_EQ(weft_channel_length(ch), 0);
	CHECK_EQ(receive_int(ch), 5);
	CHECK_EQ(join(c.thread), 0);
	start_receive(&c, ch, 0);
	CHECK_EQ(try_send_int(ch, 6), 0);
	CHECK_EQ(join(c.thread), 0);
	CHECK_EQ(c.value, 6);
	return weft_channel_free(ch);
}

TEST(without_capacity_a_sender_and_a_receiver_meet)
{
	run_both(meets);
}

static int queues(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct call c[8];

	(void)arg;
	for (unsigned i = 0; i < WF_COUNT(c); i++)
		start_receive(&c[i], ch, i);
	for (int i = 0; i < (int)WF_COUNT(c); i++) {
		CHECK_EQ(try_send_int(ch, i), 0);
		CHECK_EQ(waiting(ch, false), WF_COUNT(c) - 1 - (unsigned)i); /* one was woken */
	}
	for (int i = 0; i < (int)WF_COUNT(c); i++) {
		CHECK_EQ(join(c[i].thread), 0);
		CHECK_EQ(c[i].value, i);
	}
	for (unsigned i = 0; i < WF_COUNT(c); i++)
		start_send(&c[i], ch, (int)i, i);
	for (int i = 0; i < (int)WF_COUNT(c); i++)
		CHECK_EQ(receive_int(ch), i);
	for (unsigned i = 0; i < WF_COUNT(c); i++)
		CHECK_EQ(join(c[i].thread), 0);
	return weft_channel_free(ch);
}

TEST(who_waits_longest_is_served_first_and_a_message_wakes_one)
{
	run_both(queues);
}

static int grows(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), WEFT_UNBOUNDED);
	const int many = 10000;

	(void)arg;
	CHECK_EQ(weft_channel_capacity(ch), WEFT_UNBOUNDED);
	for (int i = 0; i < many; i++)
		CHECK_EQ(send_int(ch, i), 0);
	CHECK_EQ(weft_channel_length(ch), many);
	for (int i = 0; i < many; i++)
		CHECK_EQ(receive_int(ch), i);
	/* One segment in use and one in reserve are left. */
	CHECK(ch->first == ch->last);
	CHECK(ch->first->next->next == ch->first);
	return weft_channel_free(ch);
}

TEST(an_unbounded_channel_grows_and_shrinks)
{
	run_with(1, grows, NULL);
}

static int sizes(void *arg)
{
	static const size_t size[] = { 1, 3, 4, 8, 17, 1000, 9000 };
	unsigned char in[9000], out[9000];

	(void)arg;
	for (unsigned s = 0; s < WF_COUNT(size); s++) {
		weft_channel *ch = weft_channel_new(size[s], s % 2 ? WEFT_UNBOUNDED : (size_t)3);

		for (int i = 0; i < 30; i++) {
			memset(in, i, sizeof in);
			memset(out, 255, sizeof out);
			CHECK_EQ(weft_channel_send(ch, in), 0);
			CHECK_EQ(weft_channel_receive(ch, out), 0);
			CHECK_EQ(memcmp(in, out, size[s]), 0);
			CHECK(size[s] == sizeof out || out[size[s]] == 255);
		}
		CHECK_EQ(weft_channel_free(ch), 0);
	}
	return 0;
}

TEST(messages_may_be_of_any_size)
{
	run_with(1, sizes, NULL);
}

static int signals(void *arg)
{
	static const size_t capacity[] = { 5, WEFT_UNBOUNDED };

	(void)arg;
	for (unsigned k = 0; k < WF_COUNT(capacity); k++) {
		weft_channel *ch = weft_channel_new(0, capacity[k]);

		for (int i = 0; i < 5; i++)
			CHECK_EQ(weft_channel_try_send(ch, NULL), 0);
		for (int i = 0; i < 5; i++)
			CHECK_EQ(weft_channel_receive(ch, NULL), 0);
		CHECK_EQ(weft_channel_try_receive(ch, NULL), -EAGAIN);
		CHECK_EQ(weft_channel_free(ch), 0);
	}
	return 0;
}

TEST(messages_may_have_no_content)
{
	run_with(1, signals, NULL);
}

static int closes(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 2);
	struct call s[3], r[3];

	(void)arg;
	CHECK_EQ(send_int(ch, 1), 0);
	CHECK_EQ(send_int(ch, 2), 0);
	for (unsigned i = 0; i < 3; i++)
		start_send(&s[i], ch, 9, i);
	CHECK_EQ(weft_channel_close(ch), 0);
	CHECK_EQ(weft_channel_close(ch), -EALREADY);
	for (unsigned i = 0; i < 3; i++)
		CHECK_EQ(join(s[i].thread), -EPIPE);
	CHECK_EQ(send_int(ch, 3), -EPIPE);
	CHECK_EQ(try_send_int(ch, 3), -EPIPE);
	CHECK_EQ(receive_int(ch), 1);
	CHECK_EQ(try_receive_int(ch), 2);
	CHECK_EQ(receive_int(ch), -EPIPE);
	CHECK_EQ(try_receive_int(ch), -EPIPE);
	CHECK_EQ(weft_channel_free(ch), 0);

	ch = weft_channel_new(sizeof(int), WEFT_UNBOUNDED);
	for (unsigned i = 0; i < 3; i++)
		start_receive(&r[i], ch, i);
	CHECK_EQ(weft_channel_close(ch), 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(join(r[i].thread), -EPIPE);
		CHECK_EQ(r[i].value, -1);
	}
	return weft_channel_free(ch);
}

TEST(closing_wakes_all_and_leaves_what_was_sent_to_receivers)
{
	run_both(closes);
}

static int deadlines(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 1);
	int value = 4;
	struct call c;

	(void)arg;
	/* One in the past means: only if it need not wait. */
	CHECK_EQ(weft_channel_receive_until(ch, &value, 1), -ETIMEDOUT);
	CHECK_EQ(value, 4);
	CHECK_EQ(weft_channel_send_until(ch, &value, 1), 0);
	CHECK_EQ(weft_channel_send_until(ch, &value, 1), -ETIMEDOUT);
	/* One to come ends the wait; the message was not sent. */
	CHECK_EQ(weft_channel_send_until(ch, &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(waiting(ch, true), 0);
	CHECK_EQ(receive_int(ch), 4);
	CHECK_EQ(try_receive_int(ch), -EAGAIN);
	CHECK_EQ(weft_channel_receive_until(ch, &value, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(waiting(ch, false), 0);
	/* One that is not reached does not disturb. */
	c = (struct call){ .ch = ch, .deadline = weft_now() + 1000 * WEFT_SEC };
	c.thread = start(call_receive, &c);
	YIELD_UNTIL(waiting(ch, false) == 1);
	CHECK_EQ(send_int(ch, 6), 0);
	CHECK_EQ(join(c.thread), 0);
	CHECK_EQ(c.value, 6);
	return weft_channel_free(ch);
}

TEST(a_deadline_ends_a_wait_and_nothing_moves)
{
	run_both(deadlines);
}

static int takes_one_off(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct call first, timed, last;

	(void)arg;
	start_receive(&first, ch, 0);
	timed = (struct call){ .ch = ch, .deadline = weft_now() + 2 * WEFT_MS, .value = -1 };
	timed.thread = start(call_receive, &timed);
	CHECK_EQ(join(timed.thread), -ETIMEDOUT);
	start_receive(&last, ch, 1);
	CHECK_EQ(send_int(ch, 1), 0);
	CHECK_EQ(send_int(ch, 2), 0);
	CHECK_EQ(try_send_int(ch, 3), -EAGAIN);
	CHECK_EQ(join(first.thread), 0);
	CHECK_EQ(join(last.thread), 0);
	CHECK_EQ(first.value, 1);
	CHECK_EQ(last.value, 2);
	CHECK_EQ(timed.value, -1);
	return weft_channel_free(ch);
}

TEST(who_gave_up_waiting_gets_no_message)
{
	run_both(takes_one_off);
}

struct point {
	double x, y;
	char name[5];
};
WEFT_CHANNEL(points, struct point);
WEFT_CHANNEL(words, const char *);

static int typed(void *arg)
{
	points *c = points_new(2);
	words *w = words_new(WEFT_UNBOUNDED);
	struct point p = { 1, 2, "here" }, q;
	const char *word = NULL;
	weft_case cases[2];

	(void)arg;
	CHECK_EQ(points_send(c, p), 0);
	CHECK_EQ(points_try_send(c, (struct point){ 3, 4, "away" }), 0);
	CHECK_EQ(points_send_until(c, p, 1), -ETIMEDOUT);
	CHECK_EQ(points_length(c), 2);
	CHECK_EQ(points_capacity(c), 2);
	CHECK_EQ(points_receive(c, &q), 0);
	CHECK_STR(q.name, "here");
	CHECK_EQ(points_receive_until(c, &q, WEFT_FOREVER), 0);
	CHECK_STR(q.name, "away");
	CHECK_EQ(points_try_receive(c, &q), -EAGAIN);

	cases[0] = points_case_receive(c, &q);
	cases[1] = words_case_receive(w, &word);
	CHECK_EQ(words_send(w, "weft"), 0);
	CHECK_EQ(weft_select(cases, 2), 1);
	CHECK_STR(word, "weft");
	cases[1] = words_case_send(w, &word);
	CHECK_EQ(weft_select(cases, 2), 1);
	CHECK_EQ(words_close(w), 0);
	CHECK_EQ(points_free(c), 0);
	return words_free(w);
}

TEST(channels_may_have_a_type)
{
	run_with(1, typed, NULL);
}

static char report[200];

static void keep_report(int kind, const char *text, void *arg)
{
	(void)arg;
	if (kind == WF_REPORT_STALL)
		return; /* on a slow machine */
	CHECK_EQ(kind, WF_REPORT_MISUSE);
	strncpy(report, text, sizeof report - 1);
}

static int frees_in_use(void *arg)
{
	weft_channel *ch = weft_channel_new(sizeof(int), 0);
	struct call c;

	(void)arg;
	CHECK_EQ(weft_channel_free(NULL), 0);
	start_receive(&c, ch, 0);
	wf_report_to(keep_report, NULL);
	CHECK_EQ(weft_channel_free(ch), -EBUSY);
	wf_report_to(NULL, NULL);
	CHECK(strstr(report, "channel.c:") != NULL);
	CHECK(strstr(report, "somebody waits") != NULL);
	CHECK_EQ(send_int(ch, 1), 0);
	CHECK_EQ(join(c.thread), 0);
	return weft_channel_free(ch);
}

TEST(a_channel_where_somebody_waits_is_not_freed)
{
	run_both(frees_in_use);
}

static int receive_and_free(void *arg)
{
	weft_channel *ch = arg;
	int value = receive_int(ch);

	CHECK_EQ(weft_channel_free(ch), 0);
	return value;
}

static int last_word(void *arg)
{
	(void)arg;
	for (int i = 0; i < TEST_SIZE(300); i++) {
		weft_channel *ch = weft_channel_new(sizeof(int), (size_t)i % 2);
		weft_thread *t = start(receive_and_free, ch);

		if (i % 3 == 0)
			weft_yield();
		CHECK_EQ(send_int(ch, i), 0);
		CHECK_EQ(join(t), i);
	}
	return 0;
}

TEST(the_receiver_of_the_last_message_may_free_the_channel)
{
	run_both(last_word);
}

#ifdef WEFT_FAULTS
static int runs_out_of_memory(void *arg)
{
	weft_channel *ch;
	int sent = 0, refused = 0;

	(void)arg;
	for (long nth = 1; nth <= 2; nth++) {
		wf_fault_arm(nth);
		CHECK(weft_channel_new(sizeof(int), 4) == NULL);
		wf_fault_arm(0);
	}
	CHECK(weft_channel_new(SIZE_MAX / 2, 4) == NULL);
	ch = weft_channel_new(sizeof(int), WEFT_UNBOUNDED);
	for (int i = 0; i < 5000; i++) {
		int rc;

		wf_fault_arm(i % 3 == 0);
		rc = send_int(ch, sent);
		wf_fault_arm(0);
		CHECK(rc == 0 || rc == -ENOMEM);
		sent += rc == 0;
		refused += rc == -ENOMEM;
	}
	CHECK(refused > 0);
	CHECK_EQ(weft_channel_length(ch), sent);
	for (int i = 0; i < sent; i++)
		CHECK_EQ(receive_int(ch), i);
	CHECK_EQ(try_receive_int(ch), -EAGAIN);
	return weft_channel_free(ch);
}

TEST(without_memory_a_send_is_refused_and_nothing_is_lost)
{
	run_alone(runs_out_of_memory);
}
#endif

static weft_channel *handled;
static atomic_int handled_steps;

static void handler(void *arg)
{
	int value = 1;

	(void)arg;
	CHECK_EQ(weft_channel_receive(handled, &value), -EPERM);
	CHECK_EQ(weft_channel_try_receive(handled, &value), -EAGAIN);
	CHECK_EQ(weft_channel_send(handled, &value), 0); /* need not wait */
	CHECK_EQ(weft_channel_send(handled, &value), -EPERM);
	CHECK_EQ(weft_channel_send_until(handled, &value, 1), -EPERM);
	CHECK_EQ(weft_channel_try_send(handled, &value), -EAGAIN);
	CHECK_EQ(weft_channel_try_receive(handled, &value), 0);
	CHECK_EQ(waiting(handled, true) + waiting(handled, false), 0);
	atomic_fetch_add(&handled_steps, 1);
}

static int handlers(void *arg)
{
	(void)arg;
	atomic_store(&handled_steps, 0);
	handled = weft_channel_new(sizeof(int), 1);
	/* Its home is here first if handlers are of another color. */
	CHECK_EQ(try_receive_int(handled), -EAGAIN);
	CHECK_EQ(weft_post(many_colors ? weft_color_new() : WEFT_MAIN, handler, NULL), 0);
	YIELD_UNTIL(atomic_load(&handled_steps) == 1);
	return weft_channel_free(handled);
}

TEST(a_plain_handler_uses_what_need_not_wait)
{
	run_both(handlers);
}

TEST_MAIN
