/* shm_race.c - deadlines and cancelled scopes that come just when a message does: no message is lost, and
 * none comes twice, whoever wins.
 */
/* backends: both */
#include <sched.h>

#include "processes.h"

enum { MANY = 15000, PARTIES = 3 };

static weft_channel *ch;

/* Numbers from 1 on are sent, each until it was sent; 0 is the end for one receiver. */
struct party {
	uint64_t random;
	int64_t sum;
};

static uint64_t soon(struct party *p)
{
	return weft_now() + test_random(&p->random) % (4 * WEFT_US);
}

/* Who gave up lets the other process on, which on a busy machine may wait for this core. */
static bool gave_up(int rc)
{
	if (rc != -ETIMEDOUT && rc != -ECANCELED)
		return false;
	sched_yield();
	return true;
}

static int sender(void *arg)
{
	struct party *p = arg;

	for (int64_t i = 1; i <= TEST_SIZE(MANY) / PARTIES; i++) {
		int rc;

		do
			rc = weft_channel_send_until(ch, &i, soon(p));
		while (gave_up(rc));
		CHECK_EQ(rc, 0);
		p->sum += i;
	}
	return 0;
}

static int receiver(void *arg)
{
	struct party *p = arg;

	for (;;) {
		int64_t value = -1;
		int rc = weft_channel_receive_until(ch, &value, soon(p));

		if (gave_up(rc))
			continue;
		CHECK_EQ(rc, 0);
		if (value == 0)
			return 0;
		p->sum += value;
	}
}

/* The same by a scope whose deadline it is. */
struct attempt {
	int64_t value;
	int rc;
};

static int attempt(void *arg)
{
	struct attempt *a = arg;

	a->rc = weft_channel_receive(ch, &a->value);
	return 0;
}

static int cancelled(void *arg)
{
	struct party *p = arg;
	struct attempt a;

	do {
		weft_scope scope;

		a = (struct attempt){ 0, 1 };
		weft_scope_begin(&scope);
		CHECK_EQ(weft_scope_deadline(&scope, soon(p)), 0);
		CHECK_EQ(weft_async_call(attempt, &a), 0);
		(void)weft_scope_end(&scope);
		CHECK(a.rc == 0 || a.rc == -ECANCELED);
		p->sum += a.value;
	} while (gave_up(a.rc) || a.value != 0);
	return 0;
}

/* The same with a choice of two cases, one of which never happens. */
static int chooser(void *arg)
{
	weft_channel *never = weft_channel_new(0, 0);
	struct party *p = arg;
	weft_case cases[2];
	int64_t value;

	for (;;) {
		int rc;

		cases[0] = weft_case_receive(never, NULL);
		cases[1] = weft_case_receive(ch, &value);
		rc = weft_select_until(cases, 2, soon(p));
		if (gave_up(rc))
			continue;
		CHECK_EQ(rc, 1);
		CHECK_EQ(cases[1].result, 0);
		if (value == 0)
			break;
		p->sum += value;
	}
	return weft_channel_free(never);
}

static int64_t run_parties(weft_thread_fn *const fns[PARTIES])
{
	struct party parties[PARTIES];
	weft_thread *threads[PARTIES];
	int64_t sum = 0;

	for (int i = 0; i < PARTIES; i++) {
		parties[i] = (struct party){ TEST_SEED + (uint64_t)i, 0 };
		threads[i] = start(fns[i], &parties[i]);
	}
	for (int i = 0; i < PARTIES; i++) {
		CHECK_EQ(join(threads[i]), 0);
		sum += parties[i].sum;
	}
	return sum;
}

static int senders(void *unused)
{
	static weft_thread_fn *const fns[PARTIES] = { sender, sender, sender };
	int64_t sum, told;

	(void)unused;
	ch = open_side(sizeof(int64_t), 2, WEFT_CHANNEL_MAKE);
	sum = run_parties(fns);
	for (int i = 0; i < PARTIES; i++)
		CHECK_EQ(weft_channel_send(ch, &(int64_t){ 0 }), 0);
	CHECK_EQ(weft_channel_receive(ch, &told), 0);
	CHECK_EQ(told, sum);
	return weft_channel_free(ch);
}

static int receivers(void *unused)
{
	static weft_thread_fn *const fns[PARTIES] = { receiver, chooser, cancelled };
	int64_t sum;

	(void)unused;
	ch = open_side(sizeof(int64_t), 2, WEFT_CHANNEL_JOIN);
	sum = run_parties(fns);
	CHECK_EQ(weft_channel_send(ch, &sum), 0);
	return weft_channel_free(ch);
}

TEST(deadlines_lose_no_message_and_double_none)
{
	for (int i = 0; i < 4; i++) {
		many_colors = i % 2;
		shm_workers = 1 + i / 2;
		run_pair(senders, receivers);
	}
}

TEST_MAIN
