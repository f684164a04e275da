/* Everything at once, by chance: bodies, threads, scopes and shields, deadlines, hops,
 * yields to each other, suspensions, items, exits, locks. Each scope ends, with nobody left.
 */
#include "scheduler/common.h"

#include <weft/weft.h>

enum { COLORS = 4, DEPTH = 3 };

static weft_color colors[COLORS];
static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static weft_channel *channel;
static _Atomic int alive, began;

struct task {
	uint64_t seed;
	int depth;
	weft_scope *outer;
	_Atomic bool ended;
};

static unsigned next(struct task *t)
{
	t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(t->seed >> 33);
}

static weft_color some_color(struct task *t)
{
	return colors[next(t) % COLORS];
}

/* A callback from elsewhere. */
struct request {
	weft_wait wait;
	weft_event event;
	_Atomic bool came;
};

static void answer(void *arg)
{
	struct request *r = arg;

	atomic_store(&r->came, true);
	CHECK_EQ(weft_schedule(&r->wait), 0);
}

static bool stop_request(weft_wait *w)
{
	struct request *r = (struct request *)w;

	return weft_event_cancel(&r->event) == 0;
}

static void ask(struct task *t)
{
	struct request r = { .wait = WEFT_WAIT_INIT("answer", stop_request) };
	int rc;

	weft_event_init(&r.event, weft_color_current(), answer, &r);
	CHECK_EQ(weft_event_post(&r.event), 0);
	rc = weft_suspend_until(&r.wait,
				next(t) % 2 ? WEFT_FOREVER : weft_now() + next(t) % 20 * WEFT_US);
	CHECK(rc == 0 || rc == -ETIMEDOUT || rc == -ECANCELED);
	CHECK_EQ(atomic_load(&r.came), rc == 0);
}

static void count_call(void *calls)
{
	++*(int *)calls;
}

static void with_item(struct task *t)
{
	weft_cancel_item item;
	int calls = 0, rc = weft_cancel_item_add(&item, count_call, &calls);

	if (rc < 0) {
		CHECK_EQ(rc, -ECANCELED);
		return;
	}
	rc = weft_sleep(next(t) % 30 * WEFT_US);
	CHECK(rc == 0 || weft_cancelled());
	CHECK_EQ(weft_cancel_item_remove(&item) == -EALREADY, calls == 1);
	CHECK(calls <= 1);
}

static void with_lock(struct task *t)
{
	if (weft_mutex_lock(&mutex) < 0) {
		CHECK(weft_cancelled());
		return;
	}
	if (next(t) % 2)
		(void)weft_cond_wait_until(&cond, &mutex, weft_now() + next(t) % 30 * WEFT_US);
	else
		(void)weft_cond_broadcast(&cond);
	CHECK_EQ(weft_mutex_unlock(&mutex), 0);
}

static int run_task(void *arg);

static void start_one(struct task *t, struct task *kid, weft_scope *s)
{
	*kid = (struct task){ .seed = next(t), .depth = t->depth - 1, .outer = s };
	if (next(t) % 4 == 0)
		CHECK_EQ(weft_go_on(some_color(t), run_task, kid), 0);
	else if (next(t) % 4 == 0)
		CHECK_EQ(weft_go(run_task, kid), 0);
	else
		CHECK_EQ(weft_async_call(run_task, kid), 0);
}

static void start_some(struct task *t)
{
	int n = (int)(next(t) % 4) + 1, rc;
	struct task kids[4];
	weft_scope s;

	if (next(t) % 8 == 0)
		weft_shield_begin(&s);
	else
		weft_scope_begin(&s);
	if (next(t) % 3 == 0)
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + next(t) % 100 * WEFT_US), 0);
	for (int i = 0; i < n; i++) {
		start_one(t, &kids[i], &s);
		if (next(t) % 4 == 0)
			CHECK_EQ(weft_hop(some_color(t)), 0);
	}
	if (next(t) % 3 == 0)
		CHECK_EQ(weft_scope_deadline(&s, weft_now() + next(t) % 100 * WEFT_US), 0);
	else
		(void)weft_scope_cancel(&s);
	rc = weft_scope_end(&s);
	CHECK(rc == 0 || rc == -ETIMEDOUT || rc == -EIO);
	for (int i = 0; i < n; i++)
		CHECK(atomic_load(&kids[i].ended));
}

static void step(struct task *t)
{
	switch (next(t) % 12) {
	case 0:
		CHECK_EQ(weft_hop(some_color(t)), 0);
		break;
	case 1:
		CHECK_EQ(weft_yield(), 0);
		break;
	case 2:
		ask(t);
		break;
	case 3:
		with_item(t);
		break;
	case 4:
		with_lock(t);
		break;
	case 5:
		CHECK_EQ(weft_sleep(100000 * WEFT_SEC), -ECANCELED);
		break;
	case 6:
		(void)weft_scope_cancel(t->outer);
		break;
	case 7: {
		int n = 0;

		(void)(next(t) % 2 ? weft_channel_send_until(channel, &n, WEFT_FOREVER)
				   : weft_channel_receive_until(channel, &n, WEFT_FOREVER));
		break;
	}
	default:
		if (t->depth > 0)
			start_some(t);
	}
}

static void tell_ended(void *arg)
{
	struct task *t = arg;

	atomic_fetch_sub(&alive, 1);
	atomic_store(&t->ended, true);
}

static int run_task(void *arg)
{
	struct task *t = arg;
	weft_cleanup cleanup;
	int steps = (int)(next(t) % 5);

	atomic_fetch_add(&alive, 1);
	atomic_fetch_add(&began, 1);
	if (next(t) % 4 == 0) {
		CHECK_EQ(weft_cleanup_push(&cleanup, tell_ended, t), 0);
		for (int i = 0; i < steps; i++)
			step(t);
		weft_exit(next(t) % 2 ? 0 : -EIO);
	}
	for (int i = 0; i < steps; i++)
		step(t);
	tell_ended(t);
	return next(t) % 8 ? 0 : -EIO;
}

static int run_all(void *arg)
{
	struct task top = { .seed = *(uint64_t *)arg, .depth = DEPTH };
	int rounds = (int)TEST_SIZE(1000);

	for (int i = 0; i < COLORS; i++)
		colors[i] = weft_color_new();
	for (int i = 0; i < rounds; i++) {
		start_some(&top);
		CHECK_EQ(atomic_load(&alive), 0);
	}
	return 0;
}

TEST(whatever_happens_in_a_scope_it_ends)
{
	uint64_t seed = TEST_SEED;
	weft_options opt = { .workers = 4 };

	channel = weft_channel_new(sizeof(int), 1);
	CHECK(channel != NULL);
	CHECK_EQ(weft_run(run_all, &seed, &opt), 0);
	CHECK(atomic_load(&began) > 0);
}

TEST_MAIN
