/* select.c - tests of weft_select: one of several is done, fairly, and only one. */
#include "base/fault.h"
#include "channels.h"

enum { CHANNELS = 3 };

static weft_channel *ch[CHANNELS];

static void make(size_t capacity)
{
	for (int i = 0; i < CHANNELS; i++)
		CHECK((ch[i] = weft_channel_new(sizeof(int), capacity)) != NULL);
}

static int unmake(void)
{
	for (int i = 0; i < CHANNELS; i++) {
		CHECK_EQ(waiting(ch[i], true) + waiting(ch[i], false), 0);
		CHECK_EQ(weft_channel_free(ch[i]), 0);
	}
	return 0;
}

static unsigned all_waiting(bool senders)
{
	return waiting(ch[0], senders) + waiting(ch[1], senders) + waiting(ch[2], senders);
}

/* A select in a thread of its own, receiving from all; the last case may send. */
struct choice {
	int value[CHANNELS], result;
	bool send_last;
	uint64_t deadline;
	weft_thread *thread;
	weft_case cases[CHANNELS];
};

static int choose(void *arg)
{
	struct choice *s = arg;

	for (int i = 0; i < CHANNELS; i++)
		s->cases[i] = weft_case_receive(ch[i], &s->value[i]);
	if (s->send_last)
		s->cases[CHANNELS - 1] = weft_case_send(ch[CHANNELS - 1], &s->value[CHANNELS - 1]);
	s->result = weft_select_until(s->cases, CHANNELS, s->deadline);
	return s->result;
}

static void start_choice(struct choice *s, bool send_last)
{
	*s = (struct choice){ .value = { -1, -1, -1 },
			      .send_last = send_last,
			      .deadline = WEFT_FOREVER };
	s->thread = start(choose, s);
	YIELD_UNTIL(all_waiting(false) + all_waiting(true) == CHANNELS);
}

static int ready(void *arg)
{
	int in = 0, out = 8;

	(void)arg;
	make(1);
	for (int k = 0; k < CHANNELS; k++) {
		weft_case cases[] = { weft_case_receive(ch[0], &in), weft_case_receive(ch[1], &in),
				      weft_case_receive(ch[2], &in) };

		CHECK_EQ(weft_try_select(cases, CHANNELS), -EAGAIN);
		CHECK_EQ(send_int(ch[k], k), 0);
		CHECK_EQ(k == 1 ? weft_try_select(cases, CHANNELS) : weft_select(cases, CHANNELS),
			 k);
		CHECK_EQ(cases[k].result, 0);
		CHECK_EQ(in, k);
	}
	for (int k = 0; k < CHANNELS; k++) {
		weft_case c = weft_case_send(ch[k], &out);

		CHECK_EQ(weft_select(&c, 1), 0);
		CHECK_EQ(weft_try_select(&c, 1), -EAGAIN);
		CHECK_EQ(receive_int(ch[k]), 8);
	}
	return unmake();
}

TEST(a_select_does_what_can_be_done_at_once)
{
	run_both(ready);
}

static int waits(void *arg)
{
	struct choice s;

	(void)arg;
	make(0);
	for (int k = 0; k < CHANNELS; k++) {
		start_choice(&s, false);
		CHECK_EQ(send_int(ch[k], 10 + k), 0);
		CHECK_EQ(join(s.thread), k);
		CHECK_EQ(s.cases[k].result, 0);
		for (int i = 0; i < CHANNELS; i++)
			CHECK_EQ(s.value[i], i == k ? 10 + k : -1);
		CHECK_EQ(all_waiting(false), 0);
	}
	start_choice(&s, true);
	CHECK_EQ(receive_int(ch[2]), -1);
	CHECK_EQ(join(s.thread), 2);
	return unmake();
}

TEST(a_select_waits_for_the_first_that_comes)
{
	run_both(waits);
}

static int only_one(void *arg)
{
	(void)arg;
	make(0);
	for (int i = 0; i < TEST_SIZE(300); i++) {
		struct choice s;
		int sent = 0;

		start_choice(&s, false);
		for (int k = 0; k < CHANNELS; k++)
			sent += try_send_int(ch[(i + k) % CHANNELS], i) == 0;
		CHECK_EQ(sent, 1);
		CHECK_EQ(join(s.thread), i % CHANNELS);
	}
	return unmake();
}

TEST(a_select_that_waits_takes_one_message)
{
	run_both(only_one);
}

static int keeps_off(void *arg)
{
	weft_case cases[2];
	int in = -1, out = 5;

	(void)arg;
	make(0);
	cases[0] = weft_case_send(ch[0], &out);
	cases[1] = weft_case_receive(ch[0], &in);
	CHECK_EQ(weft_try_select(cases, 2), -EAGAIN);
	CHECK_EQ(weft_select_until(cases, 2, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(in, -1);
	return unmake();
}

TEST(a_select_does_not_talk_to_itself)
{
	run_both(keeps_off);
}

static int partner(void *arg)
{
	int in = -1, out = 2;
	weft_case cases[] = { weft_case_receive(ch[1], &in), weft_case_send(ch[0], &out) };
	int rc = weft_select(cases, 2);

	(void)arg;
	CHECK(rc >= 0);
	CHECK_EQ(cases[rc].result, 0);
	return rc == 0 ? in : -rc;
}

static int two_meet(void *arg)
{
	(void)arg;
	make(0);
	for (int i = 0; i < TEST_SIZE(500); i++) {
		weft_thread *t = start(partner, NULL);
		int in = -1, out = 1, rc, other;
		weft_case cases[] = { weft_case_receive(ch[0], &in), weft_case_send(ch[1], &out) };

		rc = weft_select(cases, 2);
		other = join(t);
		if (rc == 0) {
			CHECK_EQ(in, 2);
			CHECK_EQ(other, -1);
		} else {
			CHECK_EQ(rc, 1);
			CHECK_EQ(other, 1);
		}
	}
	return unmake();
}

TEST(two_selects_meet_in_one_of_two_channels)
{
	run_both(two_meet);
}

static int sees_close(void *arg)
{
	struct choice s;
	int value;
	weft_case c;

	(void)arg;
	make(1);
	start_choice(&s, false);
	CHECK_EQ(weft_channel_close(ch[1]), 0);
	CHECK_EQ(join(s.thread), 1);
	CHECK_EQ(s.cases[1].result, -EPIPE);
	CHECK_EQ(s.value[1], -1);
	c = weft_case_receive(ch[1], &value);
	CHECK_EQ(weft_select(&c, 1), 0);
	CHECK_EQ(c.result, -EPIPE);
	c = weft_case_send(ch[1], &value);
	CHECK_EQ(weft_try_select(&c, 1), 0);
	CHECK_EQ(c.result, -EPIPE);
	return unmake();
}

TEST(a_select_sees_that_a_channel_is_closed)
{
	run_both(sees_close);
}

static int chooses_fairly(void *arg)
{
	int chosen[CHANNELS] = { 0 }, in;

	(void)arg;
	make(1);
	for (int i = 0; i < 3000; i++) {
		weft_case cases[] = { weft_case_receive(ch[0], &in), weft_case_receive(ch[1], &in),
				      weft_case_receive(ch[2], &in) };
		int rc;

		for (int k = 0; k < CHANNELS; k++)
			(void)try_send_int(ch[k], k);
		rc = weft_select(cases, CHANNELS);
		CHECK_EQ(in, rc);
		chosen[rc]++;
	}
	for (int k = 0; k < CHANNELS; k++)
		CHECK(chosen[k] > 700);
	return unmake();
}

TEST(a_select_chooses_fairly)
{
	run_with(1, chooses_fairly, NULL);
}

static int has_little_choice(void *arg)
{
	int in = 0, out = 3;
	weft_case none = weft_case_receive(NULL, &in);
	weft_case cases[4];

	(void)arg;
	CHECK_EQ(weft_try_select(NULL, 0), -EAGAIN);
	CHECK_EQ(weft_select_until(NULL, 0, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(weft_select_until(&none, 1, weft_now() + WEFT_MS), -ETIMEDOUT);

	make(0);
	for (int i = 0; i < 4; i++)
		cases[i] = none;
	cases[2] = weft_case_send(ch[0], &out);
	CHECK_EQ(weft_select_until(cases, 4, weft_now() + WEFT_MS), -ETIMEDOUT);
	CHECK_EQ(waiting(ch[0], true), 0);
	return unmake();
}

TEST(a_case_without_a_channel_never_happens)
{
	run_both(has_little_choice);
}

static int has_twins(void *arg)
{
	struct call c;
	int a = -1, b = -1;
	weft_case cases[] = { weft_case_receive(NULL, &a), weft_case_receive(NULL, &b) };

	(void)arg;
	make(0);
	cases[0].channel = cases[1].channel = ch[0];
	c = (struct call){ .ch = ch[0], .deadline = WEFT_FOREVER, .value = 4 };
	for (int i = 0; i < 20; i++) {
		c.thread = start(call_send, &c);
		CHECK(weft_select(cases, 2) >= 0);
		CHECK_EQ(join(c.thread), 0);
		CHECK_EQ(waiting(ch[0], false), 0);
	}
	CHECK(a == 4 || b == 4);
	return unmake();
}

TEST(a_channel_may_stand_in_several_cases)
{
	run_both(has_twins);
}

enum { MANY = 200 };

static int many_cases(void *arg)
{
	weft_case cases[MANY];
	int value[MANY];
	uint64_t seed = TEST_SEED;

	(void)arg;
	for (int i = 0; i < MANY; i++)
		cases[i] = weft_case_receive(weft_channel_new(sizeof(int), 0), &value[i]);
	for (int i = 0; i < 20; i++) {
		int k = (int)(test_random(&seed) % MANY);
		struct call c = { .ch = cases[k].channel, .deadline = WEFT_FOREVER, .value = i };

		c.thread = start(call_send, &c);
		CHECK_EQ(weft_select(cases, MANY), k);
		CHECK_EQ(value[k], i);
		CHECK_EQ(join(c.thread), 0);
	}
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(weft_channel_free(cases[i].channel), 0);
	return 0;
}

TEST(a_select_may_have_many_cases)
{
	run_both(many_cases);
}

static int gives_up(void *arg)
{
	struct choice s;

	(void)arg;
	make(0);
	s = (struct choice){ .value = { -1, -1, -1 }, .deadline = weft_now() + 2 * WEFT_MS };
	s.thread = start(choose, &s);
	CHECK_EQ(join(s.thread), -ETIMEDOUT);
	for (int k = 0; k < CHANNELS; k++)
		CHECK_EQ(try_send_int(ch[k], 1), -EAGAIN);
	return unmake();
}

TEST(a_select_that_gave_up_stands_nowhere)
{
	run_both(gives_up);
}

#ifdef WEFT_FAULTS
static int lacks_memory(void *arg)
{
	weft_channel *wide = weft_channel_new(sizeof(int), WEFT_UNBOUNDED);
	int sent = 0, rc;
	weft_case c = weft_case_send(wide, &sent);

	(void)arg;
	wf_fault_arm(1);
	while ((rc = weft_select(&c, 1)) == 0)
		sent++;
	CHECK_EQ(rc, -ENOMEM);
	CHECK_EQ(weft_channel_length(wide), sent);
	CHECK_EQ(weft_select(&c, 1), 0); /* the next has memory */
	wf_fault_arm(0);
	for (int i = 0; i <= sent; i++)
		CHECK_EQ(receive_int(wide), i);
	return weft_channel_free(wide);
}

TEST(a_select_without_memory_does_nothing)
{
	run_alone(lacks_memory);
}
#endif

TEST_MAIN
