/* channel_race.c - many senders and receivers at once: every message is received
 * once or was not sent, and messages of one sender stay in order.
 *
 * WEFT_TEST_RACES=n: how many deadline races there are (else 10,000).
 */
#include "channels.h"

/* Each sender numbers its messages; what was sent and what was received is counted
 * for each of them. Numbers of a sender must go up at each receiver. */
enum { CHANNELS = 4, SENDERS = 6, RECEIVERS = 5, MESSAGES = 2000 };

struct message {
	uint32_t sender, number;
};

static const size_t capacities[] = { 0, 1, 3, WEFT_UNBOUNDED };

static struct world {
	weft_channel *ch[CHANNELS];
	weft_color color[3];
	uint32_t messages; /* of each sender */
	uint64_t seed;
	bool closes; /* channels are closed while senders are at work */
	atomic_uchar sent[SENDERS][MESSAGES], received[SENDERS][MESSAGES];
	atomic_uint senders, timeouts, refused;
} world;

static uint64_t soon(uint64_t *seed)
{
	return weft_now() + test_random(seed) % (5 * WEFT_US);
}

/* Lets others go ahead, now and then: for a moment, or until their deadlines come. */
static void dawdle(uint64_t *seed)
{
	uint64_t r = test_random(seed) % 64;

	if (r < 4)
		(void)weft_yield();
	else if (r == 4)
		(void)weft_sleep(test_random(seed) % (40 * WEFT_US));
}

/* One attempt to send, in a random way. */
static int send_somehow(uint64_t *seed, const struct message *m)
{
	uint64_t r = test_random(seed);
	weft_channel *ch = world.ch[r / 8 % CHANNELS], *other = world.ch[r / 64 % CHANNELS];
	weft_case cases[] = { weft_case_send(ch, m), weft_case_send(other, m) };
	int rc;

	switch (r % 8) {
	case 0:
		return weft_channel_try_send(ch, m);
	case 1:
	case 2:
		return weft_channel_send_until(ch, m, soon(seed));
	case 3:
		rc = weft_select_until(cases, 2, soon(seed));
		return rc < 0 ? rc : cases[rc].result;
	case 4:
		rc = weft_select(cases, 2);
		return rc < 0 ? rc : cases[rc].result;
	case 5:
		rc = weft_try_select(cases, 2);
		return rc < 0 ? rc : cases[rc].result;
	default:
		return weft_channel_send(ch, m);
	}
}

/* A sender uses one channel at a time for a while, else there would be no order to
 * look at: its numbers go up within each channel anyway. */
static int sender(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	uint64_t seed = world.seed + me * 1001;

	for (uint32_t i = 0; i < world.messages; i++) {
		struct message m = { me, i };
		int rc = send_somehow(&seed, &m);

		if (rc == 0)
			atomic_fetch_add(&world.sent[me][i], 1);
		else if (rc == -EPIPE)
			CHECK(world.closes);
		else
			CHECK(rc == -ETIMEDOUT || rc == -EAGAIN);
		atomic_fetch_add(&world.timeouts, rc == -ETIMEDOUT);
		atomic_fetch_add(&world.refused, rc == -EPIPE);
		dawdle(&seed);
		if (world.closes && i > world.messages / 2 && test_random(&seed) % 256 == 0)
			(void)weft_channel_close(world.ch[test_random(&seed) % CHANNELS]);
	}
	if (atomic_fetch_sub(&world.senders, 1) == 1)
		for (int i = 0; i < CHANNELS; i++)
			(void)weft_channel_close(world.ch[i]);
	return 0;
}

/* What a receiver has seen: the last number of each sender in each channel, plus 1;
 * and which channels have ended. */
struct seen {
	uint32_t next[CHANNELS][SENDERS];
	bool over[CHANNELS];
	int left;
};

static void note(struct seen *seen, int ch, int rc, const struct message *m)
{
	if (rc == -EPIPE) {
		seen->left -= !seen->over[ch];
		seen->over[ch] = true;
		return;
	}
	if (rc < 0) {
		CHECK(rc == -ETIMEDOUT || rc == -EAGAIN);
		return;
	}
	CHECK(m->sender < SENDERS && m->number < world.messages);
	CHECK(m->number >= seen->next[ch][m->sender]);
	seen->next[ch][m->sender] = m->number + 1;
	CHECK_EQ(atomic_fetch_add(&world.received[m->sender][m->number], 1), 0);
}

/* A receiver that is not `patient` never waits for one channel for ever: there must be
 * one, else all receivers may wait at one channel while all senders wait at others. */
static void receive_somehow(uint64_t *seed, struct seen *seen, bool patient)
{
	uint64_t r = test_random(seed);
	struct message m[CHANNELS];
	weft_case cases[CHANNELS];
	int ch = (int)(r / 8 % CHANNELS), rc;

	for (int i = 0; i < CHANNELS; i++)
		cases[i] = weft_case_receive(seen->over[i] ? NULL : world.ch[i], &m[i]);
	switch (r % (patient ? 8 : 7)) {
	case 0:
		note(seen, ch, weft_channel_try_receive(world.ch[ch], &m[0]), &m[0]);
		return;
	case 1:
	case 2:
		note(seen, ch, weft_channel_receive_until(world.ch[ch], &m[0], soon(seed)), &m[0]);
		return;
	case 3:
		rc = weft_try_select(cases, CHANNELS);
		break;
	case 4:
	case 5:
		rc = weft_select_until(cases, CHANNELS, soon(seed));
		break;
	case 6:
		rc = weft_select(cases, CHANNELS);
		break;
	default:
		note(seen, ch, weft_channel_receive(world.ch[ch], &m[0]), &m[0]);
		return;
	}
	if (rc >= 0)
		note(seen, rc, cases[rc].result, &m[rc]);
	else
		CHECK(rc == -ETIMEDOUT || rc == -EAGAIN);
}

static int receiver(void *arg)
{
	uint64_t seed = world.seed + 77 + (uintptr_t)arg * 2003;
	struct seen seen = { .left = CHANNELS };

	while (seen.left > 0) {
		receive_somehow(&seed, &seen, arg != NULL);
		dawdle(&seed);
	}
	return 0;
}

static void *foreign_receiver(void *arg)
{
	receiver(arg);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

static void *foreign_sender(void *arg)
{
	sender(arg);
	CHECK_EQ(weft_drop(), 0);
	return NULL;
}

/* Some of the senders and receivers are foreign kernel threads. */
static bool with_foreign;
static pthread_t foreign[2];

static void start_in(uint64_t *seed, weft_thread_fn *fn, uintptr_t number)
{
	weft_color color = world.color[test_random(seed) % WF_COUNT(world.color)];

	CHECK_EQ(weft_go_on(color, fn, (void *)number), 0);
}

static int everybody(void *arg)
{
	uintptr_t first = with_foreign ? 1 : 0;
	uint64_t seed = world.seed;

	(void)arg;
	if (with_foreign) {
		CHECK_EQ(weft_hold(), 0);
		CHECK_EQ(weft_hold(), 0);
		CHECK_EQ(pthread_create(&foreign[0], NULL, foreign_sender, NULL), 0);
		CHECK_EQ(pthread_create(&foreign[1], NULL, foreign_receiver, NULL), 0);
	}
	for (uintptr_t i = first; i < SENDERS; i++)
		start_in(&seed, sender, i);
	for (uintptr_t i = first; i < RECEIVERS; i++)
		start_in(&seed, receiver, i);
	return 0;
}

/* Segments that an unbounded channel keeps unused. */
static unsigned in_reserve(const weft_channel *ch)
{
	unsigned n = 0;

	for (struct wf_segment *s = ch->last->next; s != ch->first; s = s->next)
		n++;
	return n;
}

/* One run with random colors; every message must be accounted for. */
static void play(uint64_t seed, int colors, bool closes)
{
	unsigned sent = 0;

	memset(&world, 0, sizeof world);
	world.messages = (uint32_t)TEST_SIZE(MESSAGES);
	world.seed = seed;
	world.closes = closes;
	atomic_store(&world.senders, SENDERS);
	for (int i = 0; i < CHANNELS; i++)
		world.ch[i] = weft_channel_new(sizeof(struct message), capacities[i]);
	for (int i = 0; i < (int)WF_COUNT(world.color); i++)
		world.color[i] = i < colors ? weft_color_new() : world.color[0];
	run_with(1 + (int)(seed % 3), everybody, NULL);
	for (int i = 0; with_foreign && i < 2; i++)
		CHECK_EQ(pthread_join(foreign[i], NULL), 0);
	for (uint32_t s = 0; s < SENDERS; s++)
		for (uint32_t i = 0; i < world.messages; i++) {
			CHECK_EQ(world.received[s][i], world.sent[s][i]);
			sent += world.sent[s][i];
		}
	CHECK(sent > 0);
	CHECK(in_reserve(world.ch[CHANNELS - 1]) <= 1);
	for (int i = 0; i < CHANNELS; i++) {
		CHECK_EQ(weft_channel_length(world.ch[i]), 0);
		CHECK_EQ(waiting(world.ch[i], true) + waiting(world.ch[i], false), 0);
		CHECK_EQ(weft_channel_free(world.ch[i]), 0);
	}
}

TEST(every_message_is_received_once_in_one_color)
{
	uint64_t seed = TEST_SEED;

	for (int i = 0; i < 3; i++)
		play(test_random(&seed), 1, i == 1);
}

TEST(every_message_is_received_once_between_colors)
{
	uint64_t seed = TEST_SEED;

	for (int i = 0; i < 4; i++)
		play(test_random(&seed), 2 + i % 2, i == 1);
}

TEST(every_message_is_received_once_with_foreign_kernel_threads)
{
	uint64_t seed = TEST_SEED;

	with_foreign = true;
	for (int i = 0; i < 3; i++)
		play(test_random(&seed), 1 + i, i == 1);
}

/* Deadline races: a sender and a receiver whose deadlines come at about the moment
 * when they meet. What the sender says was sent is what the receiver says it got. */

static struct race {
	weft_channel *ch;
	long rounds;
	uint64_t seed;
	long sent, received;             /* what each side says */
	uint64_t sent_sum, received_sum; /* of the numbers */
	long gave_up;                    /* by the sender */
} race;

/* Timers fire by ticks of some microseconds: where both sides come late by a random
 * time and wait for a random time, many a deadline falls into the tick of a message.
 * Who comes late keeps the worker awake, or all timers would fire together. */
enum { LATE = 60000, PATIENCE = 15000 };

static uint64_t at_about(uint64_t *seed)
{
	return weft_now() + test_random(seed) % PATIENCE;
}

static void come_late(uint64_t *seed)
{
	uint64_t when = weft_now() + test_random(seed) % LATE;

	while (weft_now() < when)
		(void)weft_yield();
}

/* Sends the next number. */
static int race_send(uint64_t deadline)
{
	uint64_t number = (uint64_t)(race.sent + race.gave_up + 1);
	int rc = weft_channel_send_until(race.ch, &number, deadline);

	if (rc == 0) {
		race.sent++;
		race.sent_sum += number;
	} else {
		CHECK_EQ(rc, -ETIMEDOUT);
		race.gave_up++;
	}
	return rc;
}

static int race_sender(void *arg)
{
	uint64_t seed = race.seed;

	(void)arg;
	for (long i = 0; i < race.rounds; i++) {
		come_late(&seed);
		(void)race_send(at_about(&seed));
	}
	CHECK_EQ(race_send(WEFT_FOREVER), 0);
	return weft_channel_close(race.ch);
}

static int race_receiver(void *arg)
{
	uint64_t seed = race.seed + 1, last = 0, number;
	int rc;

	(void)arg;
	for (;;) {
		number = 0;
		come_late(&seed);
		rc = weft_channel_receive_until(race.ch, &number, at_about(&seed));
		if (rc == -EPIPE)
			return 0;
		if (rc == 0) {
			CHECK(number > last);
			last = number;
			race.received++;
			race.received_sum += number;
		} else {
			CHECK_EQ(rc, -ETIMEDOUT);
			CHECK_EQ(number, 0);
		}
	}
}

static int race_run(void *arg)
{
	weft_thread *s, *r;

	/* Nobody receives so far: the channel fills, and then the deadline comes. */
	while (race_send(weft_now() + WEFT_US) == 0)
		continue;
	s = start(race_sender, arg);
	r = start(race_receiver, arg);
	CHECK_EQ(join(s), 0);
	CHECK_EQ(join(r), 0);
	return 0;
}

static long race_rounds(void)
{
	const char *wanted = getenv("WEFT_TEST_RACES");

	return wanted != NULL ? atol(wanted) : TEST_SIZE(10000);
}

static void race_once(size_t capacity, long rounds, uint64_t seed)
{
	race = (struct race){ .rounds = rounds, .seed = seed };
	race.ch = weft_channel_new(sizeof(uint64_t), capacity);
	run_with(2, race_run, NULL);
	CHECK(race.sent > 0 && race.gave_up > 0);
	CHECK_EQ(race.sent, race.received);
	CHECK_EQ(race.sent_sum, race.received_sum);
	CHECK_EQ(weft_channel_free(race.ch), 0);
}

TEST(a_deadline_that_races_with_a_message_loses_nothing_in_one_color)
{
	long rounds = race_rounds();

	many_colors = false;
	race_once(0, rounds / 2, TEST_SEED);
	race_once(1, rounds - rounds / 2, TEST_SEED + 1);
}

TEST(a_deadline_that_races_with_a_message_loses_nothing_between_colors)
{
	long rounds = race_rounds();

	many_colors = true;
	race_once(0, rounds / 2, TEST_SEED);
	race_once(1, rounds - rounds / 2, TEST_SEED + 1);
}

/* The same for select: a choice between two channels, each with its sender. */

static weft_channel *pair[2];

static int pair_sender(void *arg)
{
	weft_channel *ch = pair[(uintptr_t)arg];
	uint64_t seed = race.seed + (uintptr_t)arg;
	int sent = 0;

	for (long i = 0; i < race.rounds; i++) {
		int rc;

		come_late(&seed);
		rc = weft_channel_send_until(ch, &i, at_about(&seed));
		CHECK(rc == 0 || rc == -ETIMEDOUT);
		sent += rc == 0;
	}
	CHECK_EQ(weft_channel_close(ch), 0);
	return sent;
}

static int pair_chooser(void *arg)
{
	uint64_t seed = race.seed + 2;
	long got[2];
	int open = 2, received = 0;
	weft_case cases[] = { weft_case_receive(pair[0], &got[0]),
			      weft_case_receive(pair[1], &got[1]) };

	(void)arg;
	while (open > 0) {
		int rc;

		come_late(&seed);
		rc = weft_select_until(cases, 2, at_about(&seed));
		if (rc < 0) {
			CHECK_EQ(rc, -ETIMEDOUT);
		} else if (cases[rc].result == -EPIPE) {
			cases[rc].channel = NULL;
			open--;
		} else {
			CHECK_EQ(cases[rc].result, 0);
			received++;
		}
	}
	return received;
}

static int pair_run(void *arg)
{
	weft_thread *a = start(pair_sender, (void *)0), *b = start(pair_sender, (void *)1);
	weft_thread *c = start(pair_chooser, arg);
	int sent = join(a) + join(b);

	CHECK_EQ(join(c), sent);
	return 0;
}

static void pair_once(void)
{
	race = (struct race){ .rounds = race_rounds() / 2, .seed = TEST_SEED };
	for (int i = 0; i < 2; i++)
		pair[i] = weft_channel_new(sizeof(long), (size_t)i);
	run_with(2, pair_run, NULL);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(weft_channel_free(pair[i]), 0);
}

TEST(a_deadline_that_races_with_a_select_loses_nothing)
{
	many_colors = false;
	pair_once();
	many_colors = true;
	pair_once();
}

/* A message that is sent just when a select begins to wait: nobody sends another, so
 * one that is missed stops the test. */

static atomic_int asked;

static void spin(uint64_t *seed)
{
	for (volatile uint64_t n = test_random(seed) % 400; n > 0; n--)
		;
}

static void *send_when_asked(void *arg)
{
	uint64_t seed = race.seed;

	(void)arg;
	for (int i = 1; i <= race.rounds; i++) {
		while (atomic_load(&asked) != i)
			sched_yield();
		spin(&seed);
		CHECK_EQ(send_int(pair[i % 2], i), 0);
	}
	return NULL;
}

TEST(a_message_is_not_missed_by_a_select_that_begins_to_wait)
{
	uint64_t seed = TEST_SEED + 1;
	int got[2];
	pthread_t t;

	race = (struct race){ .rounds = TEST_SIZE(20000), .seed = seed };
	for (int i = 0; i < 2; i++)
		pair[i] = weft_channel_new(sizeof(int), 1);
	CHECK_EQ(pthread_create(&t, NULL, send_when_asked, NULL), 0);
	for (int i = 1; i <= race.rounds; i++) {
		weft_case cases[] = { weft_case_receive(pair[0], &got[0]),
				      weft_case_receive(pair[1], &got[1]) };

		atomic_store(&asked, i);
		spin(&seed);
		CHECK_EQ(weft_select(cases, 2), i % 2);
		CHECK_EQ(got[i % 2], i);
	}
	CHECK_EQ(pthread_join(t, NULL), 0);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(weft_channel_free(pair[i]), 0);
}

/* Two selects over the same channels, named in opposite order. */

static int crossed(void *arg)
{
	int up = arg == NULL;
	long in[2], out = up;

	for (long i = 0; i < race.rounds; i++) {
		weft_case cases[] = { weft_case_send(pair[up], &out),
				      weft_case_send(pair[!up], &out),
				      weft_case_receive(pair[up], &in[0]),
				      weft_case_receive(pair[!up], &in[1]) };
		int rc = weft_select(cases, 4);

		CHECK(rc >= 0);
		CHECK_EQ(cases[rc].result, 0);
		CHECK(rc < 2 || in[rc - 2] == !up);
	}
	return 0;
}

static int crossed_run(void *arg)
{
	weft_thread *a = start(crossed, NULL), *b = start(crossed, &race);

	(void)arg;
	CHECK_EQ(join(a), 0);
	return join(b);
}

TEST(two_selects_in_opposite_order_do_not_block_each_other)
{
	race = (struct race){ .rounds = TEST_SIZE(50000) };
	for (int i = 0; i < 2; i++)
		pair[i] = weft_channel_new(sizeof(long), 0);
	run_both(crossed_run);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(weft_channel_free(pair[i]), 0);
}

TEST_MAIN
